/* Descriptors: their reads and writes, their control calls, and descriptors that report events. */

#include "calls.h"
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#define IF_DONE(size) (result == 0 ? (size) : 0)

/* Opening and closing */

static int takes_rights(int flags) { return (flags & O_CREAT) != 0 || (flags & __O_TMPFILE) == __O_TMPFILE; }

static int (*real_open)(const char *, int, ...);
int hook_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t rights = takes_rights(flags) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY && refuses()) return -1;
    if (passes()) return real_open(path, flags, rights);
    uint64_t key = hash_number(hash_text(path), NUMBERS(flags, rights));
    if (!before_blocking()) return holds_file((int)replay_call("open", key, NULL, 0), AT_FDCWD, path, flags);
    return holds((int)record_call("open", key, BLOCKING(real_open(path, flags, rights)), NULL, 0));
}
static int hook_open_2(const char *path, int flags) { return hook_open(path, flags); }

static int (*real_openat)(int, const char *, int, ...);
static int hook_openat(int folder, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t rights = takes_rights(flags) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY && refuses()) return -1;
    if (passes()) return real_openat(folder, path, flags, rights);
    uint64_t key = hash_number(hash_text(path), NUMBERS(folder, flags, rights));
    if (!before_blocking()) return holds_file((int)replay_call("openat", key, NULL, 0), folder, path, flags);
    return holds((int)record_call("openat", key, BLOCKING(real_openat(folder, path, flags, rights)), NULL, 0));
}
static int hook_openat_2(int folder, const char *path, int flags) { return hook_openat(folder, path, flags); }

static int (*real_creat)(const char *, mode_t);
static int hook_creat(const char *path, mode_t rights) { return hook_open(path, O_CREAT | O_WRONLY | O_TRUNC, rights); }

OPENS(memfd_create, (const char *name, unsigned flags), (name, flags), hash_text(name))

static int (*real_close)(int);
int hook_close(int descriptor)
{
    if (passes()) return real_close(descriptor);
    unsigned number = (unsigned)descriptor;
    if (!before_blocking()) return lets_go(number, number, (int)replay_call("close", number, NULL, 0));
    return lets_go(number, number, (int)record_call("close", number, BLOCKING(real_close(descriptor)), NULL, 0));
}

#define DUPLICATES(name, parameters, arguments, key)                                                                   \
    static int(*real_##name) parameters;                                                                               \
    static int hook_##name parameters                                                                                  \
    {                                                                                                                  \
        if (passes()) return real_##name arguments;                                                                    \
        if (!before_blocking()) return holds_copy((int)replay_call(#name, key, NULL, 0), descriptor);                  \
        return holds_copy((int)record_call(#name, key, BLOCKING(real_##name arguments), NULL, 0), descriptor);         \
    }
DUPLICATES(dup, (int descriptor), (descriptor), (uint64_t)descriptor)
DUPLICATES(dup2, (int descriptor, int other), (descriptor, other), NUMBERS(descriptor, other))
DUPLICATES(dup3, (int descriptor, int other, int flags), (descriptor, other, flags), NUMBERS(descriptor, other, flags))

static int (*real_pipe2)(int *, int);
int hook_pipe2(int *ends, int flags)
{
    if (passes()) return real_pipe2(ends, flags);
    Part part = {ends, 2 * sizeof *ends};
    if (!before_blocking()) return holds_two(ends, (int)replay_call("pipe2", (uint64_t)flags, &part, 1));
    return holds_two(ends, (int)record_call("pipe2", (uint64_t)flags, BLOCKING(real_pipe2(ends, flags)), &part, 1));
}

static int (*real_pipe)(int *);
static int hook_pipe(int *ends)
{
    if (passes()) return real_pipe(ends);
    Part part = {ends, 2 * sizeof *ends};
    if (!before_blocking()) return holds_two(ends, (int)replay_call("pipe", 0, &part, 1));
    return holds_two(ends, (int)record_call("pipe", 0, BLOCKING(real_pipe(ends)), &part, 1));
}

/* The debugger's stay open in the live program. */
static unsigned last_of_program(unsigned last)
{
    return mode == LIVE && last >= LOWEST_OF_OURS ? LOWEST_OF_OURS - 1 : last;
}

static int (*real_close_range)(unsigned, unsigned, int);
static int hook_close_range(unsigned first, unsigned last, int flags)
{
    if (passes()) return real_close_range(first, last, flags);
    uint64_t key = NUMBERS(first, last, flags);
    int only_marks = flags != 0;
    if (!before_blocking()) return lets_go(first, only_marks ? 0 : last, (int)replay_call("close_range", key, NULL, 0));
    int result = first >= LOWEST_OF_OURS && first <= last ? 0 : BLOCKING(real_close_range(first, last_of_program(last), flags));
    return lets_go(first, only_marks ? 0 : last, (int)record_call("close_range", key, result, NULL, 0));
}

static void (*real_closefrom)(int);
static void hook_closefrom(int first)
{
    if (passes()) real_closefrom(first);
    else if (mode == REPLAY) replay_call("closefrom", (uint64_t)first, NULL, 0);
    else record_call("closefrom", (uint64_t)first, close_range((unsigned)first, last_of_program(~0u), 0), NULL, 0);
    if (!passes()) lets_go((unsigned)first, ~0u, 0);
}

/* Reading and writing */


int64_t count_written(int descriptor, int64_t size)
{
    if ((descriptor == 1 || descriptor == 2) && size > 0)
        __atomic_fetch_add(&bytes_written, (uint64_t)size, __ATOMIC_RELAXED);
    return size;
}

static int64_t answer_write(const char *call, uint64_t key, int descriptor, const void *place)
{
    int64_t written = count_written(descriptor, moves_by(descriptor, replay_call(call, key, NULL, 0)));
    above.on_output(descriptor, place, written);
    return written;
}

static size_t size_of(const struct iovec *parts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++) size += parts[i].iov_len;
    return size;
}

static uint64_t hash_of(uint64_t seed, const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++) seed = hash_written(seed, parts[i].iov_base, parts[i].iov_len);
    return seed;
}

#define SIZE_READ (result > 0 ? result : 0)

static ssize_t (*real_read)(int, void *, size_t);
ssize_t hook_read(int descriptor, void *place, size_t size)
{
    if (passes()) return real_read(descriptor, place, size);
    Part part = {place, size};
    uint64_t key = NUMBERS(descriptor, size);
    if (!before_blocking()) return moves_by(descriptor, replay_call("read", key, &part, 1));
    ssize_t result = BLOCKING(real_read(descriptor, place, size));
    part.size = (size_t)SIZE_READ;
    return record_call("read", key, result, &part, 1);
}
static ssize_t hook_read_chk(int descriptor, void *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_read(descriptor, place, size);
}
FILLS(ssize_t, pread, (int file, void *place, size_t size, off_t offset), (file, place, size, offset),
      NUMBERS(file, size, offset), place, size, SIZE_READ)
static ssize_t hook_pread_chk(int file, void *place, size_t size, off_t offset, size_t Py_UNUSED(room))
{
    return hook_pread(file, place, size, offset);
}

static ssize_t (*real_write)(int, const void *, size_t);
ssize_t hook_write(int descriptor, const void *place, size_t size)
{
    if (passes()) return real_write(descriptor, place, size);
    uint64_t key = hash_written((uint64_t)descriptor, place, size);
    if (!before_blocking()) return answer_write("write", key, descriptor, place);
    ssize_t written = BLOCKING(real_write(descriptor, place, size));
    return record_call("write", key, count_written(descriptor, written), NULL, 0);
}
CHANGES(ssize_t, pwrite, (int file, const void *place, size_t size, off_t offset), (file, place, size, offset),
        hash_written(NUMBERS(file, offset), place, size))

/* Data that is read into several places is recorded as one after the other. */
static ssize_t scatter(const char *call, uint64_t key, const struct iovec *parts, int count)
{
    const void *place;
    size_t size;
    ssize_t result = replay_call_whole(call, key, &place, &size);
    for (const char *from = place; size > 0; parts++, count--) {
        if (count == 0) above.on_divergence(call, call, ticks);
        size_t taken = size < parts->iov_len ? size : parts->iov_len;
        memcpy(parts->iov_base, from, taken);
        from += taken;
        size -= taken;
    }
    return result;
}

static ssize_t gather(const char *call, uint64_t key, ssize_t result, const struct iovec *parts, int count)
{
    int error = errno;
    Part part = {NULL, result > 0 ? (size_t)result : 0};
    if (part.size > 0 && (part.place = malloc(part.size)) != NULL) {
        size_t done = 0;
        for (int i = 0; i < count && done < part.size; i++) {
            size_t taken = part.size - done < parts[i].iov_len ? part.size - done : parts[i].iov_len;
            memcpy((char *)part.place + done, parts[i].iov_base, taken);
            done += taken;
        }
    }
    errno = error;
    record_call(call, key, result, &part, 1);
    free(part.place);
    return result;
}

static ssize_t stays(int Py_UNUSED(file), ssize_t size) { return size; }

#define READS_PARTS(name, parameters, arguments, numbers, moves)                                                       \
    static ssize_t(*real_##name) parameters;                                                                           \
    static ssize_t hook_##name parameters                                                                              \
    {                                                                                                                  \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t key = hash_number(numbers, size_of(parts, count));                                                    \
        if (!before_blocking()) return moves(file, scatter(#name, key, parts, count));                                 \
        return gather(#name, key, BLOCKING(real_##name arguments), parts, count);                                      \
    }

READS_PARTS(readv, (int file, const struct iovec *parts, int count), (file, parts, count), NUMBERS(file), moves_by)
READS_PARTS(preadv, (int file, const struct iovec *parts, int count, off_t offset), (file, parts, count, offset),
            NUMBERS(file, offset), stays)
READS_PARTS(preadv2, (int file, const struct iovec *parts, int count, off_t offset, int flags),
            (file, parts, count, offset, flags), NUMBERS(file, offset, flags), stays)

static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t hook_writev(int file, const struct iovec *parts, int count)
{
    if (passes()) return real_writev(file, parts, count);
    uint64_t key = hash_of((uint64_t)file, parts, count);
    if (!before_blocking()) return count_written(file, moves_by(file, replay_call("writev", key, NULL, 0)));
    return record_call("writev", key, count_written(file, BLOCKING(real_writev(file, parts, count))), NULL, 0);
}
CHANGES(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t offset), (file, parts, count, offset),
        hash_of(NUMBERS(file, offset), parts, count))
CHANGES(ssize_t, pwritev2, (int file, const struct iovec *parts, int count, off_t offset, int flags),
        (file, parts, count, offset, flags), hash_of(NUMBERS(file, offset, flags), parts, count))

static off_t (*real_lseek)(int, off_t, int);
off_t hook_lseek(int file, off_t offset, int from)
{
    if (passes()) return real_lseek(file, offset, from);
    uint64_t key = NUMBERS(file, offset, from);
    if (!before_blocking()) return moves_to(file, replay_call("lseek", key, NULL, 0));
    return record_call("lseek", key, BLOCKING(real_lseek(file, offset, from)), NULL, 0);
}

CHANGES(int, fsync, (int file), (file), (uint64_t)file)
CHANGES(int, fdatasync, (int file), (file), (uint64_t)file)
CHANGES(int, ftruncate, (int file, off_t size), (file, size), NUMBERS(file, size))
CHANGES(int, flock, (int file, int kind), (file, kind), NUMBERS(file, kind))
CHANGES(int, lockf, (int file, int kind, off_t size), (file, kind, size), NUMBERS(file, kind, size))
READS(int, posix_fadvise, (int file, off_t offset, off_t size, int kind), (file, offset, size, kind),
      NUMBERS(file, offset, size, kind))
CHANGES(int, posix_fallocate, (int file, off_t offset, off_t size), (file, offset, size), NUMBERS(file, offset, size))
CHANGES(int, fallocate, (int file, int kind, off_t offset, off_t size), (file, kind, offset, size),
        NUMBERS(file, kind, offset, size))

static void (*real_sync)(void);
static void hook_sync(void)
{
    if (passes() || mode == LIVE) real_sync();
}

static ssize_t (*real_sendfile)(int, int, off_t *, size_t);
static ssize_t hook_sendfile(int to, int from, off_t *offset, size_t size)
{
    if (refuses()) return -1;
    if (passes()) return real_sendfile(to, from, offset, size);
    uint64_t key = NUMBERS(to, from, size);
    Part part = {offset, offset == NULL ? 0 : sizeof *offset};
    if (!before_blocking()) return count_written(to, moves_by(to, replay_call("sendfile", key, &part, 1)));
    ssize_t sent = BLOCKING(real_sendfile(to, from, offset, size));
    return record_call("sendfile", key, count_written(to, sent), &part, 1);
}

#define MOVES(name)                                                                                                    \
    static ssize_t (*real_##name)(int, off_t *, int, off_t *, size_t, unsigned);                                       \
    static ssize_t hook_##name(int from, off_t *begin, int to, off_t *other, size_t size, unsigned flags)              \
    {                                                                                                                  \
        if (refuses()) return -1;                                                                                      \
        if (passes()) return real_##name(from, begin, to, other, size, flags);                                         \
        uint64_t key = NUMBERS(from, to, size, flags);                                                                 \
        Part parts[] = {{begin, begin == NULL ? 0 : sizeof *begin}, {other, other == NULL ? 0 : sizeof *other}};       \
        if (!before_blocking()) return replay_call(#name, key, parts, 2);                                              \
        return record_call(#name, key, BLOCKING(real_##name(from, begin, to, other, size, flags)), parts, 2);          \
    }

MOVES(splice)
MOVES(copy_file_range)

/* Control */

static int (*real_fcntl)(int, int, ...);
static int hook_fcntl(int descriptor, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    if (passes()) return real_fcntl(descriptor, command, argument);
    int takes_lock = command == F_GETLK || command == F_SETLK || command == F_SETLKW || command == F_OFD_GETLK ||
                     command == F_OFD_SETLK || command == F_OFD_SETLKW;
    int takes_owner = command == F_GETOWN_EX || command == F_SETOWN_EX;
    int takes_none = command == F_GETFD || command == F_GETFL || command == F_GETOWN;
    Part part = {NULL, takes_lock ? sizeof(struct flock) : takes_owner ? sizeof(struct f_owner_ex) : 0};
    uint64_t key = NUMBERS(descriptor, command);
    if (part.size > 0) part.place = (void *)argument;
    else if (!takes_none) key = hash_number(key, (uint64_t)(uint32_t)argument); /* an int was given, at most */
    int result = before_blocking() ? (int)record_call("fcntl", key, BLOCKING(real_fcntl(descriptor, command, argument)), &part, part.size > 0)
                                   : (int)replay_call("fcntl", key, &part, part.size > 0);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? holds_copy(result, descriptor) : result;
}

/* How much a request writes: newer ones say so in their number. */
static size_t filled_by(unsigned long request)
{
    switch (request) {
    case TCGETS: return 36;
    case TIOCGWINSZ: return sizeof(struct winsize);
    case TIOCGPGRP:
    case TIOCGSID:
    case TIOCOUTQ:
    case TIOCMGET:
    case TIOCGETD:
    case FIONREAD: return sizeof(int);
    }
    if (request >= 0x8900 && request < 0x8a00) return sizeof(struct ifreq);
    return request > 0xffff && _IOC_DIR(request) & _IOC_READ ? _IOC_SIZE(request) : 0;
}

static int (*real_ioctl)(int, unsigned long, ...);
static int hook_ioctl(int descriptor, unsigned long request, ...)
{
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (passes()) return real_ioctl(descriptor, request, argument);
    uint64_t key = NUMBERS(descriptor, (uint32_t)request);
    Part parts[] = {{argument, filled_by((uint32_t)request)}, {NULL, 0}};
    struct ifconf *list = (uint32_t)request == SIOCGIFCONF ? argument : NULL; /* with the caller's place for its rows */
    if (list != NULL) {
        parts[0] = (Part){&list->ifc_len, sizeof list->ifc_len};
        if (list->ifc_buf != NULL) parts[1] = (Part){list->ifc_buf, (size_t)list->ifc_len};
    }
    int count = (parts[0].size > 0) + (parts[1].place != NULL);
    if (!before_blocking()) return (int)replay_call("ioctl", key, parts, count);
    int result = BLOCKING(real_ioctl(descriptor, request, argument));
    if (count == 2) parts[1].size = (size_t)list->ifc_len;
    return (int)record_call("ioctl", key, result, parts, result >= 0 ? count : 0);
}

/* Events */

OPENS(eventfd, (unsigned value, int flags), (value, flags), NUMBERS(value, flags))
FILLS(int, eventfd_read, (int descriptor, eventfd_t *value), (descriptor, value), (uint64_t)descriptor, value,
      sizeof *value, IF_DONE(sizeof *value))
CHANGES(int, eventfd_write, (int descriptor, eventfd_t value), (descriptor, value), NUMBERS(descriptor, value))
OPENS(timerfd_create, (clockid_t clock, int flags), (clock, flags), NUMBERS(clock, flags))
FILLS(int, timerfd_gettime, (int timer, struct itimerspec *left), (timer, left), (uint64_t)timer, left, sizeof *left,
      IF_DONE(sizeof *left))
FILLS(int, timerfd_settime, (int timer, int flags, const struct itimerspec *wanted, struct itimerspec *old),
      (timer, flags, wanted, old), NUMBERS(timer, flags), old, sizeof *old, IF_DONE(sizeof *old))
OPENS(inotify_init, (void), (), 0)
OPENS(inotify_init1, (int flags), (flags), (uint64_t)flags)
READS(int, inotify_add_watch, (int watcher, const char *path, uint32_t kinds), (watcher, path, kinds),
      hash_number(hash_text(path), NUMBERS(watcher, kinds)))
READS(int, inotify_rm_watch, (int watcher, int watch), (watcher, watch), NUMBERS(watcher, watch))
OPENS(signalfd, (int descriptor, const sigset_t *signals, int flags), (descriptor, signals, flags),
      NUMBERS(descriptor, flags))

const Hook descriptor_hooks[] = {
    ROW(open),
    ALIAS(open64, open),
    {"__open_2", hook_open_2, (void **)&real_open},
    {"__open64_2", hook_open_2, (void **)&real_open},
    ROW(openat),
    ALIAS(openat64, openat),
    {"__openat_2", hook_openat_2, (void **)&real_openat},
    {"__openat64_2", hook_openat_2, (void **)&real_openat},
    ROW(creat),
    ALIAS(creat64, creat),
    ROW(memfd_create),
    ROW(close),
    ROW(dup),
    ROW(dup2),
    ROW(dup3),
    ROW(pipe),
    ROW(pipe2),
    ROW(close_range),
    ROW(closefrom),
    ROW(read),
    {"__read_chk", hook_read_chk, (void **)&real_read},
    ROW(pread),
    ALIAS(pread64, pread),
    {"__pread_chk", hook_pread_chk, (void **)&real_pread},
    {"__pread64_chk", hook_pread_chk, (void **)&real_pread},
    ROW(write),
    ROW(pwrite),
    ALIAS(pwrite64, pwrite),
    ROW(readv),
    ROW(preadv),
    ALIAS(preadv64, preadv),
    ROW(preadv2),
    ALIAS(preadv64v2, preadv2),
    ROW(writev),
    ROW(pwritev),
    ALIAS(pwritev64, pwritev),
    ROW(pwritev2),
    ALIAS(pwritev64v2, pwritev2),
    ROW(lseek),
    ALIAS(lseek64, lseek),
    ROW(fsync),
    ROW(fdatasync),
    ROW(ftruncate),
    ALIAS(ftruncate64, ftruncate),
    ROW(flock),
    ROW(lockf),
    ALIAS(lockf64, lockf),
    ROW(posix_fadvise),
    ALIAS(posix_fadvise64, posix_fadvise),
    ROW(posix_fallocate),
    ALIAS(posix_fallocate64, posix_fallocate),
    ROW(fallocate),
    ALIAS(fallocate64, fallocate),
    ROW(sync),
    ROW(sendfile),
    ALIAS(sendfile64, sendfile),
    ROW(splice),
    ROW(copy_file_range),
    ROW(fcntl),
    ALIAS(fcntl64, fcntl),
    ROW(ioctl),
    ROW(eventfd),
    ROW(eventfd_read),
    ROW(eventfd_write),
    ROW(timerfd_create),
    ROW(timerfd_gettime),
    ROW(timerfd_settime),
    ROW(inotify_init),
    ROW(inotify_init1),
    ROW(inotify_add_watch),
    ROW(inotify_rm_watch),
    ROW(signalfd),
    LAST_ROW,
};
