/* Processes, users, limits, and signals.

   A signal is taken by a handler of ours in the live program. The program's own, which in Python only says that there was
   one, is called where it can be called again: when the next call is noted, which carries the signals that were delivered
   after it, or at the next tick of the clock, with a note of its own. Those that say that an instruction failed are left
   to the program.

   What the C library finds out about users takes memory, opens files and loads objects: the live program asks a copy of
   itself, so that nothing of it happens here. */

#include "calls.h"
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#define IF_DONE(size) (result == 0 ? (size) : 0)

static uint64_t hash_texts(const char *path, char *const *texts)
{
    uint64_t hash = hash_text(path);
    for (; texts != NULL && *texts != NULL; texts++) hash = hash_number(hash, hash_text(*texts));
    return hash;
}

/* Who the process is */

#define IS(type, name) READS(type, name, (void), (), 0)
IS(pid_t, getpid)
IS(pid_t, getppid)
IS(pid_t, gettid)
IS(uid_t, getuid)
IS(uid_t, geteuid)
IS(gid_t, getgid)
IS(gid_t, getegid)
IS(pid_t, getpgrp)
READS(pid_t, getpgid, (pid_t process), (process), (uint64_t)process)
READS(pid_t, getsid, (pid_t process), (process), (uint64_t)process)
CHANGES(int, setuid, (uid_t user), (user), user)
CHANGES(int, seteuid, (uid_t user), (user), user)
CHANGES(int, setgid, (gid_t group), (group), group)
CHANGES(int, setegid, (gid_t group), (group), group)
CHANGES(int, setreuid, (uid_t user, uid_t effective), (user, effective), NUMBERS(user, effective))
CHANGES(int, setregid, (gid_t group, gid_t effective), (group, effective), NUMBERS(group, effective))
CHANGES(int, setresuid, (uid_t user, uid_t effective, uid_t saved), (user, effective, saved),
        NUMBERS(user, effective, saved))
CHANGES(int, setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved),
        NUMBERS(group, effective, saved))
CHANGES(int, setpgid, (pid_t process, pid_t group), (process, group), NUMBERS(process, group))
CHANGES(int, setpgrp, (void), (), 0)
CHANGES(pid_t, setsid, (void), (), 0)
CHANGES(int, setgroups, (size_t count, const gid_t *groups), (count, groups), count)
CHANGES(int, initgroups, (const char *name, gid_t group), (name, group), hash_number(hash_text(name), group))
FILLS(int, getgroups, (int room, gid_t *groups), (room, groups), (uint64_t)room, groups,
      (size_t)room * sizeof *groups, room > 0 && result > 0 ? (size_t)result * sizeof *groups : 0)

static int hook_getgroups_chk(int count, gid_t *groups, size_t Py_UNUSED(room)) { return hook_getgroups(count, groups); }

#define IS_THREE(name, type)                                                                                           \
    static int (*real_##name)(type *, type *, type *);                                                                 \
    static int hook_##name(type *one, type *effective, type *saved)                                                    \
    {                                                                                                                  \
        if (passes()) return real_##name(one, effective, saved);                                                       \
        Part parts[] = {{one, sizeof *one}, {effective, sizeof *effective}, {saved, sizeof *saved}};                   \
        if (mode == REPLAY) return (int)answer(#name, 0, parts, 3);                                                    \
        return (int)note(#name, 0, real_##name(one, effective, saved), parts, 3);                                      \
    }
IS_THREE(getresuid, uid_t)
IS_THREE(getresgid, gid_t)

/* What the system is, and what it allows */

static mode_t (*real_umask)(mode_t);
static mode_t hook_umask(mode_t wanted)
{
    if (passes()) return real_umask(wanted);
    if (mode == LIVE) return (mode_t)note("umask", wanted, real_umask(wanted), NULL, 0);
    real_umask(wanted);
    return (mode_t)answer("umask", wanted, NULL, 0);
}

FILLS(int, uname, (struct utsname *found), (found), 0, found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, sysinfo, (struct sysinfo *found), (found), 0, found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, gethostname, (char *name, size_t size), (name, size), size, name, size, IF_DONE(strnlen(name, size - 1) + 1))
static int hook_gethostname_chk(char *name, size_t size, size_t Py_UNUSED(room)) { return hook_gethostname(name, size); }
CHANGES(int, sethostname, (const char *name, size_t size), (name, size), hash_bytes(0, name, size))
FILLS(int, getloadavg, (double *found, int count), (found, count), (uint64_t)count, found,
      (size_t)count * sizeof *found, result > 0 ? (size_t)result * sizeof *found : 0)
FILLS(int, getrlimit, (int kind, struct rlimit *found), (kind, found), (uint64_t)kind, found, sizeof *found,
      IF_DONE(sizeof *found))
CHANGES(int, setrlimit, (int kind, const struct rlimit *wanted), (kind, wanted),
        NUMBERS(kind, wanted->rlim_cur, wanted->rlim_max))
FILLS(int, prlimit, (pid_t process, int kind, const struct rlimit *wanted, struct rlimit *old),
      (process, kind, wanted, old), NUMBERS(process, kind, wanted != NULL), old, sizeof *old, IF_DONE(sizeof *old))
READS(int, nice, (int step), (step), (uint64_t)step)
READS(int, getpriority, (int kind, id_t which), (kind, which), NUMBERS(kind, which))
CHANGES(int, setpriority, (int kind, id_t which, int wanted), (kind, which, wanted), NUMBERS(kind, which, wanted))
FILLS(int, sched_getaffinity, (pid_t process, size_t size, cpu_set_t *found), (process, size, found),
      NUMBERS(process, size), found, size, IF_DONE(size))
FILLS(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *found), (thread, size, found), size, found,
      size, IF_DONE(size))
CHANGES(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *wanted), (thread, size, wanted),
        hash_bytes(0, wanted, size))
CHANGES(int, clock_settime, (clockid_t clock, const struct timespec *wanted), (clock, wanted), (uint64_t)clock)
CHANGES(int, sched_setaffinity, (pid_t process, size_t size, const cpu_set_t *wanted), (process, size, wanted),
        hash_bytes((uint64_t)process, wanted, size))
FILLS(int, sched_getparam, (pid_t process, struct sched_param *found), (process, found), (uint64_t)process, found,
      sizeof *found, IF_DONE(sizeof *found))
CHANGES(int, sched_setparam, (pid_t process, const struct sched_param *wanted), (process, wanted), (uint64_t)process)
READS(int, sched_getscheduler, (pid_t process), (process), (uint64_t)process)
CHANGES(int, sched_setscheduler, (pid_t process, int kind, const struct sched_param *wanted), (process, kind, wanted),
        NUMBERS(process, kind))
FILLS(int, sched_rr_get_interval, (pid_t process, struct timespec *found), (process, found), (uint64_t)process, found,
      sizeof *found, IF_DONE(sizeof *found))
IS(int, sched_getcpu)
IS(int, get_nprocs)
IS(int, get_nprocs_conf)
CHANGES(int, setns, (int kind, int flags), (kind, flags), NUMBERS(kind, flags))
CHANGES(int, unshare, (int flags), (flags), (uint64_t)flags)

static long (*real_sysconf)(int);
static long hook_sysconf(int name)
{
    int varies = name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN || name == _SC_AVPHYS_PAGES;
    if (passes() || !varies) return real_sysconf(name);
    if (!before_blocking()) return (long)answer("sysconf", (uint64_t)name, NULL, 0);
    return (long)note("sysconf", (uint64_t)name, BLOCKING(real_sysconf(name)), NULL, 0);
}

static int (*real_prctl)(int, ...);
static int hook_prctl(int command, ...)
{
    long given[4];
    va_list rest;
    va_start(rest, command);
    for (int i = 0; i < 4; i++) given[i] = va_arg(rest, long);
    va_end(rest);
    if (passes()) return real_prctl(command, given[0], given[1], given[2], given[3]);
    Part part = {(void *)given[0], command == PR_GET_NAME ? 16 : command == PR_GET_PDEATHSIG ? sizeof(int) : 0};
    if (!before_blocking()) return (int)answer("prctl", (uint64_t)command, &part, part.size > 0);
    int result = BLOCKING(real_prctl(command, given[0], given[1], given[2], given[3]));
    return (int)note("prctl", (uint64_t)command, result, &part, part.size > 0);
}

/* Children */

static uint64_t taken; /* signals that came and were not delivered yet, a bit for each */

static pid_t be_child(void)
{
    mode = OFF;
    taken = 0;
    return 0;
}

static pid_t (*real_fork)(void);
static pid_t hook_fork(void)
{
    if (refuses()) return -1;
    if (passes()) return real_fork();
    if (!before_blocking()) return (pid_t)answer("fork", 0, NULL, 0);
    pid_t child = real_fork();
    if (child == 0) return be_child(); /* whose turns are its own: the notes are its parent's */
    after_blocking();
    return (pid_t)note("fork", 0, child, NULL, 0);
}

static pid_t (*real_forkpty)(int *, char *, const struct termios *, const struct winsize *);
static pid_t hook_forkpty(int *terminal, char *name, const struct termios *modes, const struct winsize *size)
{
    if (refuses()) return -1;
    if (passes()) return real_forkpty(terminal, name, modes, size);
    Part part = {terminal, sizeof *terminal};
    if (!before_blocking()) return (pid_t)answer("forkpty", 0, &part, 1);
    pid_t child = real_forkpty(terminal, name, modes, size);
    if (child == 0) return be_child();
    after_blocking();
    return (pid_t)note("forkpty", 0, child, &part, 1);
}

/* A child of vfork shares the memory of its parent: it would end the notes of the parent as well. */
static pid_t hook_vfork(void) { return hook_fork(); }

#define SPAWNS(name)                                                                                                   \
    static int (*real_##name)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,    \
                              char *const *, char *const *);                                                           \
    static int hook_##name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,                  \
                           const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)      \
    {                                                                                                                  \
        if (refuses()) return EROFS;                                                                                   \
        if (passes()) return real_##name(child, path, actions, attributes, arguments, environment);                    \
        uint64_t key = hash_texts(path, arguments);                                                                    \
        Part part = {child, child == NULL ? 0 : sizeof *child};                                                        \
        if (mode == REPLAY) return (int)answer(#name, key, &part, 1);                                                  \
        return (int)note(#name, key, real_##name(child, path, actions, attributes, arguments, environment), &part, 1); \
    }
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

/* Where another program takes the place of this one nothing more is noted, unless that fails. */
CHANGES(int, execve, (const char *path, char *const *arguments, char *const *environment),
        (path, arguments, environment), hash_texts(path, arguments))
CHANGES(int, execv, (const char *path, char *const *arguments), (path, arguments), hash_texts(path, arguments))
CHANGES(int, execvp, (const char *path, char *const *arguments), (path, arguments), hash_texts(path, arguments))
CHANGES(int, execvpe, (const char *path, char *const *arguments, char *const *environment),
        (path, arguments, environment), hash_texts(path, arguments))
CHANGES(int, fexecve, (int file, char *const *arguments, char *const *environment), (file, arguments, environment),
        hash_number(hash_texts(NULL, arguments), (uint64_t)file))

static pid_t (*real_wait4)(pid_t, int *, int, struct rusage *);
static pid_t hook_wait4(pid_t child, int *status, int flags, struct rusage *usage)
{
    if (passes()) return real_wait4(child, status, flags, usage);
    uint64_t key = NUMBERS(child, flags);
    Part parts[] = {{status, status == NULL ? 0 : sizeof *status}, {usage, usage == NULL ? 0 : sizeof *usage}};
    if (!before_blocking()) return (pid_t)answer("wait4", key, parts, 2);
    return (pid_t)note("wait4", key, BLOCKING(real_wait4(child, status, flags, usage)), parts, 2);
}
static void *real_waitpid, *real_wait, *real_wait3; /* only that there are such */
static pid_t hook_waitpid(pid_t child, int *status, int flags) { return hook_wait4(child, status, flags, NULL); }
static pid_t hook_wait(int *status) { return hook_wait4(-1, status, 0, NULL); }
static pid_t hook_wait3(int *status, int flags, struct rusage *usage) { return hook_wait4(-1, status, flags, usage); }
FILLS(int, waitid, (idtype_t kind, id_t which, siginfo_t *found, int flags), (kind, which, found, flags),
      NUMBERS(kind, which, flags), found, sizeof *found, sizeof *found)
CHANGES(int, system, (const char *command), (command), hash_text(command))
OPENS(pidfd_open, (pid_t process, unsigned flags), (process, flags), NUMBERS(process, flags))
CHANGES(int, pidfd_send_signal, (int process, int number, siginfo_t *with, unsigned flags),
        (process, number, with, flags), NUMBERS(process, number))

#define MOST_COMMANDS 64
static FILE *command_streams[MOST_COMMANDS];
static pid_t commands[MOST_COMMANDS];

static FILE *(*real_popen)(const char *, const char *);
static FILE *hook_popen(const char *command, const char *kind)
{
    int ends[2], reads = kind[0] == 'r', place = 0;
    if (passes()) return refuses() ? NULL : real_popen(command, kind);
    while (place < MOST_COMMANDS && command_streams[place] != NULL) place++;
    if (place == MOST_COMMANDS || hook_pipe2(ends, O_CLOEXEC) < 0) return NULL;
    char *const arguments[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[reads], reads);
    int error = hook_posix_spawn(&commands[place], "/bin/sh", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    hook_close(ends[reads]);
    FILE *made = error ? NULL : stream_of(ends[!reads], kind);
    if (made == NULL) hook_close(ends[!reads]);
    if (error) errno = error;
    return command_streams[place] = made;
}

static int (*real_pclose)(FILE *);
static int hook_pclose(FILE *stream)
{
    for (int i = 0; i < MOST_COMMANDS; i++) {
        if (command_streams[i] != stream) continue;
        int status = -1;
        command_streams[i] = NULL;
        fclose(stream);
        while (hook_wait4(commands[i], &status, 0, NULL) < 0 && errno == EINTR) {}
        return status;
    }
    return real_pclose(stream);
}

#define ENDS(name, parameters, arguments)                                                                              \
    static void(*real_##name) parameters;                                                                              \
    static void hook_##name parameters                                                                                 \
    {                                                                                                                  \
        if (inside && mode == REPLAY) reached_end();                                                                         \
        real_##name arguments;                                                                                         \
        abort();                                                                                                       \
    }
ENDS(_exit, (int code), (code))
ENDS(_Exit, (int code), (code))
ENDS(quick_exit, (int code), (code))
ENDS(exit, (int code), (code))
ENDS(abort, (void), ())

/* The system's log */

static void *real_syslog, *real_syslog_chk, *real_vsyslog; /* only that there are such */
static int says_nothing(void) { return inside && mode == REPLAY; }
static void hook_vsyslog(int kind, const char *format, va_list rest)
{
    if (!says_nothing()) vsyslog(kind, format, rest);
}
static void hook_syslog(int kind, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    hook_vsyslog(kind, format, rest);
    va_end(rest);
}
static void hook_syslog_chk(int kind, int Py_UNUSED(flag), const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    hook_vsyslog(kind, format, rest);
    va_end(rest);
}

/* Signals */

#define SIGNALS 65
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
    if (is_recording) delay_signal();
}

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
    if (mode == LIVE && __atomic_load_n(&taken, __ATOMIC_RELAXED) != 0) note("signal", 0, 0, NULL, 0);
    if (mode == REPLAY && signal_is_due()) answer("signal", 0, NULL, 0);
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
        int result = (int)answer("sigaction", key, &part, 1);
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
    return (int)note("sigaction", key, result, &part, 1);
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

/* Nothing is delivered to a process that shows the past: what the program masks there is only kept. */
static int answer_mask(const char *call, int how, const sigset_t *wanted, Part *part)
{
    int result = (int)answer(call, (uint64_t)how, part, 1);
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
        return (int)note(#name, (uint64_t)how, result, &part, 1);                                                      \
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

/* Users */

#define COPY_STACK 65536

typedef struct {
    void (*question)(int answer, void *with);
    void *with;
    int ends[2];
} Question;

/* Runs in a process between, which is gone at once: the copy is nobody's child. */
static int begin_copy(void *given)
{
    Question *asked = given;
    if (fork() != 0) return 0;
    mode = OFF;
    close(asked->ends[0]);
    asked->question(asked->ends[1], asked->with);
    _exit(0);
}

/* Have a copy of this process answer; how many bytes it said. */
static size_t ask_copy(void (*question)(int, void *), void *with, char *text, size_t room)
{
    static char stack[COPY_STACK] __attribute__((aligned(16)));
    Question asked = {question, with, {-1, -1}};
    size_t size = 0;
    ssize_t got;
    if (pipe2(asked.ends, O_CLOEXEC) < 0) return 0;
    pid_t between = clone(begin_copy, stack + COPY_STACK, CLONE_VM | CLONE_VFORK, &asked);
    if (between > 0) waitpid(between, NULL, __WCLONE);
    close(asked.ends[1]);
    while ((got = read(asked.ends[0], text + size, room - size)) != 0) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) size += (size_t)got;
    }
    close(asked.ends[0]);
    return size;
}

/* An entry: a line of its numbers, then its texts, each with its end; nothing at all where there is none. */

#define ANSWER_ROOM ((size_t)1 << 20)
static char answer_text[ANSWER_ROOM]; /* touched only by what asks for users */

static void say_texts(int end, unsigned one, unsigned other, char *const *texts, char *const *more)
{
    dprintf(end, "%u %u%c", one, other, 0);
    for (; *texts != NULL; texts++) dprintf(end, "%s%c", *texts, 0);
    for (; more != NULL && *more != NULL; more++) dprintf(end, "%s%c", *more, 0);
}
static void say_user(int end, const struct passwd *user)
{
    char *texts[] = {user->pw_name, user->pw_passwd, user->pw_gecos, user->pw_dir, user->pw_shell, NULL};
    say_texts(end, user->pw_uid, user->pw_gid, texts, NULL);
}
static void say_group(int end, const struct group *group)
{
    unsigned count = 0;
    while (group->gr_mem[count] != NULL) count++;
    char *texts[] = {group->gr_name, group->gr_passwd, NULL};
    say_texts(end, group->gr_gid, count, texts, group->gr_mem);
}

typedef struct {
    const char *name;
    unsigned id;
} Who;

static void ask_user(int end, void *with)
{
    Who *who = with;
    struct passwd *user = who->name != NULL ? getpwnam(who->name) : getpwuid(who->id);
    if (user != NULL) say_user(end, user);
}
static void ask_group(int end, void *with)
{
    Who *who = with;
    struct group *group = who->name != NULL ? getgrnam(who->name) : getgrgid(who->id);
    if (group != NULL) say_group(end, group);
}
static void ask_users(int end, void *Py_UNUSED(with))
{
    struct passwd *user;
    setpwent();
    while ((user = getpwent()) != NULL) say_user(end, user);
}
static void ask_groups(int end, void *Py_UNUSED(with))
{
    struct group *group;
    setgrent();
    while ((group = getgrent()) != NULL) say_group(end, group);
}
static void ask_login(int end, void *Py_UNUSED(with))
{
    char *name = getlogin();
    if (name != NULL) dprintf(end, "%s", name);
    else dprintf(end, "%c%d", 0, errno);
}

static size_t find_out(const char *call, void (*question)(int, void *), Who who, char *text, size_t room)
{
    uint64_t key = hash_number(hash_text(who.name), who.id);
    Part part = {text, room};
    if (mode == REPLAY) answer(call, key, &part, 1);
    else part.size = ask_copy(question, &who, text, room), note(call, key, 0, &part, 1);
    return part.size;
}

/* Split an entry up: the place after it. */
static char *split(char *text, unsigned *one, unsigned *other, char **texts, int count)
{
    sscanf(text, "%u %u", one, other);
    for (int i = 0; i < count; i++) texts[i] = text += strlen(text) + 1;
    return text + strlen(text) + 1;
}

static char *user_of(char *text, struct passwd *user)
{
    char *texts[5];
    char *end = split(text, &user->pw_uid, &user->pw_gid, texts, 5);
    user->pw_name = texts[0];
    user->pw_passwd = texts[1];
    user->pw_gecos = texts[2];
    user->pw_dir = texts[3];
    user->pw_shell = texts[4];
    return end;
}

#define MOST_MEMBERS 1024
static char *group_of(char *text, struct group *group, char **members, unsigned room)
{
    char *texts[2];
    unsigned count;
    char *end = split(text, &group->gr_gid, &count, texts, 2);
    group->gr_name = texts[0];
    group->gr_passwd = texts[1];
    group->gr_mem = members;
    for (unsigned i = 0; i < count; i++, end += strlen(end) + 1)
        if (i + 1 < room) *members++ = end;
    *members = NULL;
    return end;
}

static int find_user(const char *call, Who who, struct passwd *user, char *place, size_t room, struct passwd **result)
{
    *result = NULL;
    size_t size = find_out(call, ask_user, who, answer_text, sizeof answer_text);
    if (size == 0) return 0;
    if (size > room) return ERANGE;
    user_of(memcpy(place, answer_text, size), user);
    *result = user;
    return 0;
}

static int find_group(const char *call, Who who, struct group *group, char *place, size_t room, struct group **result)
{
    *result = NULL;
    size_t size = find_out(call, ask_group, who, answer_text, sizeof answer_text);
    if (size == 0) return 0;
    unsigned one, count = 0;
    sscanf(answer_text, "%u %u", &one, &count);
    size_t before = (8 - (uintptr_t)place % 8) % 8 + (count + 1) * sizeof(char *);
    if (before + size > room) return ERANGE;
    char **members = (char **)(place + (8 - (uintptr_t)place % 8) % 8);
    group_of(memcpy(place + before, answer_text, size), group, members, count + 1);
    *result = group;
    return 0;
}

#define FINDS(name, kind, find, parameter, argument, who)                                                              \
    static int (*real_##name##_r)(parameter, struct kind *, char *, size_t, struct kind **);                           \
    static int hook_##name##_r(parameter, struct kind *found, char *place, size_t room, struct kind **result)          \
    {                                                                                                                  \
        if (passes()) return real_##name##_r(argument, found, place, room, result);                                    \
        return find(#name, (Who)who, found, place, room, result);                                                      \
    }                                                                                                                  \
    static struct kind *(*real_##name)(parameter);                                                                     \
    static struct kind *hook_##name(parameter)                                                                         \
    {                                                                                                                  \
        static struct kind found;                                                                                      \
        static char place[65536];                                                                                      \
        struct kind *result;                                                                                           \
        if (passes()) return real_##name(argument);                                                                    \
        find(#name, (Who)who, &found, place, sizeof place, &result);                                                   \
        return result;                                                                                                 \
    }
#define BOTH(...) {__VA_ARGS__}
FINDS(getpwnam, passwd, find_user, const char *name, name, BOTH(name, 0))
FINDS(getpwuid, passwd, find_user, uid_t id, id, BOTH(NULL, id))
FINDS(getgrnam, group, find_group, const char *name, name, BOTH(name, 0))
FINDS(getgrgid, group, find_group, gid_t id, id, BOTH(NULL, id))

/* All of them, one after the other. */
#define LISTS(name, kind, set, end, question, entry_of)                                                                \
    static char all_##kind[ANSWER_ROOM], *place_##kind;                                                                \
    static size_t size_##kind;                                                                                         \
    static void (*real_##set)(void);                                                                                   \
    static void hook_##set(void)                                                                                       \
    {                                                                                                                  \
        if (passes()) real_##set();                                                                                    \
        else place_##kind = NULL;                                                                                      \
    }                                                                                                                  \
    static void (*real_##end)(void);                                                                                   \
    static void hook_##end(void)                                                                                       \
    {                                                                                                                  \
        if (passes()) real_##end();                                                                                    \
        else place_##kind = NULL;                                                                                      \
    }                                                                                                                  \
    static struct kind *(*real_##name)(void);                                                                          \
    static struct kind *hook_##name(void)                                                                              \
    {                                                                                                                  \
        static struct kind entry;                                                                                      \
        if (passes()) return real_##name();                                                                            \
        if (place_##kind == NULL) {                                                                                    \
            size_##kind = find_out(#name, question, (Who){NULL, 0}, place_##kind = all_##kind, ANSWER_ROOM);           \
        }                                                                                                              \
        if (place_##kind >= all_##kind + size_##kind) return NULL;                                                     \
        place_##kind = entry_of;                                                                                       \
        return &entry;                                                                                                 \
    }
static char *members_of_entry[MOST_MEMBERS];
LISTS(getpwent, passwd, setpwent, endpwent, ask_users, user_of(place_passwd, &entry))
LISTS(getgrent, group, setgrent, endgrent, ask_groups, group_of(place_group, &entry, members_of_entry, MOST_MEMBERS))

static char login_name[512];
static char *(*real_getlogin)(void);
static char *hook_getlogin(void)
{
    if (passes()) return real_getlogin();
    size_t size = find_out("getlogin", ask_login, (Who){NULL, 0}, login_name, sizeof login_name - 1);
    login_name[size] = 0;
    if (login_name[0] == 0) errno = size > 1 ? atoi(login_name + 1) : ENOENT;
    return login_name[0] == 0 ? NULL : login_name;
}

static int (*real_getlogin_r)(char *, size_t);
static int hook_getlogin_r(char *place, size_t room)
{
    if (passes()) return real_getlogin_r(place, room);
    if (hook_getlogin() == NULL) return errno;
    if (strlen(login_name) >= room) return ERANGE;
    strcpy(place, login_name);
    return 0;
}

typedef struct {
    const char *name;
    gid_t first;
    int room;
} Membership;

static void ask_memberships(int end, void *with)
{
    Membership *asked = with;
    gid_t groups[MOST_MEMBERS];
    int count = MOST_MEMBERS;
    if (getgrouplist(asked->name, asked->first, groups, &count) >= 0)
        while (write(end, groups, (size_t)count * sizeof *groups) < 0 && errno == EINTR) {}
}

static int (*real_getgrouplist)(const char *, gid_t, gid_t *, int *);
static int hook_getgrouplist(const char *name, gid_t first, gid_t *groups, int *room)
{
    if (passes()) return real_getgrouplist(name, first, groups, room);
    Membership asked = {name, first, *room};
    gid_t found[MOST_MEMBERS];
    uint64_t key = hash_number(hash_text(name), first);
    Part part = {found, sizeof found};
    if (mode == REPLAY) answer("getgrouplist", key, &part, 1);
    else part.size = ask_copy(ask_memberships, &asked, (char *)found, sizeof found), note("getgrouplist", key, 0, &part, 1);
    int count = (int)(part.size / sizeof *groups);
    int given = count < *room ? count : *room;
    memcpy(groups, found, (size_t)given * sizeof *groups);
    *room = count;
    return given < count ? -1 : count;
}

#define ONLY(name) {#name, hook_##name, &real_##name}

const Hook process_hooks[] = {
    ROW(getpid), ROW(getppid), ROW(gettid), ROW(getuid), ROW(geteuid), ROW(getgid), ROW(getegid), ROW(getpgrp),
    ROW(getpgid), ROW(getsid), ROW(setuid), ROW(seteuid), ROW(setgid), ROW(setegid), ROW(setreuid), ROW(setregid),
    ROW(setresuid), ROW(setresgid), ROW(setpgid), ROW(setpgrp), ROW(setsid), ROW(setgroups), ROW(initgroups),
    ROW(getgroups), ROW(getresuid), ROW(getresgid),
    ALIAS(__getpgid, getpgid),
    {"__getgroups_chk", hook_getgroups_chk, (void **)&real_getgroups},

    ROW(umask), ROW(uname), ROW(sysinfo), ROW(gethostname), ROW(sethostname), ROW(getloadavg), ROW(getrlimit),
    ROW(setrlimit), ROW(prlimit), ROW(nice), ROW(getpriority), ROW(setpriority), ROW(sched_getaffinity),
    ROW(pthread_getaffinity_np), ROW(pthread_setaffinity_np), ROW(clock_settime), ROW(sched_setaffinity),
    ROW(sched_getparam), ROW(sched_setparam), ROW(sched_getscheduler), ROW(sched_setscheduler),
    ROW(sched_rr_get_interval), ROW(sched_getcpu), ROW(get_nprocs), ROW(get_nprocs_conf), ROW(setns), ROW(unshare),
    ROW(sysconf), ROW(prctl),
    {"__gethostname_chk", hook_gethostname_chk, (void **)&real_gethostname},
    ALIAS(getrlimit64, getrlimit),
    ALIAS(setrlimit64, setrlimit),
    ALIAS(prlimit64, prlimit),
    ALIAS(__sysconf, sysconf),

    ROW(fork), ROW(forkpty), ROW(posix_spawn), ROW(posix_spawnp), ROW(execve), ROW(execv), ROW(execvp), ROW(execvpe),
    ROW(fexecve), ROW(wait4), ONLY(waitpid), ONLY(wait), ONLY(wait3), ROW(waitid), ROW(system), ROW(pidfd_open),
    ROW(pidfd_send_signal), ROW(popen), ROW(pclose), ROW(_exit), ROW(_Exit), ROW(quick_exit), ROW(exit), ROW(abort),
    ALIAS(__fork, fork),
    {"vfork", hook_vfork, (void **)&real_fork},

    ONLY(syslog), ONLY(vsyslog),
    {"__syslog_chk", hook_syslog_chk, &real_syslog_chk},

    ROW(sigaction), ROW(signal), ROW(kill), ROW(killpg), ROW(raise), ROW(pthread_kill), ROW(alarm), ROW(ualarm),
    ROW(sleep), ROW(usleep), ROW(pause), ROW(sigsuspend), ROW(getitimer), ROW(setitimer), ROW(pthread_sigmask),
    ROW(sigprocmask), ROW(sigpending), ROW(sigwait), ROW(sigwaitinfo), ROW(sigtimedwait),
    ALIAS(__sigaction, sigaction),

    ROW(getpwnam_r), ROW(getpwnam), ROW(getpwuid_r), ROW(getpwuid), ROW(getgrnam_r), ROW(getgrnam), ROW(getgrgid_r),
    ROW(getgrgid), ROW(setpwent), ROW(endpwent), ROW(getpwent), ROW(setgrent), ROW(endgrent), ROW(getgrent),
    ROW(getlogin), ROW(getlogin_r), ROW(getgrouplist),
    LAST_ROW,
};
