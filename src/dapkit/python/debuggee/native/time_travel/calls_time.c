/* Clocks, sleeping, and random numbers of the system. */

#include "time_travel.h"
#include <stdarg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int hook_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock == CLOCK_MONOTONIC &&
        is_time_of_lock(__builtin_frame_address(0), __builtin_return_address(0)))
        return real_clock_gettime(clock, time);
    if (is_time_of_collection()) return real_clock_gettime(clock, time);
    if (passes()) return real_clock_gettime(clock, time);
    Part part = {time, sizeof *time};
    if (mode == REPLAY) {
        int result = (int)replay_call("clock_gettime", (uint64_t)clock, &part, 1);
        if (clock == CLOCK_REALTIME) program_time(time->tv_sec, time->tv_nsec);
        return result;
    }
    return (int)record_call("clock_gettime", (uint64_t)clock, real_clock_gettime(clock, time), &part, 1);
}

static int (*real_gettimeofday)(struct timeval *, void *);
static int hook_gettimeofday(struct timeval *time, void *zone)
{
    if (passes()) return real_gettimeofday(time, zone);
    Part part = {time, sizeof *time};
    if (mode == REPLAY) return (int)replay_call("gettimeofday", 0, &part, 1);
    return (int)record_call("gettimeofday", 0, real_gettimeofday(time, zone), &part, 1);
}

static time_t (*real_time)(time_t *);
static time_t hook_time(time_t *place)
{
    if (passes()) return real_time(place);
    time_t result = mode == REPLAY ? (time_t)replay_call("time", 0, NULL, 0) : (time_t)record_call("time", 0, real_time(NULL), NULL, 0);
    if (place != NULL) *place = result;
    return result;
}

static clock_t (*real_clock)(void);
static clock_t hook_clock(void)
{
    if (passes()) return real_clock();
    if (mode == REPLAY) return (clock_t)replay_call("clock", 0, NULL, 0);
    return (clock_t)record_call("clock", 0, real_clock(), NULL, 0);
}

static clock_t (*real_times)(struct tms *);
static clock_t hook_times(struct tms *times)
{
    if (passes()) return real_times(times);
    Part part = {times, sizeof *times};
    if (mode == REPLAY) return (clock_t)replay_call("times", 0, &part, 1);
    return (clock_t)record_call("times", 0, real_times(times), &part, 1);
}

static int (*real_getrusage)(__rusage_who_t, struct rusage *);
static int hook_getrusage(__rusage_who_t who, struct rusage *usage)
{
    if (passes()) return real_getrusage(who, usage);
    Part part = {usage, sizeof *usage};
    if (mode == REPLAY) return (int)replay_call("getrusage", (uint64_t)who, &part, 1);
    return (int)record_call("getrusage", (uint64_t)who, real_getrusage(who, usage), &part, 1);
}

static int (*real_clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
static int hook_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    if (passes()) return real_clock_nanosleep(clock, flags, wanted, left);
    uint64_t key = hash_number((uint64_t)clock, (uint64_t)flags);
    Part part = {left, left == NULL ? 0 : sizeof *left};
    if (before_blocking()) {
        int result = real_clock_nanosleep(clock, flags, wanted, left);
        after_blocking();
        return (int)record_call("clock_nanosleep", key, result, &part, left != NULL);
    }
    return (int)replay_call("clock_nanosleep", key, &part, left != NULL);
}

static int (*real_nanosleep)(const struct timespec *, struct timespec *);
static int hook_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (passes()) return real_nanosleep(wanted, left);
    Part part = {left, left == NULL ? 0 : sizeof *left};
    if (before_blocking()) {
        int result = real_nanosleep(wanted, left);
        after_blocking();
        return (int)record_call("nanosleep", 0, result, &part, left != NULL);
    }
    return (int)replay_call("nanosleep", 0, &part, left != NULL);
}

static ssize_t (*real_getrandom)(void *, size_t, unsigned);
static ssize_t hook_getrandom(void *place, size_t size, unsigned flags)
{
    if (passes()) return real_getrandom(place, size, flags);
    Part part = {place, size};
    if (mode == REPLAY) return (ssize_t)replay_call("getrandom", size, &part, 1);
    ssize_t result = real_getrandom(place, size, flags);
    part.size = result > 0 ? (size_t)result : 0;
    return (ssize_t)record_call("getrandom", size, result, &part, 1);
}

static int (*real_getentropy)(void *, size_t);
static int hook_getentropy(void *place, size_t size)
{
    if (passes()) return real_getentropy(place, size);
    Part part = {place, size};
    if (mode == REPLAY) return (int)replay_call("getentropy", size, &part, 1);
    return (int)record_call("getentropy", size, real_getentropy(place, size), &part, 1);
}

static long (*real_syscall)(long, long, long, long, long, long, long);
static long hook_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    int is_policy = number == SYS_mbind || number == SYS_get_mempolicy; /* of memory; OpenBLAS sets it by any thread */
    if (passes() || is_policy) return real_syscall(number, a, b, c, d, e, f);
    uint64_t key = (uint64_t)number;
    if (number == SYS_io_uring_setup) { /* its results come by memory that the system shares; libraries do without */
        errno = ENOSYS;
        return -1;
    }
    if (number != SYS_getrandom) {
        if (mode == REPLAY) return (long)replay_call("syscall", key, NULL, 0);
        return (long)record_call("syscall", key, real_syscall(number, a, b, c, d, e, f), NULL, 0);
    }
    Part part = {(void *)a, (size_t)b};
    if (mode == REPLAY) return (long)replay_call("syscall", key, &part, 1);
    long result = real_syscall(number, a, b, c, d, e, f);
    part.size = result > 0 ? (size_t)result : 0;
    return (long)record_call("syscall", key, result, &part, 1);
}

const Hook time_hooks[] = {
    {"clock_gettime", hook_clock_gettime, (void **)&real_clock_gettime},
    {"gettimeofday", hook_gettimeofday, (void **)&real_gettimeofday},
    {"time", hook_time, (void **)&real_time},
    {"clock", hook_clock, (void **)&real_clock},
    {"times", hook_times, (void **)&real_times},
    {"getrusage", hook_getrusage, (void **)&real_getrusage},
    {"clock_nanosleep", hook_clock_nanosleep, (void **)&real_clock_nanosleep},
    {"nanosleep", hook_nanosleep, (void **)&real_nanosleep},
    {"getrandom", hook_getrandom, (void **)&real_getrandom},
    {"getentropy", hook_getentropy, (void **)&real_getentropy},
    {"syscall", hook_syscall, (void **)&real_syscall},
    {NULL, NULL, NULL},
};
