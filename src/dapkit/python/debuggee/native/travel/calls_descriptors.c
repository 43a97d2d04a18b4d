/* Descriptors: what they read and write, terminals, mappings of files, and streams of the C library.

   A stream that the program opens is one of the C library over our own reading and writing, so its buffer is the same
   when it is executed again. Of the three standard ones only what is read from `stdin` is noted.

   A mapping of a file is private memory of the same address when it is executed again, and so is shared memory in a copy:
   it would change under it. */

#include "calls.h"
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
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
    if (!before_blocking()) return holds_file((int)answer("open", key, NULL, 0), AT_FDCWD, path, flags);
    return holds((int)note("open", key, BLOCKING(real_open(path, flags, rights)), NULL, 0));
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
    if (!before_blocking()) return holds_file((int)answer("openat", key, NULL, 0), folder, path, flags);
    return holds((int)note("openat", key, BLOCKING(real_openat(folder, path, flags, rights)), NULL, 0));
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
    if (!before_blocking()) return lets_go(number, number, (int)answer("close", number, NULL, 0));
    return lets_go(number, number, (int)note("close", number, BLOCKING(real_close(descriptor)), NULL, 0));
}

#define DUPLICATES(name, parameters, arguments, key)                                                                   \
    static int(*real_##name) parameters;                                                                               \
    static int hook_##name parameters                                                                                  \
    {                                                                                                                  \
        if (passes()) return real_##name arguments;                                                                    \
        if (!before_blocking()) return holds_copy((int)answer(#name, key, NULL, 0), descriptor);                       \
        return holds_copy((int)note(#name, key, BLOCKING(real_##name arguments), NULL, 0), descriptor);                \
    }
DUPLICATES(dup, (int descriptor), (descriptor), (uint64_t)descriptor)
DUPLICATES(dup2, (int descriptor, int other), (descriptor, other), NUMBERS(descriptor, other))
DUPLICATES(dup3, (int descriptor, int other, int flags), (descriptor, other, flags), NUMBERS(descriptor, other, flags))

static int (*real_pipe2)(int *, int);
int hook_pipe2(int *ends, int flags)
{
    if (passes()) return real_pipe2(ends, flags);
    Part part = {ends, 2 * sizeof *ends};
    if (!before_blocking()) return holds_two(ends, (int)answer("pipe2", (uint64_t)flags, &part, 1));
    return holds_two(ends, (int)note("pipe2", (uint64_t)flags, BLOCKING(real_pipe2(ends, flags)), &part, 1));
}

static int (*real_pipe)(int *);
static int hook_pipe(int *ends)
{
    if (passes()) return real_pipe(ends);
    Part part = {ends, 2 * sizeof *ends};
    if (!before_blocking()) return holds_two(ends, (int)answer("pipe", 0, &part, 1));
    return holds_two(ends, (int)note("pipe", 0, BLOCKING(real_pipe(ends)), &part, 1));
}

/* Those of ours stay open in the live program. */
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
    if (!before_blocking()) return lets_go(first, only_marks ? 0 : last, (int)answer("close_range", key, NULL, 0));
    int result = first >= LOWEST_OF_OURS && first <= last ? 0 : BLOCKING(real_close_range(first, last_of_program(last), flags));
    return lets_go(first, only_marks ? 0 : last, (int)note("close_range", key, result, NULL, 0));
}

static void (*real_closefrom)(int);
static void hook_closefrom(int first)
{
    if (passes()) real_closefrom(first);
    else if (mode == REPLAY) answer("closefrom", (uint64_t)first, NULL, 0);
    else note("closefrom", (uint64_t)first, close_range((unsigned)first, last_of_program(~0u), 0), NULL, 0);
    if (!passes()) lets_go((unsigned)first, ~0u, 0);
}

/* Reading and writing */

uint64_t bytes_written;

static int64_t count_written(int descriptor, int64_t size)
{
    if ((descriptor == 1 || descriptor == 2) && size > 0)
        __atomic_fetch_add(&bytes_written, (uint64_t)size, __ATOMIC_RELAXED);
    return size;
}

static int64_t answer_write(const char *call, uint64_t key, int descriptor, const void *place)
{
    int64_t written = count_written(descriptor, moves_by(descriptor, answer(call, key, NULL, 0)));
    print_again(descriptor, place, written);
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
    if (!before_blocking()) return moves_by(descriptor, answer("read", key, &part, 1));
    ssize_t result = BLOCKING(real_read(descriptor, place, size));
    part.size = (size_t)SIZE_READ;
    return note("read", key, result, &part, 1);
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
    return note("write", key, count_written(descriptor, written), NULL, 0);
}
CHANGES(ssize_t, pwrite, (int file, const void *place, size_t size, off_t offset), (file, place, size, offset),
        hash_written(NUMBERS(file, offset), place, size))

/* What is read into several places is noted as one after the other. */
static ssize_t scatter(const char *call, uint64_t key, const struct iovec *parts, int count)
{
    const void *place;
    size_t size;
    ssize_t result = answer_whole(call, key, &place, &size);
    for (const char *from = place; size > 0; parts++, count--) {
        if (count == 0) diverged(call, call, ticks);
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
    note(call, key, result, &part, 1);
    free(part.place);
    return result;
}

static ssize_t stays(int Py_UNUSED(file), ssize_t size) { return size; }

#define READS_PARTS(name, parameters, arguments, numbers, moves)                                                             \
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
    if (!before_blocking()) return count_written(file, moves_by(file, answer("writev", key, NULL, 0)));
    return note("writev", key, count_written(file, BLOCKING(real_writev(file, parts, count))), NULL, 0);
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
    if (!before_blocking()) return moves_to(file, answer("lseek", key, NULL, 0));
    return note("lseek", key, BLOCKING(real_lseek(file, offset, from)), NULL, 0);
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
    if (!before_blocking()) return count_written(to, moves_by(to, answer("sendfile", key, &part, 1)));
    ssize_t sent = BLOCKING(real_sendfile(to, from, offset, size));
    return note("sendfile", key, count_written(to, sent), &part, 1);
}

#define MOVES(name)                                                                                                    \
    static ssize_t (*real_##name)(int, off_t *, int, off_t *, size_t, unsigned);                                       \
    static ssize_t hook_##name(int from, off_t *begin, int to, off_t *other, size_t size, unsigned flags)              \
    {                                                                                                                  \
        if (refuses()) return -1;                                                                                      \
        if (passes()) return real_##name(from, begin, to, other, size, flags);                                         \
        uint64_t key = NUMBERS(from, to, size, flags);                                                                 \
        Part parts[] = {{begin, begin == NULL ? 0 : sizeof *begin}, {other, other == NULL ? 0 : sizeof *other}};       \
        if (!before_blocking()) return answer(#name, key, parts, 2);                                                   \
        return note(#name, key, BLOCKING(real_##name(from, begin, to, other, size, flags)), parts, 2);                 \
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
    int result = before_blocking() ? (int)note("fcntl", key, BLOCKING(real_fcntl(descriptor, command, argument)), &part, part.size > 0)
                                   : (int)answer("fcntl", key, &part, part.size > 0);
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
    case SIOCGIFCONF: return sizeof(struct ifconf);
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
    Part part = {argument, filled_by((uint32_t)request)};
    if (!before_blocking()) return (int)answer("ioctl", key, &part, part.size > 0);
    int result = BLOCKING(real_ioctl(descriptor, request, argument));
    int is_filled = part.size > 0 && result >= 0;
    return (int)note("ioctl", key, result, &part, is_filled);
}

/* Terminals */

READS(int, isatty, (int descriptor), (descriptor), (uint64_t)descriptor)
FILLS(int, ttyname_r, (int terminal, char *place, size_t size), (terminal, place, size), NUMBERS(terminal, size), place,
      size, IF_DONE(strlen(place) + 1))
FILLS(int, ptsname_r, (int terminal, char *place, size_t size), (terminal, place, size), NUMBERS(terminal, size), place,
      size, IF_DONE(strlen(place) + 1))
static int hook_ttyname_r_chk(int terminal, char *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_ttyname_r(terminal, place, size);
}
static int hook_ptsname_r_chk(int terminal, char *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_ptsname_r(terminal, place, size);
}

static char terminal_name[4096];
#define NAMES_TERMINAL(name)                                                                                           \
    static char *(*real_##name)(int);                                                                                  \
    static char *hook_##name(int terminal)                                                                             \
    {                                                                                                                  \
        if (passes()) return real_##name(terminal);                                                                    \
        int error = hook_##name##_r(terminal, terminal_name, sizeof terminal_name);                                    \
        if (error) errno = error;                                                                                      \
        return error ? NULL : terminal_name;                                                                           \
    }
NAMES_TERMINAL(ttyname)
NAMES_TERMINAL(ptsname)

FILLS(int, tcgetattr, (int terminal, struct termios *found), (terminal, found), (uint64_t)terminal, found, sizeof *found,
      IF_DONE(sizeof *found))
CHANGES(int, tcsetattr, (int terminal, int when, const struct termios *wanted), (terminal, when, wanted),
        NUMBERS(terminal, when))
CHANGES(int, tcdrain, (int terminal), (terminal), (uint64_t)terminal)
CHANGES(int, tcflow, (int terminal, int action), (terminal, action), NUMBERS(terminal, action))
CHANGES(int, tcflush, (int terminal, int queue), (terminal, queue), NUMBERS(terminal, queue))
CHANGES(int, tcsendbreak, (int terminal, int duration), (terminal, duration), NUMBERS(terminal, duration))
READS(pid_t, tcgetpgrp, (int terminal), (terminal), (uint64_t)terminal)
CHANGES(int, tcsetpgrp, (int terminal, pid_t group), (terminal, group), NUMBERS(terminal, group))
READS(pid_t, tcgetsid, (int terminal), (terminal), (uint64_t)terminal)
OPENS(posix_openpt, (int flags), (flags), (uint64_t)flags)
READS(int, grantpt, (int terminal), (terminal), (uint64_t)terminal)
READS(int, unlockpt, (int terminal), (terminal), (uint64_t)terminal)
CHANGES(int, login_tty, (int terminal), (terminal), (uint64_t)terminal)

static int (*real_openpty)(int *, int *, char *, const struct termios *, const struct winsize *);
static int hook_openpty(int *one, int *other, char *name, const struct termios *modes, const struct winsize *size)
{
    if (passes()) return real_openpty(one, other, name, modes, size);
    Part parts[] = {{one, sizeof *one}, {other, sizeof *other}, {name, 4096}};
    int count = name == NULL ? 2 : 3;
    int is_made = before_blocking(), result = is_made ? BLOCKING(real_openpty(one, other, name, modes, size)) : 0;
    if (is_made && name != NULL) parts[2].size = result == 0 ? strlen(name) + 1 : 0;
    result = is_made ? (int)note("openpty", 0, result, parts, count) : (int)answer("openpty", 0, parts, count);
    if (result == 0) holds(*one), holds(*other);
    return result;
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

/* Memory that is shared with others or is of a file */

#define MOST_MAPPINGS 1024
#define MOST_SHARED_SIZE ((size_t)1 << 29) /* while more than that is shared, no copies are made of the process */
#define MOST_NOTED_SIZE ((size_t)1 << 30)  /* of the content of a file; history ends where more is mapped */
#define LARGE_SIZE ((size_t)1 << 24)       /* of content, of which holes are left out */
#define MOST_SEGMENTS 64

typedef struct {
    char *place;
    size_t size;
    int rights;
} Mapping;

static Mapping mappings[MOST_MAPPINGS];
static int mapping_count;
static int has_too_many;

static void add_mapping(char *place, size_t size, int rights)
{
    if (mapping_count < MOST_MAPPINGS) mappings[mapping_count++] = (Mapping){place, size, rights};
    else has_too_many = 1;
}

static void remove_mapping(char *place)
{
    for (int i = 0; i < mapping_count; i++)
        if (mappings[i].place == place) mappings[i--] = mappings[--mapping_count];
}

int has_shared_memory;

int shares_memory(void) { return mapping_count > 0; }

int shares_too_much(void)
{
    size_t size = 0;
    for (int i = 0; i < mapping_count; i++) size += mappings[i].size;
    return has_too_many || size > MOST_SHARED_SIZE;
}

void own_shared_memory(void)
{
    has_shared_memory |= mapping_count > 0;
    for (int i = 0; i < mapping_count; i++) {
        Mapping *mapping = &mappings[i];
        char *copy = mmap(NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED) _exit(0);
        /* A file may be shorter than its mapping: the system copies what there is. */
        mprotect(mapping->place, mapping->size, PROT_READ);
        struct iovec from = {mapping->place, mapping->size}, to = {copy, mapping->size};
        process_vm_readv(getpid(), &to, 1, &from, 1, 0);
        mprotect(copy, mapping->size, mapping->rights);
        mremap(copy, mapping->size, mapping->size, MREMAP_MAYMOVE | MREMAP_FIXED, mapping->place);
    }
    mapping_count = 0;
}

typedef struct {
    size_t begin, size;
} Segment;

/* What there is of a file in a mapping of it: how many segments, -1 if they are too many or too large. */
static int find_segments(int file, off_t offset, size_t size, Segment *segments)
{
    struct stat found;
    if (fstat(file, &found) < 0 || found.st_size <= offset) return 0;
    size_t there = (size_t)(found.st_size - offset), noted = 0;
    if (there > size) there = size;
    if (there <= LARGE_SIZE) {
        segments[0] = (Segment){0, there};
        return 1;
    }
    int count = 0;
    off_t before = lseek(file, 0, SEEK_CUR), next = offset, limit = offset + (off_t)there;
    while (count >= 0 && next < limit && (next = lseek(file, next, SEEK_DATA)) >= 0 && next < limit) {
        off_t hole = lseek(file, next, SEEK_HOLE), end = hole < 0 || hole > limit ? limit : hole;
        noted += (size_t)(end - next);
        if (count == MOST_SEGMENTS || noted > MOST_NOTED_SIZE) count = -1;
        else segments[count++] = (Segment){(size_t)(next - offset), (size_t)(end - next)};
        next = end;
    }
    lseek(file, before, SEEK_SET);
    return count;
}

static void *map_again(uint64_t key, size_t size, int rights)
{
    const void *found, *content;
    size_t filled, all;
    void *place = (void *)answer_whole("mmap", key, &found, &all);
    if (place == MAP_FAILED) return place;
    int error = errno;
    const Segment *segments = found;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, rights_to_fill = PROT_READ | PROT_WRITE;
    void *made = mmap(place, size, rights_to_fill, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (made == MAP_FAILED) made = mmap(NULL, size, rights_to_fill, flags, -1, 0); /* an engine has something there */
    place = made;
    for (size_t i = 0; i < all / sizeof *segments; i++) {
        answer_whole("mapped", segments[i].begin, &content, &filled);
        if (place != MAP_FAILED) memcpy((char *)place + segments[i].begin, content, filled);
    }
    if (place != MAP_FAILED) mprotect(place, size, rights);
    errno = error;
    return place;
}

static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static void *hook_mmap(void *wanted, size_t size, int rights, int flags, int file, off_t offset)
{
    int is_file = !(flags & MAP_ANONYMOUS) && file >= 0;
    int is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    if (passes() || (!is_file && !is_shared)) return real_mmap(wanted, size, rights, flags, file, offset);
    uint64_t key = NUMBERS(size, rights, flags, file, offset);
    if (mode == REPLAY && is_shared) has_shared_memory = 1;
    if (mode == REPLAY) return map_again(key, size, rights);
    void *place = real_mmap(wanted, size, rights, flags, file, offset);
    int error = errno;
    Segment segments[MOST_SEGMENTS];
    int count = place != MAP_FAILED && is_file && rights & PROT_READ ? find_segments(file, offset, size, segments) : 0;
    if (place != MAP_FAILED && is_shared) add_mapping(place, size, rights);
    Part table = {segments, (size_t)(count < 0 ? 0 : count) * sizeof *segments};
    errno = error;
    note("mmap", key, (int64_t)place, &table, 1);
    for (int i = 0; i < count; i++) {
        Part content = {(char *)place + segments[i].begin, segments[i].size};
        note("mapped", segments[i].begin, 0, &content, 1);
    }
    if (count < 0) end_recording("a file that is mapped has too much in it");
    errno = error;
    return place;
}

static int (*real_munmap)(void *, size_t);
static int hook_munmap(void *place, size_t size)
{
    if (mapping_count > 0) remove_mapping(place);
    return real_munmap(place, size);
}

/* Memory that grows with its file: what was not there before is noted. */
static void *(*real_mremap)(void *, size_t, size_t, int, ...);
static void *hook_mremap(void *place, size_t size, size_t wanted, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    void *other = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
    va_end(rest);
    Mapping *shared = NULL;
    for (int i = 0; i < mapping_count; i++)
        if (mappings[i].place == place) shared = &mappings[i];
    void *result = real_mremap(place, size, wanted, flags, other);
    if (shared != NULL && result != MAP_FAILED) *shared = (Mapping){result, wanted, shared->rights};
    return result;
}

static int (*real_msync)(void *, size_t, int);
static int hook_msync(void *place, size_t size, int flags)
{
    if (passes()) return real_msync(place, size, flags);
    if (!before_blocking()) return (int)answer("msync", NUMBERS(size, flags), NULL, 0);
    return (int)note("msync", NUMBERS(size, flags), BLOCKING(real_msync(place, size, flags)), NULL, 0);
}

/* Streams */

#define MOST_STREAMS 256

static FILE *streams[MOST_STREAMS];
static int stream_descriptors[MOST_STREAMS];

static ssize_t read_stream(void *cookie, char *place, size_t size) { return hook_read((int)(intptr_t)cookie, place, size); }
static ssize_t write_stream(void *cookie, const char *place, size_t size)
{
    ssize_t written = hook_write((int)(intptr_t)cookie, place, size);
    return written < 0 ? 0 : written;
}
static int seek_stream(void *cookie, off64_t *offset, int from)
{
    off_t result = hook_lseek((int)(intptr_t)cookie, *offset, from);
    if (result >= 0) *offset = result;
    return result < 0 ? -1 : 0;
}
static int close_stream(void *cookie)
{
    for (int i = 0; i < MOST_STREAMS; i++)
        if (streams[i] != NULL && stream_descriptors[i] == (int)(intptr_t)cookie) streams[i] = NULL;
    return hook_close((int)(intptr_t)cookie);
}

FILE *stream_of(int descriptor, const char *kind)
{
    char plain[4] = {kind[0], 0, 0, 0};
    if (strchr(kind, '+') != NULL) plain[1] = '+';
    int place = 0;
    while (place < MOST_STREAMS && streams[place] != NULL) place++;
    if (place == MOST_STREAMS) {
        errno = EMFILE;
        return NULL;
    }
    FILE *made = fopencookie((void *)(intptr_t)descriptor, plain,
                             (cookie_io_functions_t){read_stream, write_stream, seek_stream, close_stream});
    streams[place] = made;
    stream_descriptors[place] = descriptor;
    return made;
}

int descriptor_of(FILE *stream)
{
    for (int i = 0; stream != NULL && i < MOST_STREAMS; i++)
        if (streams[i] == stream) return stream_descriptors[i];
    return -1;
}

static FILE *(*real_fopen)(const char *, const char *);
static FILE *hook_fopen(const char *path, const char *kind)
{
    if (kind[0] != 'r' && refuses()) return NULL;
    if (passes()) return real_fopen(path, kind);
    int flags = strchr(kind, '+') != NULL ? O_RDWR : kind[0] == 'r' ? O_RDONLY : O_WRONLY;
    if (kind[0] != 'r') flags |= O_CREAT | (kind[0] == 'a' ? O_APPEND : O_TRUNC);
    if (strchr(kind, 'x') != NULL) flags |= O_EXCL;
    if (strchr(kind, 'e') != NULL) flags |= O_CLOEXEC;
    int descriptor = hook_open(path, flags, 0666);
    if (descriptor < 0) return NULL;
    FILE *made = stream_of(descriptor, kind);
    if (made == NULL) hook_close(descriptor);
    return made;
}

static FILE *(*real_fdopen)(int, const char *);
static FILE *hook_fdopen(int descriptor, const char *kind)
{
    return passes() ? real_fdopen(descriptor, kind) : stream_of(descriptor, kind);
}

static FILE *(*real_tmpfile)(void);
static FILE *hook_tmpfile(void)
{
    if (passes()) return real_tmpfile();
    int descriptor = hook_open("/tmp", O_RDWR | O_EXCL | O_TMPFILE, 0600);
    return descriptor < 0 ? NULL : stream_of(descriptor, "w+");
}

static int (*real_fileno)(FILE *);
static int hook_fileno(FILE *stream)
{
    int descriptor = descriptor_of(stream);
    return descriptor >= 0 ? descriptor : real_fileno(stream);
}

/* Standard input */

static int is_noted(FILE *stream) { return stream == stdin && !passes(); }

static char *(*real_fgets)(char *, int, FILE *);
static char *hook_fgets(char *place, int size, FILE *stream)
{
    if (!is_noted(stream)) return real_fgets(place, size, stream);
    Part part = {place, size > 0 ? (size_t)size : 0};
    if (!before_blocking()) return answer("fgets", (uint64_t)size, &part, 1) ? place : NULL;
    char *result = BLOCKING(real_fgets(place, size, stream));
    part.size = result == NULL ? 0 : strlen(place) + 1;
    return note("fgets", (uint64_t)size, result != NULL, &part, 1) ? place : NULL;
}
static char *hook_fgets_chk(char *place, size_t Py_UNUSED(room), int size, FILE *stream)
{
    return hook_fgets(place, size, stream);
}

static size_t (*real_fread)(void *, size_t, size_t, FILE *);
static size_t hook_fread(void *place, size_t size, size_t count, FILE *stream)
{
    if (!is_noted(stream)) return real_fread(place, size, count, stream);
    Part part = {place, size * count};
    if (!before_blocking()) return (size_t)answer("fread", NUMBERS(size, count), &part, 1);
    size_t result = BLOCKING(real_fread(place, size, count, stream));
    part.size = result * size;
    return (size_t)note("fread", NUMBERS(size, count), (int64_t)result, &part, 1);
}
static size_t hook_fread_chk(void *place, size_t Py_UNUSED(room), size_t size, size_t count, FILE *stream)
{
    return hook_fread(place, size, count, stream);
}

#define ASKS_STREAM(name)                                                                                              \
    static int (*real_##name)(FILE *);                                                                                 \
    static int hook_##name(FILE *stream)                                                                               \
    {                                                                                                                  \
        if (!is_noted(stream)) return real_##name(stream);                                                             \
        if (mode == REPLAY) return (int)answer(#name, 0, NULL, 0);                                                     \
        return (int)note(#name, 0, real_##name(stream), NULL, 0);                                                      \
    }

ASKS_STREAM(getc)
ASKS_STREAM(fgetc)
ASKS_STREAM(getc_unlocked)
ASKS_STREAM(__uflow)
ASKS_STREAM(feof)
ASKS_STREAM(ferror)

/* Standard output and error: what is written there is counted. */

static int64_t count_printed(FILE *stream, int64_t size)
{
    if (inside && (mode == LIVE || mode == REPLAY) && (stream == stdout || stream == stderr)) count_written(1, size);
    return size;
}

static size_t (*real_fwrite)(const void *, size_t, size_t, FILE *);
static size_t hook_fwrite(const void *place, size_t size, size_t count, FILE *stream)
{
    size_t result = real_fwrite(place, size, count, stream);
    count_printed(stream, (int64_t)(result * size));
    return result;
}

static int (*real_fputs)(const char *, FILE *);
static int hook_fputs(const char *text, FILE *stream)
{
    count_printed(stream, (int64_t)strlen(text));
    return real_fputs(text, stream);
}

static int (*real_puts)(const char *);
static int hook_puts(const char *text)
{
    count_printed(stdout, (int64_t)strlen(text) + 1);
    return real_puts(text);
}

#define PUTS(name)                                                                                                     \
    static int (*real_##name)(int, FILE *);                                                                            \
    static int hook_##name(int byte, FILE *stream)                                                                     \
    {                                                                                                                  \
        count_printed(stream, 1);                                                                                      \
        return real_##name(byte, stream);                                                                              \
    }
PUTS(putc)
PUTS(fputc)

static int (*real_putchar)(int);
static int hook_putchar(int byte)
{
    count_printed(stdout, 1);
    return real_putchar(byte);
}

static int (*real_vfprintf)(FILE *, const char *, va_list);
static int hook_vfprintf(FILE *stream, const char *format, va_list rest)
{
    return (int)count_printed(stream, real_vfprintf(stream, format, rest));
}
static int hook_vfprintf_chk(FILE *stream, int Py_UNUSED(flag), const char *format, va_list rest)
{
    return hook_vfprintf(stream, format, rest);
}

#define PRINTS(name, stream, ...)                                                                                      \
    static int hook_##name(__VA_ARGS__, ...)                                                                           \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, format);                                                                                        \
        int result = (int)count_printed(stream, vfprintf(stream, format, rest));                                       \
        va_end(rest);                                                                                                  \
        return result;                                                                                                 \
    }
PRINTS(printf, stdout, const char *format)
PRINTS(printf_chk, stdout, int Py_UNUSED(flag), const char *format)
PRINTS(fprintf, stream, FILE *stream, const char *format)
PRINTS(fprintf_chk, stream, FILE *stream, int Py_UNUSED(flag), const char *format)
static void *real_printf, *real_printf_chk, *real_fprintf, *real_fprintf_chk; /* only that there are such */

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
    ROW(isatty),
    ROW(ttyname_r),
    {"__ttyname_r_chk", hook_ttyname_r_chk, (void **)&real_ttyname_r},
    ROW(ptsname_r),
    {"__ptsname_r_chk", hook_ptsname_r_chk, (void **)&real_ptsname_r},
    ROW(ttyname),
    ROW(ptsname),
    ROW(tcgetattr),
    ROW(tcsetattr),
    ROW(tcdrain),
    ROW(tcflow),
    ROW(tcflush),
    ROW(tcsendbreak),
    ROW(tcgetpgrp),
    ROW(tcsetpgrp),
    ROW(tcgetsid),
    ROW(posix_openpt),
    ROW(grantpt),
    ROW(unlockpt),
    ROW(login_tty),
    ROW(openpty),
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
    ROW(mmap),
    ALIAS(mmap64, mmap),
    ROW(munmap),
    ROW(mremap),
    ROW(msync),
    ROW(fopen),
    ALIAS(fopen64, fopen),
    ROW(fdopen),
    ROW(tmpfile),
    ALIAS(tmpfile64, tmpfile),
    ROW(fileno),
    ALIAS(fileno_unlocked, fileno),
    ROW(fgets),
    {"__fgets_chk", hook_fgets_chk, (void **)&real_fgets},
    ROW(fread),
    {"__fread_chk", hook_fread_chk, (void **)&real_fread},
    ROW(getc),
    ROW(fgetc),
    ROW(getc_unlocked),
    ROW(__uflow),
    ROW(feof),
    ROW(ferror),
    ROW(fwrite),
    ROW(fputs),
    ROW(puts),
    ROW(putc),
    ROW(fputc),
    ROW(putchar),
    ALIAS(_IO_putc, putc),
    ROW(vfprintf),
    {"__vfprintf_chk", hook_vfprintf_chk, (void **)&real_vfprintf},
    {"printf", hook_printf, &real_printf},
    {"__printf_chk", hook_printf_chk, &real_printf_chk},
    {"fprintf", hook_fprintf, &real_fprintf},
    {"__fprintf_chk", hook_fprintf_chk, &real_fprintf_chk},
    LAST_ROW,
};
