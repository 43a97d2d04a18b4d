/* Waiting for descriptors. A replay does not wait: it gets the recorded result at once. */

#include "open_files.h"
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

static uint64_t hash_polled(uint64_t seed, const struct pollfd *polled, nfds_t count)
{
    uint64_t key = hash_number(seed, count);
    for (nfds_t i = 0; i < count; i++) key = hash_number(hash_number(key, (uint64_t)polled[i].fd), (uint64_t)polled[i].events);
    return key;
}

static uint64_t hash_time(uint64_t seed, const struct timespec *time)
{
    if (time == NULL) return hash_number(seed, ~(uint64_t)0);
    return hash_number(hash_number(seed, (uint64_t)time->tv_sec), (uint64_t)time->tv_nsec);
}

static int (*real_poll)(struct pollfd *, nfds_t, int);
static int hook_poll(struct pollfd *polled, nfds_t count, int timeout)
{
    if (passes()) return real_poll(polled, count, timeout);
    uint64_t key = hash_polled((uint64_t)timeout, polled, count);
    Part part = {polled, count * sizeof *polled};
    if (!before_blocking()) return (int)replay_call("poll", key, &part, 1);
    return (int)record_call("poll", key, BLOCKING(real_poll(polled, count, timeout)), &part, 1);
}

static int (*real_poll_chk)(struct pollfd *, nfds_t, int, size_t);
static int hook_poll_chk(struct pollfd *polled, nfds_t count, int timeout, size_t room)
{
    if (passes() || count > room / sizeof *polled) return real_poll_chk(polled, count, timeout, room);
    return hook_poll(polled, count, timeout);
}

static int (*real_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static int hook_ppoll(struct pollfd *polled, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    if (passes()) return real_ppoll(polled, count, timeout, mask);
    uint64_t key = hash_polled(hash_time(0, timeout), polled, count);
    Part part = {polled, count * sizeof *polled};
    if (!before_blocking()) return (int)replay_call("ppoll", key, &part, 1);
    return (int)record_call("ppoll", key, BLOCKING(real_ppoll(polled, count, timeout, mask)), &part, 1);
}

static int (*real_ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
static int hook_ppoll_chk(struct pollfd *polled, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                          size_t room)
{
    if (passes() || count > room / sizeof *polled) return real_ppoll_chk(polled, count, timeout, mask, room);
    return hook_ppoll(polled, count, timeout, mask);
}

/* Whole words of a set are read and written. */
static size_t set_size(int count)
{
    size_t word = 8 * sizeof(fd_mask);
    return count <= 0 ? 0 : ((size_t)count + word - 1) / word * sizeof(fd_mask);
}

static uint64_t hash_sets(int count, fd_set *const sets[3])
{
    uint64_t key = (uint64_t)count;
    for (int i = 0; i < 3; i++) key = sets[i] == NULL ? hash_number(key, 1) : hash_bytes(key, sets[i], set_size(count));
    return key;
}

static int (*real_select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
static int hook_select(int count, fd_set *read, fd_set *written, fd_set *other, struct timeval *timeout)
{
    if (passes()) return real_select(count, read, written, other, timeout);
    fd_set *sets[] = {read, written, other};
    uint64_t key = hash_sets(count, sets);
    Part parts[4] = {{timeout, timeout == NULL ? 0 : sizeof *timeout}}; /* Linux writes the remaining time */
    for (int i = 0; i < 3; i++) parts[i + 1] = (Part){sets[i], sets[i] == NULL ? 0 : set_size(count)};
    if (!before_blocking()) return (int)replay_call("select", key, parts, 4);
    return (int)record_call("select", key, BLOCKING(real_select(count, read, written, other, timeout)), parts, 4);
}

static int (*real_pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
static int hook_pselect(int count, fd_set *read, fd_set *written, fd_set *other, const struct timespec *timeout,
                        const sigset_t *mask)
{
    if (passes()) return real_pselect(count, read, written, other, timeout, mask);
    fd_set *sets[] = {read, written, other};
    uint64_t key = hash_time(hash_sets(count, sets), timeout);
    Part parts[3];
    for (int i = 0; i < 3; i++) parts[i] = (Part){sets[i], sets[i] == NULL ? 0 : set_size(count)};
    if (!before_blocking()) return (int)replay_call("pselect", key, parts, 3);
    return (int)record_call("pselect", key, BLOCKING(real_pselect(count, read, written, other, timeout, mask)), parts, 3);
}

static int (*real_epoll_create)(int);
static int hook_epoll_create(int size)
{
    if (passes()) return real_epoll_create(size);
    if (!before_blocking()) return holds((int)replay_call("epoll_create", (uint64_t)size, NULL, 0));
    return holds((int)record_call("epoll_create", (uint64_t)size, BLOCKING(real_epoll_create(size)), NULL, 0));
}

static int (*real_epoll_create1)(int);
static int hook_epoll_create1(int flags)
{
    if (passes()) return real_epoll_create1(flags);
    if (!before_blocking()) return holds((int)replay_call("epoll_create1", (uint64_t)flags, NULL, 0));
    return holds((int)record_call("epoll_create1", (uint64_t)flags, BLOCKING(real_epoll_create1(flags)), NULL, 0));
}

static int (*real_epoll_ctl)(int, int, int, struct epoll_event *);
static int hook_epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event)
{
    if (passes()) return real_epoll_ctl(epoll, operation, descriptor, event);
    uint64_t key = hash_three(epoll, operation, descriptor);
    if (event != NULL && operation != EPOLL_CTL_DEL) key = hash_number(key, event->events);
    if (!before_blocking()) return (int)replay_call("epoll_ctl", key, NULL, 0);
    return (int)record_call("epoll_ctl", key, BLOCKING(real_epoll_ctl(epoll, operation, descriptor, event)), NULL, 0);
}

static int (*real_epoll_wait)(int, struct epoll_event *, int, int);
static int hook_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
    if (passes()) return real_epoll_wait(epoll, events, most, timeout);
    uint64_t key = hash_three(epoll, most, timeout);
    Part part = {events, most > 0 ? (size_t)most * sizeof *events : 0};
    if (!before_blocking()) return (int)replay_call("epoll_wait", key, &part, 1);
    int result = BLOCKING(real_epoll_wait(epoll, events, most, timeout));
    part.size = result > 0 ? (size_t)result * sizeof *events : 0;
    return (int)record_call("epoll_wait", key, result, &part, 1);
}

static int (*real_epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
static int hook_epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    if (passes()) return real_epoll_pwait(epoll, events, most, timeout, mask);
    uint64_t key = hash_three(epoll, most, timeout);
    Part part = {events, most > 0 ? (size_t)most * sizeof *events : 0};
    if (!before_blocking()) return (int)replay_call("epoll_pwait", key, &part, 1);
    int result = BLOCKING(real_epoll_pwait(epoll, events, most, timeout, mask));
    part.size = result > 0 ? (size_t)result * sizeof *events : 0;
    return (int)record_call("epoll_pwait", key, result, &part, 1);
}

static int (*real_epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
static int hook_epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
                             const sigset_t *mask)
{
    if (passes()) return real_epoll_pwait2(epoll, events, most, timeout, mask);
    uint64_t key = hash_time(hash_three(epoll, most, 0), timeout);
    Part part = {events, most > 0 ? (size_t)most * sizeof *events : 0};
    if (!before_blocking()) return (int)replay_call("epoll_pwait2", key, &part, 1);
    int result = BLOCKING(real_epoll_pwait2(epoll, events, most, timeout, mask));
    part.size = result > 0 ? (size_t)result * sizeof *events : 0;
    return (int)record_call("epoll_pwait2", key, result, &part, 1);
}

const Hook waiting_hooks[] = {
    {"poll", hook_poll, (void **)&real_poll},
    {"__poll_chk", hook_poll_chk, (void **)&real_poll_chk},
    {"ppoll", hook_ppoll, (void **)&real_ppoll},
    {"__ppoll_chk", hook_ppoll_chk, (void **)&real_ppoll_chk},
    {"select", hook_select, (void **)&real_select},
    {"pselect", hook_pselect, (void **)&real_pselect},
    {"epoll_create", hook_epoll_create, (void **)&real_epoll_create},
    {"epoll_create1", hook_epoll_create1, (void **)&real_epoll_create1},
    {"epoll_ctl", hook_epoll_ctl, (void **)&real_epoll_ctl},
    {"epoll_wait", hook_epoll_wait, (void **)&real_epoll_wait},
    {"epoll_pwait", hook_epoll_pwait, (void **)&real_epoll_pwait},
    {"epoll_pwait2", hook_epoll_pwait2, (void **)&real_epoll_pwait2},
    {NULL, NULL, NULL},
};
