/* Semaphores: locks of Python, and those with names, which belong to several processes. */

#include "scheduler.h"
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

#define MOST_SHARED 1024

static int (*real_sem_wait)(sem_t *);
static int (*real_sem_trywait)(sem_t *);
static int (*real_sem_timedwait)(sem_t *, const struct timespec *);
static int (*real_sem_post)(sem_t *);

/* Semaphores with names belong to several processes (multiprocessing): operations on them are recorded, and a replay, which
   still has the live program's memory of them, does not touch them. */

static sem_t *shared[MOST_SHARED];
static int shared_count;

static int is_shared(const sem_t *semaphore)
{
    for (int i = 0; i < shared_count; i++)
        if (shared[i] == semaphore) return 1;
    return 0;
}

/* A replay process does not have the memory of semaphores that were opened since its checkpoint, and would change the live
   program's: code that the debugger executes in it cannot use them. */
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
    sem_t *opened = mode == REPLAY ? (sem_t *)replay_call("sem_open", key, NULL, 0) : real_sem_open(name, flags, permissions, value);
    if (mode == LIVE) record_call("sem_open", key, (int64_t)opened, NULL, 0);
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
    if (mode == REPLAY) return (int)replay_call("sem_close", (uint64_t)semaphore, NULL, 0);
    return (int)record_call("sem_close", (uint64_t)semaphore, real_sem_close(semaphore), NULL, 0);
}

static int (*real_sem_unlink)(const char *);
static int hook_sem_unlink(const char *name)
{
    if (passes()) return real_sem_unlink(name);
    if (mode == REPLAY) return (int)replay_call("sem_unlink", hash_text(name), NULL, 0);
    return (int)record_call("sem_unlink", hash_text(name), real_sem_unlink(name), NULL, 0);
}

static int (*real_sem_getvalue)(sem_t *, int *);
static int hook_sem_getvalue(sem_t *semaphore, int *value)
{
    if (refuses_shared(semaphore)) return -1;
    if (passes() || !is_shared(semaphore)) return real_sem_getvalue(semaphore, value);
    Part part = {value, sizeof *value};
    if (mode == REPLAY) return (int)replay_call("sem_getvalue", (uint64_t)semaphore, &part, 1);
    return (int)record_call("sem_getvalue", (uint64_t)semaphore, real_sem_getvalue(semaphore, value), &part, 1);
}

static int post_shared(sem_t *semaphore)
{
    if (mode == REPLAY) return (int)replay_call("sem_post", (uint64_t)semaphore, NULL, 0);
    return (int)record_call("sem_post", (uint64_t)semaphore, real_sem_post(semaphore), NULL, 0);
}

static int try_shared(sem_t *semaphore)
{
    if (mode == REPLAY) return (int)replay_call("sem_trywait", (uint64_t)semaphore, NULL, 0);
    return (int)record_call("sem_trywait", (uint64_t)semaphore, real_sem_trywait(semaphore), NULL, 0);
}

static int wait_for_shared(sem_t *semaphore, const struct timespec *deadline)
{
    if (!before_blocking()) return (int)replay_call("sem_wait", (uint64_t)semaphore, NULL, 0);
    int result = deadline == NULL ? real_sem_wait(semaphore) : real_sem_timedwait(semaphore, deadline);
    after_blocking();
    return (int)record_call("sem_wait", (uint64_t)semaphore, result, NULL, 0);
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
            replay_call("sem_trywait", key, NULL, 0);
            return -1;
        }
        if (real_sem_trywait(semaphore) == 0) return 0;
        struct timespec deadline;
        clock_gettime(CLOCK_MONOTONIC, &deadline);
        deadline.tv_sec += 5;
        if (sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline) == 0) return 0;
        diverged_here("sem_trywait");
    }
    if (real_sem_trywait(semaphore) == 0) return 0;
    if (errno != EAGAIN) return -1;
    return (int)record_call("sem_trywait", key, -1, NULL, 0);
}

/* Returns the result of `sem_wait`, or 1: the call must really wait. */
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
    if (!inside) pthread_mutex_lock(&turn_lock);
    int result = real_sem_post(semaphore);
    if (inside) {
        pthread_mutex_lock(&turn_lock);
        wake(semaphore);
    } else {
        wake_from_outside(semaphore);
    }
    pthread_mutex_unlock(&turn_lock);
    return result;
}

const Hook interpreter_semaphore_hooks[] = {
    {"sem_wait", hook_sem_wait, (void **)&real_sem_wait},
    {"sem_trywait", hook_sem_trywait, (void **)&real_sem_trywait},
    {"sem_clockwait", hook_sem_clockwait, (void **)&real_sem_clockwait},
    {"sem_timedwait", hook_sem_timedwait, (void **)&real_sem_timedwait},
    {"sem_post", hook_sem_post, (void **)&real_sem_post},
    {"sem_init", hook_sem_init, (void **)&real_sem_init},
    {"sem_destroy", hook_sem_destroy, (void **)&real_sem_destroy},
    {NULL, NULL, NULL},
};

const Hook semaphore_hooks[] = {
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
