/* Threads that take turns, see scheduler.c. */

#ifndef DAPKIT_TRAVEL_TURNS_H
#define DAPKIT_TRAVEL_TURNS_H

#include "time_travel.h"
#include <pthread.h>
#include <semaphore.h>

#pragma GCC visibility push(hidden)

#define MOST_THREADS 4096

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

extern Thread threads[MOST_THREADS];
extern int highest_thread;        /* those above were never used */
extern Thread *ending;            /* has given its turn away, and is about to be gone */
extern pthread_mutex_t turn_lock; /* of all this */
extern __thread Thread *self __attribute__((tls_model("initial-exec")));

extern int (*real_pthread_join)(pthread_t, void **);

/* All but the last with that lock. */
void pass_turn(Thread *from);
void wake(const void *object);              /* have the one who has waited longest for it try again */
void wake_from_outside(const void *object); /* the same for a thread that is not the program's */
Reason wait_for_turn(const void *object, clockid_t clock, const struct timespec *deadline);
Reason await_turn(clockid_t clock, const struct timespec *deadline);

#pragma GCC visibility pop

#endif
