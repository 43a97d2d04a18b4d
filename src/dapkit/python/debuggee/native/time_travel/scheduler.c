/* Threads of the program: one at a time has the turn, and executes the program; when it changes is deterministic, or noted.

       starts ---> READY ---gets the turn---> RUNS ---waits for a lock, or for a thread's end---> WAITS
                     ^                        |  \---makes a call that may block---> AWAY
                     |---another's turn-------/   \---ends---> ENDED
                     |<------ the lock was given back by a thread of the program ------ WAITS

   The turn goes to the next READY thread by number. The end of a system call, a timeout of a wait, and the release of a
   lock by another thread happen at unpredictable times: a thread that continues for such a reason is recorded ("turn",
   with the reason), and a replay follows the log. Nothing else about turns is noted.

   Locks of Python are semaphores (or wait by some, from 3.13 on), and are real in replay as well. The interpreter's own
   lock is left alone: only the thread with the turn wants it, so that none of the program's threads ever waits for it.
   Threads that other libraries or the debugger start are free: they have no turn, and execute nothing of the program. */

#include "scheduler.h"
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


Thread threads[MOST_THREADS];
int highest_thread;
int thread_count;
pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static Thread *holder; /* of the turn; none while all wait for something outside */
int (*real_pthread_join)(pthread_t, void **);
Thread *ending;
static uint64_t passed, waited;
__thread Thread *self __attribute__((tls_model("initial-exec")));

void lock_turns(void) { pthread_mutex_lock(&turn_lock); }
void unlock_turns(void) { pthread_mutex_unlock(&turn_lock); }

void register_main_thread(void)
{
    if (self != NULL) return;
    self = holder = &threads[0];
    if (highest_thread == 0) highest_thread = 1;
    self->state = RUNS;
    self->thread = pthread_self();
    sem_init(&self->turn, 0, 0);
    thread_count = 1;
    PyEval_RestoreThread(PyEval_SaveThread()); /* so that the parts to repair in a copy are known */
}

/* Turns */

static void take_turn(Thread *next)
{
    next->state = RUNS;
    holder = next;
}

static void note_turn(const Thread *next) { record_call("turn", passed, (next - threads) * 16 + next->reason, NULL, 0); }

/* The next to have the turn after this one, or NULL: it is seen later who can continue. */
static Thread *choose(const Thread *from)
{
    passed++;
    if (mode == REPLAY && next_is("turn", passed)) {
        int64_t noted = replay_call("turn", passed, NULL, 0);
        Thread *next = &threads[noted / 16 % MOST_THREADS];
        if (next->state != WAITS && next->state != AWAY) above.on_divergence("turn", "turn", ticks);
        next->reason = (Reason)(noted % 16);
        return next;
    }
    for (int i = 1; i <= highest_thread; i++) {
        Thread *next = &threads[(from - threads + i) % highest_thread];
        if (next->state == READY) return next;
        if (mode == LIVE && (next->state == WAITS || next->state == AWAY) && next->reason != NOTHING) {
            note_turn(next);
            return next;
        }
    }
    if (mode == REPLAY) { /* something outside is waited for, of which there is no note */
        replay_call("turn", passed, NULL, 0);
    }
    return NULL;
}

void pass_turn(Thread *from)
{
    Thread *next = choose(from);
    holder = next;
    if (next == NULL) return;
    take_turn(next);
    if (next != from) sem_post(&next->turn);
}

/* The thread that ended before is to be gone before anything else happens: its stack is used again by the next one. */
static void await_end(void)
{
    if (ending == NULL) return;
    Thread *ended = ending;
    ending = NULL;
    while (syscall(SYS_tgkill, getpid(), ended->number, 0) == 0) sched_yield();
    if (ended->is_detached) {
        real_pthread_join(ended->thread, NULL);
        ended->state = UNUSED;
    }
}

Reason await_turn(clockid_t clock, const struct timespec *deadline)
{
    for (;;) {
        int result = deadline == NULL ? sem_wait(&self->turn) : sem_clockwait(&self->turn, clock, deadline);
        if (result == 0) break;
        Reason reason = errno == ETIMEDOUT ? TOOK_TOO_LONG : errno == EINTR ? INTERRUPTED : NOTHING;
        if (reason != INTERRUPTED) deadline = NULL;
        if (mode != LIVE) continue;
        pthread_mutex_lock(&turn_lock);
        int has_it = 0;
        if (self->state == WAITS && reason != NOTHING) {
            if (self->reason == NOTHING) self->reason = reason;
            if (holder == NULL) {
                note_turn(self);
                take_turn(self);
                has_it = 1;
            }
        }
        pthread_mutex_unlock(&turn_lock);
        if (has_it) break;
    }
    if (mode == OFF) return LET_GO;
    await_end();
    Reason reason = self->reason;
    self->reason = NOTHING;
    return reason;
}

/* Let the others continue, and wait for the own turn; returns why it came. */
static Reason give_turn(State state, const void *object, clockid_t clock, const struct timespec *deadline)
{
    pthread_mutex_lock(&turn_lock);
    if (mode == OFF) {
        pthread_mutex_unlock(&turn_lock);
        return LET_GO;
    }
    self->state = state;
    self->reason = NOTHING;
    self->object = object;
    self->since = ++waited;
    pass_turn(self);
    int has_it = holder == self;
    pthread_mutex_unlock(&turn_lock);
    if (!has_it) return await_turn(clock, mode == LIVE ? deadline : NULL);
    Reason reason = self->reason;
    self->reason = NOTHING;
    return reason;
}

/* Have the one who has waited longest for an object try again. */
void wake(const void *object)
{
    Thread *first = NULL;
    for (int i = 0; i < highest_thread; i++)
        if (threads[i].state == WAITS && threads[i].object == object && (first == NULL || threads[i].since < first->since))
            first = &threads[i];
    if (first == NULL) return;
    first->state = READY;
    first->reason = NOTHING;
}

/* The same for a thread that is not the program's: it is recorded when that thread has its turn. */
void wake_from_outside(const void *object)
{
    for (int i = 0; i < highest_thread; i++) {
        if (threads[i].state != WAITS || threads[i].object != object) continue;
        threads[i].reason = WAS_POSTED;
        if (holder != NULL) continue;
        note_turn(&threads[i]);
        take_turn(&threads[i]);
        sem_post(&threads[i].turn);
    }
}

void yield_turn(void)
{
    PyThreadState *state = PyEval_SaveThread();
    give_turn(READY, NULL, 0, NULL);
    PyEval_RestoreThread(state);
}

/* Not PyGILState_Check, which says yes for good once there is a subinterpreter. The function that tells it is outside the
   limited API, and has another name before 3.13. */
int has_interpreter(void)
{
    static PyThreadState *(*current)(void);
    if (current == NULL) *(void **)&current = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
    if (current == NULL) *(void **)&current = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
    return current != NULL && current() != NULL;
}

/* The places of the others are not given to new ones: where the child is executed again, they are still there, and wait. */
int be_only_thread(void)
{
    if (self == NULL) return 0;
    for (int i = 0; i < highest_thread; i++)
        if (&threads[i] != self && threads[i].state != UNUSED) threads[i].state = ENDED;
    self->state = RUNS;
    holder = self;
    ending = NULL;
    thread_count = 1;
    if (mode == LIVE) pthread_mutex_init(&turn_lock, NULL); /* another may have held it */
    return 1;
}

/* The interpreter mostly lets go of itself before it waits; faulthandler waits for its thread without. */
Reason wait_for_turn(const void *object, clockid_t clock, const struct timespec *deadline)
{
    PyThreadState *state = has_interpreter() ? PyEval_SaveThread() : NULL;
    Reason reason = give_turn(WAITS, object, clock, deadline);
    if (state != NULL) PyEval_RestoreThread(state);
    return reason;
}

int before_blocking(void)
{
    if (self == NULL || thread_count == 1 || has_interpreter()) return mode == LIVE;
    int error = errno;
    if (mode == REPLAY) {
        give_turn(AWAY, NULL, 0, NULL);
    } else {
        pthread_mutex_lock(&turn_lock);
        if (mode == LIVE) {
            self->state = AWAY;
            self->reason = NOTHING;
            self->is_away = 1;
            pass_turn(self);
        }
        pthread_mutex_unlock(&turn_lock);
    }
    errno = error;
    return mode != REPLAY;
}

void after_blocking(void)
{
    if (self == NULL || !self->is_away) return;
    int error = errno;
    self->is_away = 0;
    pthread_mutex_lock(&turn_lock);
    self->reason = CAME_BACK;
    int has_it = holder == NULL || mode == OFF;
    if (has_it && mode == LIVE) {
        note_turn(self);
        take_turn(self);
    }
    pthread_mutex_unlock(&turn_lock);
    if (!has_it) {
        await_turn(0, NULL);
    } else if (mode != OFF) {
        await_end();
    }
    self->reason = NOTHING;
    errno = error;
}

void let_threads_go(void)
{
    for (int i = 0; i < highest_thread; i++)
        if (threads[i].state != UNUSED && threads[i].state != ENDED) sem_post(&threads[i].turn);
}
