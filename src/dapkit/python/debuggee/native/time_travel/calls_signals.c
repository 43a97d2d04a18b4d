/* Signals.

   One is taken by a handler of ours in the live program. The program's own, which in Python only says that there was
   one, is called where it can be called again: when the next call is noted, which carries the signals that were delivered
   after it, or at the next tick of the clock, with a note of its own. Those that say that an instruction failed are left
   to the program. */

#include "calls.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#define IF_DONE(size) (result == 0 ? (size) : 0)

#define SIGNALS 65
static uint64_t taken; /* that came and were not delivered yet, a bit for each */
static struct sigaction of_program[SIGNALS];
static int is_ours[SIGNALS]; /* the system calls us for it */
static uint64_t set_in_past; /* whose handlers were set by a process that shows the past; a bit for each */
static sigset_t masked;      /* by the program, where that shows the past */

static int is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP ||
           number == SIGABRT || number == SIGSYS;
}

static void call_handler(int number, siginfo_t *with, void *context)
{
    struct sigaction *action = &of_program[number];
    if (action->sa_flags & SA_SIGINFO) action->sa_sigaction(number, with, context);
    else if (action->sa_handler != SIG_IGN && action->sa_handler != SIG_DFL) action->sa_handler(number);
}

static void take_signal(int number, siginfo_t *with, void *context)
{
    if (mode != LIVE) {
        call_handler(number, with, context);
        return;
    }
    __atomic_fetch_or(&taken, 1ull << (number - 1), __ATOMIC_SEQ_CST);
    be_due();
    if (is_recording) above.on_signal_taken();
}

void forget_signals(void) { taken = 0; }

uint64_t signals_taken(void)
{
    if (__atomic_load_n(&taken, __ATOMIC_RELAXED) == 0) return 0;
    return __atomic_exchange_n(&taken, 0, __ATOMIC_SEQ_CST);
}

/* One at a time: a handler in Python that raises leaves those that came with it to be called at any time. */
static uint64_t left;     /* that are still to be delivered, at the next line */
static int was_delivered; /* and its handler in Python is perhaps still to be called */

static void deliver_one(void)
{
    int number = __builtin_ctzll(left) + 1;
    siginfo_t with = {.si_signo = number};
    left &= left - 1;
    was_delivered = 1;
    call_handler(number, &with, NULL);
}

void deliver(uint64_t signals)
{
    int error = errno;
    left |= signals;
    if (left) deliver_one();
    while (is_recorded && left) deliver_one(); /* its lines may not be counted */
    be_due();
    errno = error;
}

/* By the interpreter they are called later: at a jump, or where a function begins or returns. A handler is not
   interrupted by one for a signal that came with its own. */
int call_handlers(void)
{
    static int are_called;
    while (was_delivered || (left && !are_called)) {
        if (!was_delivered) deliver_one();
        was_delivered = 0;
        int were_called = are_called;
        are_called = 1;
        int failed = let_handlers_run();
        are_called = were_called;
        if (!failed) continue;
        be_due();
        return -1;
    }
    return 0;
}

void deliver_at_tick(void)
{
    if (mode == LIVE && __atomic_load_n(&taken, __ATOMIC_RELAXED) != 0) record_call("signal", 0, 0, NULL, 0);
    if (mode == REPLAY && signal_is_due()) replay_call("signal", 0, NULL, 0);
}

int is_signal_pending(void) { return __atomic_load_n(&taken, __ATOMIC_RELAXED) != 0; }

static int take_over(int number, const struct sigaction *wanted)
{
    struct sigaction ours = *wanted;
    if (wanted->sa_handler == SIG_DFL || wanted->sa_handler == SIG_IGN || is_fault(number)) {
        if (sigaction(number, wanted, NULL) < 0) return -1;
        is_ours[number] = 0;
        return 0;
    }
    ours.sa_flags = (wanted->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    ours.sa_sigaction = take_signal;
    of_program[number] = *wanted;
    if (sigaction(number, &ours, NULL) < 0) return -1;
    is_ours[number] = 1;
    return 0;
}

/* The handlers that were set before. */
void take_over_signals(void)
{
    struct sigaction found;
    for (int number = 1; number < SIGNALS; number++)
        if (!is_fault(number) && sigaction(number, NULL, &found) == 0 && found.sa_handler != SIG_DFL &&
            found.sa_handler != SIG_IGN)
            take_over(number, &found);
}

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static int hook_sigaction(int number, const struct sigaction *wanted, struct sigaction *old)
{
    int is_known = number > 0 && number < SIGNALS;
    uint64_t key = NUMBERS(number, wanted != NULL);
    if (!passes() && mode == REPLAY) {
        Part part = {old, old == NULL ? 0 : sizeof *old};
        int result = (int)replay_call("sigaction", key, &part, 1);
        if (result == 0 && wanted != NULL && is_known) {
            of_program[number] = *wanted;
            set_in_past |= 1ull << (number - 1);
        }
        return result;
    }
    struct sigaction found, new;
    int was_ours = is_known && is_ours[number];
    if (wanted != NULL) new = *wanted; /* `old` may be the same place */
    if (refuses() && wanted != NULL) return -1;
    int result = real_sigaction(number, NULL, &found);
    if (result == 0 && was_ours && found.sa_sigaction == take_signal) found = of_program[number];
    if (result == 0 && wanted != NULL)
        result = passes() || !is_known ? real_sigaction(number, &new, NULL) : take_over(number, &new);
    if (result == 0 && old != NULL) *old = found;
    if (passes()) return result;
    Part part = {old, old == NULL || result < 0 ? 0 : sizeof *old};
    return (int)record_call("sigaction", key, result, &part, 1);
}

static sighandler_t (*real_signal)(int, sighandler_t);
static sighandler_t hook_signal(int number, sighandler_t handler)
{
    if (passes()) return real_signal(number, handler);
    struct sigaction wanted = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    return hook_sigaction(number, &wanted, &old) < 0 ? SIG_ERR : old.sa_handler;
}

CHANGES(int, kill, (pid_t process, int number), (process, number), NUMBERS(process, number))
CHANGES(int, killpg, (pid_t group, int number), (group, number), NUMBERS(group, number))
CHANGES(int, raise, (int number), (number), (uint64_t)number)
CHANGES(int, pthread_kill, (pthread_t thread, int number), (thread, number), (uint64_t)number)
READS(unsigned, alarm, (unsigned seconds), (seconds), seconds)
READS(unsigned, ualarm, (unsigned first, unsigned next), (first, next), NUMBERS(first, next))
READS(unsigned, sleep, (unsigned seconds), (seconds), seconds)
READS(int, usleep, (useconds_t time), (time), time)
READS(int, pause, (void), (), 0)
READS(int, sigsuspend, (const sigset_t *signals), (signals), 0)
FILLS(int, getitimer, (__itimer_which_t kind, struct itimerval *found), (kind, found), (uint64_t)kind, found,
      sizeof *found, IF_DONE(sizeof *found))
FILLS(int, setitimer, (__itimer_which_t kind, const struct itimerval *wanted, struct itimerval *old),
      (kind, wanted, old), (uint64_t)kind, old, sizeof *old, IF_DONE(sizeof *old))

/* No signal is delivered to a replay process: the program's mask is only stored there. */
static int answer_mask(const char *call, int how, const sigset_t *wanted, Part *part)
{
    int result = (int)replay_call(call, (uint64_t)how, part, 1);
    if (result != 0 || wanted == NULL) return result;
    if (how == SIG_SETMASK) masked = *wanted;
    for (int number = 1; how != SIG_SETMASK && number < SIGNALS; number++)
        if (sigismember(wanted, number)) (how == SIG_BLOCK ? sigaddset : sigdelset)(&masked, number);
    return result;
}

#define MASKS(name)                                                                                                    \
    static int (*real_##name)(int, const sigset_t *, sigset_t *);                                                      \
    static int hook_##name(int how, const sigset_t *wanted, sigset_t *old)                                             \
    {                                                                                                                  \
        if (passes()) return real_##name(how, wanted, old);                                                            \
        Part part = {old, old == NULL ? 0 : sizeof *old};                                                              \
        if (!before_blocking()) return answer_mask(#name, how, wanted, &part);                                         \
        int result = BLOCKING(real_##name(how, wanted, old));                                                          \
        if (result != 0) part.size = 0;                                                                                \
        return (int)record_call(#name, (uint64_t)how, result, &part, 1);                                               \
    }
MASKS(pthread_sigmask)
MASKS(sigprocmask)

void keep_signals_away(void)
{
    sigset_t all;
    sigfillset(&all);
    if (!is_past) set_in_past = 0; /* else they are in no process yet */
    sigprocmask(SIG_SETMASK, &all, is_past ? NULL : &masked);
}

void have_signals_again(void)
{
    for (int number = 1; number < SIGNALS; number++)
        if (set_in_past & 1ull << (number - 1)) take_over(number, &of_program[number]);
    set_in_past = 0;
    pthread_sigmask(SIG_SETMASK, &masked, NULL);
}

FILLS(int, sigpending, (sigset_t *found), (found), 0, found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, sigwait, (const sigset_t *signals, int *found), (signals, found), 0, found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, sigwaitinfo, (const sigset_t *signals, siginfo_t *found), (signals, found), 0, found, sizeof *found,
      result > 0 ? sizeof *found : 0)
FILLS(int, sigtimedwait, (const sigset_t *signals, siginfo_t *found, const struct timespec *time),
      (signals, found, time), 0, found, sizeof *found, result > 0 ? sizeof *found : 0)

const Hook signal_hooks[] = {
    ROW(sigaction), ROW(signal), ROW(kill), ROW(killpg), ROW(raise), ROW(pthread_kill), ROW(alarm), ROW(ualarm),
    ROW(sleep), ROW(usleep), ROW(pause), ROW(sigsuspend), ROW(getitimer), ROW(setitimer), ROW(pthread_sigmask),
    ROW(sigprocmask), ROW(sigpending), ROW(sigwait), ROW(sigwaitinfo), ROW(sigtimedwait),
    ALIAS(__sigaction, sigaction),
    LAST_ROW,
};
