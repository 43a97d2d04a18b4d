/* Threads of the program: one at a time has the turn, and executes the program; when it changes is deterministic, or noted.

       starts ---> READY ---gets the turn---> RUNS ---waits for a lock, or for a thread's end---> WAITS
                     ^                        |  \---makes a call that may block---> AWAY
                     |---another's turn-------/   \---ends---> ENDED
                     |<------ the lock was given back by a thread of the program ------ WAITS

   The turn goes to the next READY thread by number. That a call of the system is done, that a wait has taken too long,
   or that somebody else gave a lock back happens when it happens: a thread that goes on for such a reason is noted
   ("turn", with the reason), and a process that replays goes by the notes. Nothing else about turns is noted.

   Locks of Python are semaphores (or wait by some, from 3.13 on), and are real in replay as well. The interpreter's own
   lock is left alone: only the thread with the turn wants it, so that none of the program's threads ever waits for it.
   Threads that other libraries or the debugger start are free: they have no turn, and execute nothing of the program. */

#include "travel.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 4096
#define MOST_SHARED 1024
#define MOST_OF_THE_INTERPRETERS 16

typedef enum { UNUSED, READY, RUNS, WAITS, AWAY, ENDED } State;
typedef enum { NOTHING, CAME_BACK, TOOK_TOO_LONG, INTERRUPTED, WAS_POSTED, LET_GO } Reason;

typedef struct {
    State state;
    Reason reason;      /* WAITS and AWAY: why it can go on, which only the live program finds out; RUNS: why it went on */
    const void *object; /* that it waits for: a semaphore, or a thread */
    uint64_t since;     /* order of those who wait */
    int is_away;        /* has given its turn away around a call */
    int is_detached;
    pid_t number;       /* of the system; known from its end on */
    pthread_t thread;
    void *(*start)(void *);
    void *argument;
    sem_t turn; /* posted when it gets the turn */
} Thread;

static Thread threads[MOST_THREADS];
static int highest; /* those above were never used */
int thread_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all this */
static Thread *holder; /* of the turn; none while all wait for something outside */
static Thread *ending; /* has given its turn away, and is about to be gone */
static uint64_t passed, waited;
static __thread Thread *self __attribute__((tls_model("initial-exec")));

static int (*real_pthread_join)(pthread_t, void **);
static int (*real_sem_wait)(sem_t *);
static int (*real_sem_trywait)(sem_t *);
static int (*real_sem_timedwait)(sem_t *, const struct timespec *);
static int (*real_sem_post)(sem_t *);

void lock_turns(void) { pthread_mutex_lock(&lock); }
void unlock_turns(void) { pthread_mutex_unlock(&lock); }

void register_main_thread(void)
{
    if (self != NULL) return;
    self = holder = &threads[0];
    if (highest == 0) highest = 1;
    self->state = RUNS;
    self->thread = pthread_self();
    sem_init(&self->turn, 0, 0);
    thread_count = 1;
    PyEval_RestoreThread(PyEval_SaveThread()); /* so that we know what is to be repaired in a copy */
}

/* Turns */

static void take_turn(Thread *next)
{
    next->state = RUNS;
    holder = next;
}

static void note_turn(const Thread *next) { note("turn", passed, (next - threads) * 16 + next->reason, NULL, 0); }

/* The next to have the turn after this one, or NULL: it is seen later who can go on. */
static Thread *choose(const Thread *from)
{
    passed++;
    if (mode == REPLAY && next_is("turn", passed)) {
        int64_t noted = answer("turn", passed, NULL, 0);
        Thread *next = &threads[noted / 16 % MOST_THREADS];
        if (next->state != WAITS && next->state != AWAY) diverged("turn", "turn", ticks);
        next->reason = (Reason)(noted % 16);
        return next;
    }
    for (int i = 1; i <= highest; i++) {
        Thread *next = &threads[(from - threads + i) % highest];
        if (next->state == READY) return next;
        if (mode == LIVE && (next->state == WAITS || next->state == AWAY) && next->reason != NOTHING) {
            note_turn(next);
            return next;
        }
    }
    if (mode == REPLAY) { /* something outside is waited for, of which there is no note */
        answer("turn", passed, NULL, 0);
    }
    return NULL;
}

static void pass_turn(Thread *from)
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

static Reason await_turn(clockid_t clock, const struct timespec *deadline)
{
    for (;;) {
        int result = deadline == NULL ? sem_wait(&self->turn) : sem_clockwait(&self->turn, clock, deadline);
        if (result == 0) break;
        Reason reason = errno == ETIMEDOUT ? TOOK_TOO_LONG : errno == EINTR ? INTERRUPTED : NOTHING;
        if (reason != INTERRUPTED) deadline = NULL;
        if (mode != LIVE) continue;
        pthread_mutex_lock(&lock);
        int has_it = 0;
        if (self->state == WAITS && reason != NOTHING) {
            if (self->reason == NOTHING) self->reason = reason;
            if (holder == NULL) {
                note_turn(self);
                take_turn(self);
                has_it = 1;
            }
        }
        pthread_mutex_unlock(&lock);
        if (has_it) break;
    }
    if (mode == OFF) return LET_GO;
    await_end();
    Reason reason = self->reason;
    self->reason = NOTHING;
    return reason;
}

/* Let the others go on, and wait for the own turn; returns why it came. */
static Reason give_turn(State state, const void *object, clockid_t clock, const struct timespec *deadline)
{
    pthread_mutex_lock(&lock);
    if (mode == OFF) {
        pthread_mutex_unlock(&lock);
        return LET_GO;
    }
    self->state = state;
    self->reason = NOTHING;
    self->object = object;
    self->since = ++waited;
    pass_turn(self);
    int has_it = holder == self;
    pthread_mutex_unlock(&lock);
    if (!has_it) return await_turn(clock, mode == LIVE ? deadline : NULL);
    Reason reason = self->reason;
    self->reason = NOTHING;
    return reason;
}

/* Have the one who has waited longest for an object try again. */
static void wake(const void *object)
{
    Thread *first = NULL;
    for (int i = 0; i < highest; i++)
        if (threads[i].state == WAITS && threads[i].object == object && (first == NULL || threads[i].since < first->since))
            first = &threads[i];
    if (first == NULL) return;
    first->state = READY;
    first->reason = NOTHING;
}

/* The same by somebody who is not the program: it is noted when that thread has its turn. */
static void wake_from_outside(const void *object)
{
    for (int i = 0; i < highest; i++) {
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

/* Not PyGILState_Check, which says yes for good once there is a subinterpreter. What says it is not of the limited API,
   and has another name before 3.13. */
static int has_interpreter(void)
{
    static PyThreadState *(*current)(void);
    if (current == NULL) *(void **)&current = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
    if (current == NULL) *(void **)&current = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
    return current != NULL && current() != NULL;
}

int before_blocking(void)
{
    if (self == NULL || thread_count == 1 || has_interpreter()) return mode == LIVE;
    int error = errno;
    if (mode == REPLAY) {
        give_turn(AWAY, NULL, 0, NULL);
    } else {
        pthread_mutex_lock(&lock);
        if (mode == LIVE) {
            self->state = AWAY;
            self->reason = NOTHING;
            self->is_away = 1;
            pass_turn(self);
        }
        pthread_mutex_unlock(&lock);
    }
    errno = error;
    return mode != REPLAY;
}

void after_blocking(void)
{
    if (self == NULL || !self->is_away) return;
    int error = errno;
    self->is_away = 0;
    pthread_mutex_lock(&lock);
    self->reason = CAME_BACK;
    int has_it = holder == NULL || mode == OFF;
    if (has_it && mode == LIVE) {
        note_turn(self);
        take_turn(self);
    }
    pthread_mutex_unlock(&lock);
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
    for (int i = 0; i < highest; i++)
        if (threads[i].state != UNUSED && threads[i].state != ENDED) sem_post(&threads[i].turn);
}

/* Semaphores with names belong to several processes (multiprocessing): what they do is noted, and a replay, which still
   has the memory of those of the live program, does not touch them. */

static sem_t *shared[MOST_SHARED];
static int shared_count;

static int is_shared(const sem_t *semaphore)
{
    for (int i = 0; i < shared_count; i++)
        if (shared[i] == semaphore) return 1;
    return 0;
}

/* A process of the past has not the memory of those that were opened since its copy was made, and would change those of
   the live program: what the debugger executes in it cannot use them. */
static int refuses_shared(const sem_t *semaphore)
{
    if (!is_past || inside || !is_shared(semaphore)) return 0;
    errno = EROFS;
    return 1;
}

static sem_t *(*real_sem_open)(const char *, int, mode_t, unsigned);
static sem_t *hook_sem_open(const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t permissions = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    unsigned value = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    if (passes()) return real_sem_open(name, flags, permissions, value);
    uint64_t key = hash_number(hash_text(name), (uint64_t)flags);
    sem_t *opened = mode == REPLAY ? (sem_t *)answer("sem_open", key, NULL, 0) : real_sem_open(name, flags, permissions, value);
    if (mode == LIVE) note("sem_open", key, (int64_t)opened, NULL, 0);
    if (opened != SEM_FAILED && !is_shared(opened) && shared_count < MOST_SHARED) shared[shared_count++] = opened;
    return opened;
}

static int (*real_sem_close)(sem_t *);
static int hook_sem_close(sem_t *semaphore)
{
    if (refuses_shared(semaphore)) return -1;
    if (passes()) return real_sem_close(semaphore);
    for (int i = 0; i < shared_count; i++)
        if (shared[i] == semaphore) shared[i--] = shared[--shared_count];
    if (mode == REPLAY) return (int)answer("sem_close", (uint64_t)semaphore, NULL, 0);
    return (int)note("sem_close", (uint64_t)semaphore, real_sem_close(semaphore), NULL, 0);
}

static int (*real_sem_unlink)(const char *);
static int hook_sem_unlink(const char *name)
{
    if (passes()) return real_sem_unlink(name);
    if (mode == REPLAY) return (int)answer("sem_unlink", hash_text(name), NULL, 0);
    return (int)note("sem_unlink", hash_text(name), real_sem_unlink(name), NULL, 0);
}

static int (*real_sem_getvalue)(sem_t *, int *);
static int hook_sem_getvalue(sem_t *semaphore, int *value)
{
    if (refuses_shared(semaphore)) return -1;
    if (passes() || !is_shared(semaphore)) return real_sem_getvalue(semaphore, value);
    Part part = {value, sizeof *value};
    if (mode == REPLAY) return (int)answer("sem_getvalue", (uint64_t)semaphore, &part, 1);
    return (int)note("sem_getvalue", (uint64_t)semaphore, real_sem_getvalue(semaphore, value), &part, 1);
}

static int post_shared(sem_t *semaphore)
{
    if (mode == REPLAY) return (int)answer("sem_post", (uint64_t)semaphore, NULL, 0);
    return (int)note("sem_post", (uint64_t)semaphore, real_sem_post(semaphore), NULL, 0);
}

static int try_shared(sem_t *semaphore)
{
    if (mode == REPLAY) return (int)answer("sem_trywait", (uint64_t)semaphore, NULL, 0);
    return (int)note("sem_trywait", (uint64_t)semaphore, real_sem_trywait(semaphore), NULL, 0);
}

static int wait_for_shared(sem_t *semaphore, const struct timespec *deadline)
{
    if (!before_blocking()) return (int)answer("sem_wait", (uint64_t)semaphore, NULL, 0);
    int result = deadline == NULL ? real_sem_wait(semaphore) : real_sem_timedwait(semaphore, deadline);
    after_blocking();
    return (int)note("sem_wait", (uint64_t)semaphore, result, NULL, 0);
}

/* Semaphores of objects other than the interpreter, if they have no name, are left alone. */

static int hook_other_sem_wait(sem_t *semaphore)
{
    if (refuses_shared(semaphore)) return -1;
    return passes() || !is_shared(semaphore) ? real_sem_wait(semaphore) : wait_for_shared(semaphore, NULL);
}

static int hook_other_sem_timedwait(sem_t *semaphore, const struct timespec *deadline)
{
    if (refuses_shared(semaphore)) return -1;
    if (passes() || !is_shared(semaphore)) return real_sem_timedwait(semaphore, deadline);
    return wait_for_shared(semaphore, deadline);
}

static int hook_other_sem_trywait(sem_t *semaphore)
{
    if (refuses_shared(semaphore)) return -1;
    return passes() || !is_shared(semaphore) ? real_sem_trywait(semaphore) : try_shared(semaphore);
}

static int hook_other_sem_post(sem_t *semaphore)
{
    if (refuses_shared(semaphore)) return -1;
    return passes() || !is_shared(semaphore) ? real_sem_post(semaphore) : post_shared(semaphore);
}

/* Which try of which semaphore. Those that the program has had made have the place of the notes at which that was; others
   are of the interpreter, and few. */

typedef struct Known {
    struct Known *next;
    const sem_t *semaphore;
    uint64_t born, tries;
} Known;

#define BUCKETS 4096
#define KNOWN_AT_ONCE 4096

static Known *known[BUCKETS], *unused_known;

static Known **place_of(const sem_t *semaphore)
{
    Known **place = &known[((uintptr_t)semaphore >> 4) % BUCKETS];
    while (*place != NULL && (*place)->semaphore != semaphore) place = &(*place)->next;
    return place;
}

static Known *know(const sem_t *semaphore)
{
    Known **place = place_of(semaphore);
    if (*place != NULL) return *place;
    if (unused_known == NULL) {
        Known *more = mmap(NULL, KNOWN_AT_ONCE * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) return NULL;
        for (int i = 0; i < KNOWN_AT_ONCE; i++) {
            more[i].next = unused_known;
            unused_known = &more[i];
        }
    }
    Known *found = unused_known;
    unused_known = found->next;
    *found = (Known){NULL, semaphore, 0, 0};
    return *place = found;
}

static uint64_t key_of_try(const sem_t *semaphore)
{
    Known *found = know(semaphore);
    return found == NULL ? 0 : hash_number(found->born, ++found->tries);
}

static int (*real_sem_init)(sem_t *, int, unsigned);
static int hook_sem_init(sem_t *semaphore, int is_shared_one, unsigned value)
{
    Known *found = passes() ? NULL : know(semaphore);
    if (found != NULL) {
        static uint64_t latest, number; /* several may be made between two notes */
        number = log_place == latest ? number + 1 : 0;
        latest = log_place;
        found->born = hash_number(log_place, number);
        found->tries = 0;
    }
    return real_sem_init(semaphore, is_shared_one, value);
}

static int (*real_sem_destroy)(sem_t *);
static int hook_sem_destroy(sem_t *semaphore)
{
    Known **place = passes() ? NULL : place_of(semaphore);
    if (place != NULL && *place != NULL) {
        Known *gone = *place;
        *place = gone->next;
        gone->next = unused_known;
        unused_known = gone;
    }
    return real_sem_destroy(semaphore);
}

/* Semaphores of the interpreter. A try that fails is noted: if the lock is one that free threads use too, it depends on them. */

static int try(sem_t *semaphore)
{
    uint64_t key = key_of_try(semaphore);
    if (mode == REPLAY) {
        if (next_is("sem_trywait", key)) {
            answer("sem_trywait", key, NULL, 0);
            return -1;
        }
        if (real_sem_trywait(semaphore) == 0) return 0;
        struct timespec deadline;
        clock_gettime(CLOCK_MONOTONIC, &deadline);
        deadline.tv_sec += 5;
        if (sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline) == 0) return 0;
        diverged("sem_trywait", "-", ticks);
    }
    if (real_sem_trywait(semaphore) == 0) return 0;
    if (errno != EAGAIN) return -1;
    return (int)note("sem_trywait", key, -1, NULL, 0);
}

/* The interpreter mostly lets go of itself before it waits; faulthandler waits for its thread without. */
static Reason wait_for_turn(const void *object, clockid_t clock, const struct timespec *deadline)
{
    PyThreadState *state = has_interpreter() ? PyEval_SaveThread() : NULL;
    Reason reason = give_turn(WAITS, object, clock, deadline);
    if (state != NULL) PyEval_RestoreThread(state);
    return reason;
}

/* Returns what `sem_wait` would, or 1: it is to be waited for really. */
static int wait_for(sem_t *semaphore, clockid_t clock, const struct timespec *deadline)
{
    while (try(semaphore) < 0) {
        if (self == NULL) return 1;
        switch (wait_for_turn(semaphore, clock, deadline)) {
        case LET_GO: return 1;
        case TOOK_TOO_LONG: errno = ETIMEDOUT; return -1;
        case INTERRUPTED: errno = EINTR; return -1;
        default: break;
        }
    }
    return 0;
}

static int hook_sem_wait(sem_t *semaphore)
{
    if (!passes() && is_shared(semaphore)) return wait_for_shared(semaphore, NULL);
    int result = passes() ? 1 : wait_for(semaphore, 0, NULL);
    return result == 1 ? real_sem_wait(semaphore) : result;
}

static int (*real_sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
static int hook_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline)
{
    int result = passes() ? 1 : wait_for(semaphore, clock, deadline);
    return result == 1 ? real_sem_clockwait(semaphore, clock, deadline) : result;
}

static int hook_sem_timedwait(sem_t *semaphore, const struct timespec *deadline)
{
    if (!passes() && is_shared(semaphore)) return wait_for_shared(semaphore, deadline);
    int result = passes() ? 1 : wait_for(semaphore, CLOCK_REALTIME, deadline);
    return result == 1 ? real_sem_timedwait(semaphore, deadline) : result;
}

static int hook_sem_trywait(sem_t *semaphore)
{
    if (passes()) return real_sem_trywait(semaphore);
    return is_shared(semaphore) ? try_shared(semaphore) : try(semaphore);
}

static int hook_sem_post(sem_t *semaphore)
{
    if (!passes() && is_shared(semaphore)) return post_shared(semaphore);
    if (thread_count == 0 || mode == OFF || (!inside && mode != LIVE)) return real_sem_post(semaphore);
    if (!inside) pthread_mutex_lock(&lock);
    int result = real_sem_post(semaphore);
    if (inside) {
        pthread_mutex_lock(&lock);
        wake(semaphore);
    } else {
        wake_from_outside(semaphore);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Threads */

static void end_of_thread(void)
{
    if (self == NULL || self == &threads[0] || self->state == ENDED || mode == OFF) return;
    inside = 0;
    pthread_mutex_lock(&lock);
    self->state = ENDED;
    self->number = (pid_t)syscall(SYS_gettid);
    if (mode != OFF) {
        thread_count--;
        ending = self;
        wake(self);
        aim();
        pass_turn(self);
    }
    pthread_mutex_unlock(&lock);
}

int history_ends_with_threads;

/* The program goes on by itself, and its past ends here. */
static void end_history(void)
{
    if (mode == REPLAY) reached_end();
    log_head->ticks = ticks;
    inside = 0;
    mode = OFF;
}

static void *execute(void *thread)
{
    self = thread;
    await_turn(0, NULL);
    inside = 1;
    void *result = self->start(self->argument);
    end_of_thread();
    return result;
}

/* What the interpreter counts as its threads. A copy has still counted those of the debugger that it has not; an engine
   of its own begins others. */

static long begun_in_past; /* threads of the debugger */
static PyCFunction real_count;

static PyObject *hook_count(PyObject *module, PyObject *nothing)
{
    PyObject *counted = real_count(module, nothing);
    if (counted == NULL || begun_in_past == 0) return counted;
    long count = PyLong_AsLong(counted);
    Py_DECREF(counted);
    return PyLong_FromLong(count - begun_in_past);
}

int watch_thread_count(void)
{
    PyObject *module = PyImport_ImportModule("_thread");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, "_count");
    Py_XDECREF(module);
    if (function == NULL) return -1;
    PyMethodDef *method = *(PyMethodDef **)((char *)function + sizeof(PyObject));
    if (method->ml_meth == PyCFunction_GetFunction(function) && PyCFunction_GetFlags(function) == METH_NOARGS) {
        real_count = method->ml_meth;
        method->ml_meth = hook_count;
    }
    Py_DECREF(function);
    return 0;
}

static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int hook_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (is_past && !inside) begun_in_past++;
    if (passes() || self == NULL) return real_pthread_create(thread, attributes, start, argument);
    if (history_ends_with_threads) {
        end_history();
        return real_pthread_create(thread, attributes, start, argument);
    }
    Thread *made = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 1; made == NULL && i < MOST_THREADS; i++)
        if (threads[i].state == UNUSED) made = &threads[i];
    if (made != NULL) {
        memset(made, 0, sizeof *made);
        made->state = READY;
        made->start = start;
        made->argument = argument;
        sem_init(&made->turn, 0, 0);
        if (made >= &threads[highest]) highest = (int)(made - threads) + 1;
    }
    pthread_mutex_unlock(&lock);
    int error = made == NULL ? EAGAIN : real_pthread_create(&made->thread, attributes, execute, made);
    if (error != 0) {
        if (made != NULL) made->state = UNUSED;
        return error;
    }
    *thread = made->thread;
    if (thread_count == 1) begin_threads();
    thread_count++;
    aim();
    return 0;
}

static Thread *thread_of(pthread_t thread)
{
    for (int i = 1; i < highest; i++)
        if (threads[i].state != UNUSED && !threads[i].is_detached && pthread_equal(threads[i].thread, thread))
            return &threads[i];
    return NULL;
}

static int (*real_pthread_detach)(pthread_t);
static int hook_pthread_detach(pthread_t thread)
{
    Thread *found = passes() ? NULL : thread_of(thread);
    if (found == NULL) return real_pthread_detach(thread);
    found->is_detached = 1;
    if (found->state == ENDED && found != ending) {
        real_pthread_join(thread, NULL);
        found->state = UNUSED;
    }
    return 0;
}

static int hook_pthread_join(pthread_t thread, void **result)
{
    Thread *found = passes() || self == NULL ? NULL : thread_of(thread);
    if (found == NULL) return real_pthread_join(thread, result);
    while (found->state != ENDED && mode != OFF) wait_for_turn(found, 0, NULL);
    int error = real_pthread_join(thread, result);
    if (mode != OFF) found->state = UNUSED;
    return error;
}

static void (*real_pthread_exit)(void *);
static void hook_pthread_exit(void *result)
{
    end_of_thread();
    real_pthread_exit(result);
}

static int (*real_pthread_getcpuclockid)(pthread_t, clockid_t *);
static int hook_pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
    if (passes()) return real_pthread_getcpuclockid(thread, clock);
    Part part = {clock, sizeof *clock};
    if (mode == REPLAY) return (int)answer("pthread_getcpuclockid", 0, &part, 1);
    return (int)note("pthread_getcpuclockid", 0, real_pthread_getcpuclockid(thread, clock), &part, 1);
}

/* The interpreter's lock. What a thread does while it holds the mutex of that lock is not the program: how long it has
   to wait depends on free threads. */

static __thread int held, was_inside;
static pthread_mutex_t *mutexes[MOST_OF_THE_INTERPRETERS];
static pthread_cond_t *conditions[MOST_OF_THE_INTERPRETERS];

static void remember(void **known, void *object)
{
    int i = 0;
    while (i < MOST_OF_THE_INTERPRETERS && known[i] != NULL && known[i] != object) i++;
    if (i < MOST_OF_THE_INTERPRETERS) known[i] = object;
}

static int (*real_pthread_mutex_lock)(pthread_mutex_t *);
static int hook_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (held++ == 0) {
        was_inside = inside;
        inside = 0;
    }
    if (self != NULL) remember((void **)mutexes, mutex);
    return real_pthread_mutex_lock(mutex);
}

static int (*real_pthread_mutex_unlock)(pthread_mutex_t *);
static int hook_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int result = real_pthread_mutex_unlock(mutex);
    if (held > 0 && --held == 0) inside = was_inside;
    return result;
}

static int (*real_pthread_cond_signal)(pthread_cond_t *);
static int hook_pthread_cond_signal(pthread_cond_t *condition)
{
    if (self != NULL && held) remember((void **)conditions, condition);
    return real_pthread_cond_signal(condition);
}

/* The interpreter waits so for the thread that asked it for its lock; in a copy there may be no such thread. */
static int (*real_pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
static int hook_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return is_past ? 0 : real_pthread_cond_wait(condition, mutex);
}

void repair_interpreter(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    for (int i = 0; i < MOST_OF_THE_INTERPRETERS; i++) {
        if (mutexes[i] != NULL) pthread_mutex_init(mutexes[i], NULL);
        if (conditions[i] != NULL) pthread_cond_init(conditions[i], &attributes);
    }
    pthread_condattr_destroy(&attributes);
}

const Hook interpreter_hooks[] = {
    {"sem_wait", hook_sem_wait, (void **)&real_sem_wait},
    {"sem_trywait", hook_sem_trywait, (void **)&real_sem_trywait},
    {"sem_clockwait", hook_sem_clockwait, (void **)&real_sem_clockwait},
    {"sem_timedwait", hook_sem_timedwait, (void **)&real_sem_timedwait},
    {"sem_post", hook_sem_post, (void **)&real_sem_post},
    {"sem_init", hook_sem_init, (void **)&real_sem_init},
    {"sem_destroy", hook_sem_destroy, (void **)&real_sem_destroy},
    {"pthread_create", hook_pthread_create, (void **)&real_pthread_create},
    {"pthread_detach", hook_pthread_detach, (void **)&real_pthread_detach},
    {"pthread_join", hook_pthread_join, (void **)&real_pthread_join},
    {"pthread_exit", hook_pthread_exit, (void **)&real_pthread_exit},
    {"pthread_getcpuclockid", hook_pthread_getcpuclockid, (void **)&real_pthread_getcpuclockid},
    {"pthread_mutex_lock", hook_pthread_mutex_lock, (void **)&real_pthread_mutex_lock},
    {"pthread_mutex_unlock", hook_pthread_mutex_unlock, (void **)&real_pthread_mutex_unlock},
    {"pthread_cond_signal", hook_pthread_cond_signal, (void **)&real_pthread_cond_signal},
    {"pthread_cond_wait", hook_pthread_cond_wait, (void **)&real_pthread_cond_wait},
    {NULL, NULL, NULL},
};

const Hook thread_hooks[] = {
    {"sem_open", hook_sem_open, (void **)&real_sem_open},
    {"sem_close", hook_sem_close, (void **)&real_sem_close},
    {"sem_unlink", hook_sem_unlink, (void **)&real_sem_unlink},
    {"sem_getvalue", hook_sem_getvalue, (void **)&real_sem_getvalue},
    {"sem_wait", hook_other_sem_wait, (void **)&real_sem_wait},
    {"sem_timedwait", hook_other_sem_timedwait, (void **)&real_sem_timedwait},
    {"sem_trywait", hook_other_sem_trywait, (void **)&real_sem_trywait},
    {"sem_post", hook_other_sem_post, (void **)&real_sem_post},
    {NULL, NULL, NULL},
};
