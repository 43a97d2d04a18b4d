/* The program's open files: when each descriptor was made, of which file, and its position. A
   replay process, which has nothing open, can have it again by that (branch.c).

   When a descriptor was made is counted in the live program and in replay alike. The rest is known of files that were
   open when a checkpoint was made, and of files that are opened in the process that replays from it. */

#include "open_files.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

Held held[MOST_HELD];
char is_held[MOST_HELD];
static uint64_t made;

static Held *at(int descriptor) { return descriptor >= 0 && descriptor < MOST_HELD ? &held[descriptor] : NULL; }

int holds(int descriptor)
{
    Held *it = at(descriptor);
    if (it == NULL) return descriptor;
    is_held[descriptor] = 1;
    *it = (Held){.since = ++made, .offset = -1};
    return descriptor;
}

int holds_two(const int *ends, int result)
{
    if (result < 0) return result;
    holds(ends[0]);
    holds(ends[1]);
    return result;
}

int holds_copy(int descriptor, int other)
{
    const Held *of = at(other);
    Held *it = at(holds(descriptor));
    if (!is_past || it == NULL || of == NULL || it == of) return descriptor;
    uint64_t since = it->since;
    *it = *of;
    it->since = since;
    return descriptor;
}

/* A relative path is relative to where the program is, or to a folder that it has open. */
static void keep_path(Held *it, int folder, const char *path)
{
    char begin[PATH_SIZE] = "";
    if (path[0] != '/') {
        if (folder == AT_FDCWD && getcwd(begin, sizeof begin) == NULL) return;
        if (folder != AT_FDCWD) strcpy(begin, path_held(folder));
        if (begin[0] == 0) return;
    }
    int size = snprintf(it->path, sizeof it->path, "%s%s%s", begin, begin[0] ? "/" : "", path);
    if (size >= (int)sizeof it->path) it->path[0] = 0;
}

int holds_file(int descriptor, int folder, const char *path, int flags)
{
    Held *it = at(holds(descriptor));
    if (it == NULL || !is_past) return descriptor;
    int error = errno;
    it->offset = 0;
    it->flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC);
    keep_path(it, folder, path);
    errno = error;
    return descriptor;
}

int lets_go(unsigned first, unsigned last, int result)
{
    if (result >= 0)
        for (unsigned i = first; i <= last && i < MOST_HELD; i++) is_held[i] = 0;
    return result;
}

int64_t moves_by(int descriptor, int64_t size)
{
    Held *it = at(descriptor);
    if (is_past && it != NULL && size > 0 && it->offset >= 0) it->offset += size;
    return size;
}

int64_t moves_to(int descriptor, int64_t offset)
{
    Held *it = at(descriptor);
    if (is_past && it != NULL && offset >= 0) it->offset = offset;
    return offset;
}

/* Some work of a replay is done for the process and not for the program: it touches nothing outside. */
int goes_to(const char *path, int result)
{
    int error = errno;
    if (mode == REPLAY && result == 0 && path[0] != 0 && chdir(path) < 0) result = 0; /* it may be gone since */
    errno = error;
    return result;
}

const char *path_held(int descriptor)
{
    const Held *it = at(descriptor);
    return it == NULL ? "" : it->path;
}

static void look_at_descriptor(int descriptor)
{
    Held *it = at(descriptor);
    struct stat found;
    char link[64], path[PATH_SIZE];
    if (it == NULL || fstat(descriptor, &found) < 0) return;
    is_held[descriptor] = 1;
    it->offset = S_ISREG(found.st_mode) ? lseek(descriptor, 0, SEEK_CUR) : -1;
    it->flags = fcntl(descriptor, F_GETFL);
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = S_ISREG(found.st_mode) || S_ISDIR(found.st_mode) ? readlink(link, path, sizeof path) : 0;
    if (size < 0 || size == (ssize_t)sizeof path || path[0] != '/') size = 0;
    memcpy(it->path, path, (size_t)size);
    it->path[size] = 0;
}

/* In a copy, which may allocate nothing. */
void hold_what_is_open(void)
{
    char entries[4096] __attribute__((aligned(16)));
    memset(is_held, 0, sizeof is_held);
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long size;
    while (folder >= 0 && (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long place = 0; place < size; place += ((struct dirent *)(entries + place))->d_reclen) {
            const char *name = ((struct dirent *)(entries + place))->d_name;
            if (name[0] != '.' && atoi(name) != folder) look_at_descriptor(atoi(name));
        }
    if (folder >= 0) close(folder);
}
