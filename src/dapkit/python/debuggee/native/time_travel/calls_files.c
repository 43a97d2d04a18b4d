/* Files by their names, and directories.

   A directory is read with system calls and memory of our own: the C library would allocate memory in the live program
   that a replay does not allocate. */

#include "calls.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define PATH_ROOM 4096 /* the system's limit, with the final NUL */

static uint64_t key_of(const char *path, uint64_t number) { return hash_number(hash_text(path), number); }
static uint64_t key_of_two(const char *from, const char *to) { return hash_number(hash_text(from), hash_text(to)); }

/* Facts about a file */

#define IF_DONE(size) (result == 0 ? (size) : 0)

FILLS(int, stat, (const char *path, struct stat *found), (path, found), hash_text(path), found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, lstat, (const char *path, struct stat *found), (path, found), hash_text(path), found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, fstat, (int file, struct stat *found), (file, found), (uint64_t)file, found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, fstatat, (int folder, const char *path, struct stat *found, int flags), (folder, path, found, flags),
      key_of(path, NUMBERS(folder, flags)), found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, statx, (int folder, const char *path, int flags, unsigned mask, struct statx *found),
      (folder, path, flags, mask, found), key_of(path, NUMBERS(folder, flags, mask)), found, sizeof *found,
      IF_DONE(sizeof *found))

/* Up to glibc 2.32 programs called these. */
FILLS(int, __xstat, (int version, const char *path, struct stat *found), (version, path, found), hash_text(path), found,
      sizeof *found, IF_DONE(sizeof *found))
FILLS(int, __lxstat, (int version, const char *path, struct stat *found), (version, path, found), hash_text(path),
      found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, __fxstat, (int version, int file, struct stat *found), (version, file, found), (uint64_t)file, found,
      sizeof *found, IF_DONE(sizeof *found))
FILLS(int, __fxstatat, (int version, int folder, const char *path, struct stat *found, int flags),
      (version, folder, path, found, flags), key_of(path, NUMBERS(folder, flags)), found, sizeof *found,
      IF_DONE(sizeof *found))
CHANGES(int, __xmknod, (int version, const char *path, mode_t kind, dev_t *device), (version, path, kind, device),
        key_of(path, kind))
CHANGES(int, __xmknodat, (int version, int folder, const char *path, mode_t kind, dev_t *device),
        (version, folder, path, kind, device), key_of(path, NUMBERS(folder, kind)))

FILLS(int, statvfs, (const char *path, struct statvfs *found), (path, found), hash_text(path), found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, fstatvfs, (int file, struct statvfs *found), (file, found), (uint64_t)file, found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, statfs, (const char *path, struct statfs *found), (path, found), hash_text(path), found, sizeof *found,
      IF_DONE(sizeof *found))
FILLS(int, fstatfs, (int file, struct statfs *found), (file, found), (uint64_t)file, found, sizeof *found,
      IF_DONE(sizeof *found))
READS(int, access, (const char *path, int kind), (path, kind), key_of(path, (uint64_t)kind))
READS(int, euidaccess, (const char *path, int kind), (path, kind), key_of(path, (uint64_t)kind))
READS(int, faccessat, (int folder, const char *path, int kind, int flags), (folder, path, kind, flags),
      key_of(path, NUMBERS(folder, kind, flags)))
READS(long, pathconf, (const char *path, int name), (path, name), key_of(path, (uint64_t)name))
READS(long, fpathconf, (int file, int name), (file, name), NUMBERS(file, name))
FILLS(ssize_t, readlink, (const char *path, char *place, size_t size), (path, place, size), key_of(path, size), place,
      size, result > 0 ? result : 0)
FILLS(ssize_t, readlinkat, (int folder, const char *path, char *place, size_t size), (folder, path, place, size),
      key_of(path, NUMBERS(folder, size)), place, size, result > 0 ? result : 0)
static ssize_t hook_readlink_chk(const char *path, char *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_readlink(path, place, size);
}
static ssize_t hook_readlinkat_chk(int folder, const char *path, char *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_readlinkat(folder, path, place, size);
}

/* Names of files */

CHANGES(int, mkdir, (const char *path, mode_t rights), (path, rights), key_of(path, rights))
CHANGES(int, mkdirat, (int folder, const char *path, mode_t rights), (folder, path, rights),
        key_of(path, NUMBERS(folder, rights)))
CHANGES(int, mkfifo, (const char *path, mode_t rights), (path, rights), key_of(path, rights))
CHANGES(int, mkfifoat, (int folder, const char *path, mode_t rights), (folder, path, rights),
        key_of(path, NUMBERS(folder, rights)))
CHANGES(int, mknod, (const char *path, mode_t kind, dev_t device), (path, kind, device), key_of(path, kind))
CHANGES(int, mknodat, (int folder, const char *path, mode_t kind, dev_t device), (folder, path, kind, device),
        key_of(path, NUMBERS(folder, kind)))
CHANGES(int, rmdir, (const char *path), (path), hash_text(path))
CHANGES(int, unlink, (const char *path), (path), hash_text(path))
CHANGES(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags),
        key_of(path, NUMBERS(folder, flags)))
CHANGES(int, remove, (const char *path), (path), hash_text(path))
CHANGES(int, rename, (const char *from, const char *to), (from, to), key_of_two(from, to))
CHANGES(int, renameat, (int folder, const char *from, int other, const char *to), (folder, from, other, to),
        hash_number(key_of_two(from, to), NUMBERS(folder, other)))
CHANGES(int, renameat2, (int folder, const char *from, int other, const char *to, unsigned flags),
        (folder, from, other, to, flags), hash_number(key_of_two(from, to), NUMBERS(folder, other, flags)))
CHANGES(int, link, (const char *from, const char *to), (from, to), key_of_two(from, to))
CHANGES(int, linkat, (int folder, const char *from, int other, const char *to, int flags),
        (folder, from, other, to, flags), hash_number(key_of_two(from, to), NUMBERS(folder, other, flags)))
CHANGES(int, symlink, (const char *from, const char *to), (from, to), key_of_two(from, to))
CHANGES(int, symlinkat, (const char *from, int folder, const char *to), (from, folder, to),
        hash_number(key_of_two(from, to), (uint64_t)folder))
CHANGES(int, shm_open, (const char *name, int flags, mode_t rights), (name, flags, rights),
        key_of(name, NUMBERS(flags, rights)))
CHANGES(int, shm_unlink, (const char *name), (name), hash_text(name))

/* Rights, owners, times, sizes */

CHANGES(int, chmod, (const char *path, mode_t rights), (path, rights), key_of(path, rights))
CHANGES(int, lchmod, (const char *path, mode_t rights), (path, rights), key_of(path, rights))
CHANGES(int, fchmod, (int file, mode_t rights), (file, rights), NUMBERS(file, rights))
CHANGES(int, fchmodat, (int folder, const char *path, mode_t rights, int flags), (folder, path, rights, flags),
        key_of(path, NUMBERS(folder, rights, flags)))
CHANGES(int, chown, (const char *path, uid_t owner, gid_t group), (path, owner, group),
        key_of(path, NUMBERS(owner, group)))
CHANGES(int, lchown, (const char *path, uid_t owner, gid_t group), (path, owner, group),
        key_of(path, NUMBERS(owner, group)))
CHANGES(int, fchown, (int file, uid_t owner, gid_t group), (file, owner, group), NUMBERS(file, owner, group))
CHANGES(int, fchownat, (int folder, const char *path, uid_t owner, gid_t group, int flags),
        (folder, path, owner, group, flags), key_of(path, NUMBERS(folder, owner, group, flags)))
CHANGES(int, utime, (const char *path, const struct utimbuf *times), (path, times), hash_text(path))
CHANGES(int, utimes, (const char *path, const struct timeval *times), (path, times), hash_text(path))
CHANGES(int, lutimes, (const char *path, const struct timeval *times), (path, times), hash_text(path))
CHANGES(int, futimes, (int file, const struct timeval *times), (file, times), (uint64_t)file)
CHANGES(int, futimens, (int file, const struct timespec *times), (file, times), (uint64_t)file)
CHANGES(int, utimensat, (int folder, const char *path, const struct timespec *times, int flags),
        (folder, path, times, flags), key_of(path, NUMBERS(folder, flags)))
CHANGES(int, truncate, (const char *path, off_t size), (path, size), key_of(path, (uint64_t)size))

/* Attributes */

FILLS(ssize_t, getxattr, (const char *path, const char *name, void *place, size_t size), (path, name, place, size),
      key_of_two(path, name), place, size, result > 0 && size > 0 ? result : 0)
FILLS(ssize_t, lgetxattr, (const char *path, const char *name, void *place, size_t size), (path, name, place, size),
      key_of_two(path, name), place, size, result > 0 && size > 0 ? result : 0)
FILLS(ssize_t, fgetxattr, (int file, const char *name, void *place, size_t size), (file, name, place, size),
      key_of(name, (uint64_t)file), place, size, result > 0 && size > 0 ? result : 0)
FILLS(ssize_t, listxattr, (const char *path, char *place, size_t size), (path, place, size), hash_text(path), place,
      size, result > 0 && size > 0 ? result : 0)
FILLS(ssize_t, llistxattr, (const char *path, char *place, size_t size), (path, place, size), hash_text(path), place,
      size, result > 0 && size > 0 ? result : 0)
FILLS(ssize_t, flistxattr, (int file, char *place, size_t size), (file, place, size), (uint64_t)file, place, size,
      result > 0 && size > 0 ? result : 0)
CHANGES(int, setxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
        (path, name, value, size, flags), hash_bytes(key_of_two(path, name), value, size))
CHANGES(int, lsetxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
        (path, name, value, size, flags), hash_bytes(key_of_two(path, name), value, size))
CHANGES(int, fsetxattr, (int file, const char *name, const void *value, size_t size, int flags),
        (file, name, value, size, flags), hash_bytes(key_of(name, (uint64_t)file), value, size))
CHANGES(int, removexattr, (const char *path, const char *name), (path, name), key_of_two(path, name))
CHANGES(int, lremovexattr, (const char *path, const char *name), (path, name), key_of_two(path, name))
CHANGES(int, fremovexattr, (int file, const char *name), (file, name), key_of(name, (uint64_t)file))

/* Where the process is */

static int (*real_chdir)(const char *);
static int hook_chdir(const char *path)
{
    if (refuses()) return -1;
    if (passes()) return real_chdir(path);
    if (!before_blocking()) return goes_to(path, (int)replay_call("chdir", hash_text(path), NULL, 0));
    return (int)record_call("chdir", hash_text(path), BLOCKING(real_chdir(path)), NULL, 0);
}
static int (*real_fchdir)(int);
static int hook_fchdir(int folder)
{
    if (refuses()) return -1;
    if (passes()) return real_fchdir(folder);
    uint64_t key = (uint64_t)folder;
    if (!before_blocking()) return goes_to(path_held(folder), (int)replay_call("fchdir", key, NULL, 0));
    return (int)record_call("fchdir", key, BLOCKING(real_fchdir(folder)), NULL, 0);
}
CHANGES(int, chroot, (const char *path), (path), hash_text(path))

static char *(*real_getcwd)(char *, size_t);
static char *hook_getcwd(char *place, size_t size)
{
    if (passes()) return real_getcwd(place, size);
    char *given = place;
    if (place == NULL && (place = malloc(size > 0 ? size : (size = PATH_ROOM))) == NULL) return NULL;
    Part part = {place, size};
    int64_t result;
    if (mode == REPLAY) {
        result = replay_call("getcwd", size, &part, 1);
    } else {
        result = real_getcwd(place, size) != NULL;
        part.size = result ? strlen(place) + 1 : 0;
        record_call("getcwd", size, result, &part, 1);
    }
    if (!result && given == NULL) free(place);
    return result ? place : NULL;
}
static char *hook_getcwd_chk(char *place, size_t size, size_t Py_UNUSED(room)) { return hook_getcwd(place, size); }

static char *(*real_realpath)(const char *, char *);
static char *hook_realpath(const char *path, char *place)
{
    if (passes()) return real_realpath(path, place);
    char *given = place;
    if (place == NULL && (place = malloc(PATH_ROOM)) == NULL) return NULL;
    Part part = {place, PATH_ROOM};
    int64_t result;
    if (mode == REPLAY) {
        result = replay_call("realpath", hash_text(path), &part, 1);
    } else {
        result = real_realpath(path, place) != NULL;
        part.size = result ? strlen(place) + 1 : 0;
        record_call("realpath", hash_text(path), result, &part, 1);
    }
    if (!result && given == NULL) free(place);
    return result ? place : NULL;
}
static char *hook_realpath_chk(const char *path, char *place, size_t Py_UNUSED(room))
{
    return hook_realpath(path, place);
}

/* Names that are made here: the template is filled in. */

#define MAKES(name, parameters, arguments)                                                                             \
    static int(*real_##name) parameters;                                                                               \
    static int hook_##name parameters                                                                                  \
    {                                                                                                                  \
        if (refuses()) return -1;                                                                                      \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t key = hash_text(path);                                                                                \
        Part part = {path, strlen(path) + 1};                                                                          \
        int made = mode == REPLAY ? (int)replay_call(#name, key, &part, 1)                                             \
                                  : (int)record_call(#name, key, real_##name arguments, &part, 1);                     \
        return holds_file(made, AT_FDCWD, path, O_RDWR);                                                               \
    }

MAKES(mkstemp, (char *path), (path))
MAKES(mkostemp, (char *path, int flags), (path, flags))
MAKES(mkstemps, (char *path, int ending), (path, ending))
MAKES(mkostemps, (char *path, int ending, int flags), (path, ending, flags))

static char *(*real_mkdtemp)(char *);
static char *hook_mkdtemp(char *path)
{
    if (refuses()) return NULL;
    if (passes()) return real_mkdtemp(path);
    uint64_t key = hash_text(path);
    Part part = {path, strlen(path) + 1};
    if (mode == REPLAY) return replay_call("mkdtemp", key, &part, 1) ? path : NULL;
    return record_call("mkdtemp", key, real_mkdtemp(path) != NULL, &part, 1) ? path : NULL;
}

/* Directories */

#define DIRECTORY_MARK 0x64617070646972ull
#define DIRECTORY_ROOM 32768

typedef struct {
    uint64_t mark; /* none of the C library's begins so: with a descriptor */
    int file;
    size_t place, filled;
    uint64_t offset; /* of the entry that was given last */
    char entries[DIRECTORY_ROOM] __attribute__((aligned(16)));
} Directory;

static Directory *own(DIR *directory)
{
    return directory != NULL && ((Directory *)directory)->mark == DIRECTORY_MARK ? (Directory *)directory : NULL;
}

static DIR *(*real_fdopendir)(int);
static DIR *hook_fdopendir(int file)
{
    if (passes()) return real_fdopendir(file);
    struct stat found;
    if (hook_fstat(file, &found) < 0) return NULL;
    if (!S_ISDIR(found.st_mode)) {
        errno = ENOTDIR;
        return NULL;
    }
    Directory *made = malloc(sizeof *made);
    if (made == NULL) return NULL;
    made->mark = DIRECTORY_MARK;
    made->file = file;
    made->place = made->filled = 0;
    made->offset = 0;
    return (DIR *)made;
}

static DIR *(*real_opendir)(const char *);
static DIR *hook_opendir(const char *path)
{
    if (passes()) return real_opendir(path);
    int file = hook_open(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return NULL;
    DIR *made = hook_fdopendir(file);
    if (made == NULL) hook_close(file);
    return made;
}

static int64_t read_entries(Directory *directory)
{
    Part part = {directory->entries, DIRECTORY_ROOM};
    if (!passes() && mode == REPLAY) return replay_call("getdents64", (uint64_t)directory->file, &part, 1);
    int64_t result = syscall(SYS_getdents64, directory->file, directory->entries, DIRECTORY_ROOM);
    if (passes()) return result;
    part.size = result > 0 ? (size_t)result : 0;
    return record_call("getdents64", (uint64_t)directory->file, result, &part, 1);
}

/* The system's entries have the form of `struct dirent`. */
_Static_assert(offsetof(struct dirent, d_name) == 19 && offsetof(struct dirent, d_reclen) == 16, "struct dirent");

static struct dirent *(*real_readdir)(DIR *);
static struct dirent *hook_readdir(DIR *directory)
{
    Directory *read = own(directory);
    if (read == NULL) return real_readdir(directory);
    if (read->place >= read->filled) {
        int error = errno;
        int64_t size = read_entries(read);
        if (size == 0) errno = error; /* the end: not an error */
        if (size <= 0) return NULL;
        read->place = 0;
        read->filled = (size_t)size;
    }
    struct dirent *entry = (struct dirent *)(read->entries + read->place);
    read->place += entry->d_reclen;
    read->offset = (uint64_t)entry->d_off;
    return entry;
}

static int (*real_closedir)(DIR *);
static int hook_closedir(DIR *directory)
{
    Directory *closed = own(directory);
    if (closed == NULL) return real_closedir(directory);
    int file = closed->file;
    closed->mark = 0;
    free(closed);
    return hook_close(file);
}

static void (*real_seekdir)(DIR *, long);
static void hook_seekdir(DIR *directory, long offset)
{
    Directory *moved = own(directory);
    if (moved == NULL) {
        real_seekdir(directory, offset);
        return;
    }
    hook_lseek(moved->file, offset, SEEK_SET);
    moved->place = moved->filled = 0;
    moved->offset = (uint64_t)offset;
}

static void (*real_rewinddir)(DIR *);
static void hook_rewinddir(DIR *directory)
{
    if (own(directory) == NULL) real_rewinddir(directory);
    else hook_seekdir(directory, 0);
}

static long (*real_telldir)(DIR *);
static long hook_telldir(DIR *directory)
{
    Directory *asked = own(directory);
    return asked == NULL ? real_telldir(directory) : (long)asked->offset;
}

static int (*real_dirfd)(DIR *);
static int hook_dirfd(DIR *directory)
{
    Directory *asked = own(directory);
    return asked == NULL ? real_dirfd(directory) : asked->file;
}

const Hook file_hooks[] = {
    ROW(stat),
    ALIAS(stat64, stat),
    ROW(lstat),
    ALIAS(lstat64, lstat),
    ROW(fstat),
    ALIAS(fstat64, fstat),
    ROW(fstatat),
    ALIAS(fstatat64, fstatat),
    ROW(statx),
    ROW(__xstat),
    ALIAS(__xstat64, __xstat),
    ROW(__lxstat),
    ALIAS(__lxstat64, __lxstat),
    ROW(__fxstat),
    ALIAS(__fxstat64, __fxstat),
    ROW(__fxstatat),
    ALIAS(__fxstatat64, __fxstatat),
    ROW(__xmknod),
    ROW(__xmknodat),
    ROW(statvfs),
    ALIAS(statvfs64, statvfs),
    ROW(fstatvfs),
    ALIAS(fstatvfs64, fstatvfs),
    ROW(statfs),
    ALIAS(statfs64, statfs),
    ROW(fstatfs),
    ALIAS(fstatfs64, fstatfs),
    ROW(access),
    ROW(euidaccess),
    ALIAS(eaccess, euidaccess),
    ROW(faccessat),
    ROW(pathconf),
    ROW(fpathconf),
    ROW(readlink),
    {"__readlink_chk", hook_readlink_chk, (void **)&real_readlink},
    ROW(readlinkat),
    {"__readlinkat_chk", hook_readlinkat_chk, (void **)&real_readlinkat},
    ROW(mkdir),
    ROW(mkdirat),
    ROW(mkfifo),
    ROW(mkfifoat),
    ROW(mknod),
    ROW(mknodat),
    ROW(rmdir),
    ROW(unlink),
    ROW(unlinkat),
    ROW(remove),
    ROW(rename),
    ROW(renameat),
    ROW(renameat2),
    ROW(link),
    ROW(linkat),
    ROW(symlink),
    ROW(symlinkat),
    ROW(shm_open),
    ROW(shm_unlink),
    ROW(chmod),
    ROW(lchmod),
    ROW(fchmod),
    ROW(fchmodat),
    ROW(chown),
    ROW(lchown),
    ROW(fchown),
    ROW(fchownat),
    ROW(utime),
    ROW(utimes),
    ROW(lutimes),
    ROW(futimes),
    ROW(futimens),
    ROW(utimensat),
    ROW(truncate),
    ALIAS(truncate64, truncate),
    ROW(getxattr),
    ROW(lgetxattr),
    ROW(fgetxattr),
    ROW(listxattr),
    ROW(llistxattr),
    ROW(flistxattr),
    ROW(setxattr),
    ROW(lsetxattr),
    ROW(fsetxattr),
    ROW(removexattr),
    ROW(lremovexattr),
    ROW(fremovexattr),
    ROW(chdir),
    ROW(fchdir),
    ROW(chroot),
    ROW(getcwd),
    {"__getcwd_chk", hook_getcwd_chk, (void **)&real_getcwd},
    ROW(realpath),
    {"__realpath_chk", hook_realpath_chk, (void **)&real_realpath},
    ROW(mkstemp),
    ALIAS(mkstemp64, mkstemp),
    ROW(mkostemp),
    ALIAS(mkostemp64, mkostemp),
    ROW(mkstemps),
    ALIAS(mkstemps64, mkstemps),
    ROW(mkostemps),
    ALIAS(mkostemps64, mkostemps),
    ROW(mkdtemp),
    ROW(fdopendir),
    ROW(opendir),
    ROW(readdir),
    ALIAS(readdir64, readdir),
    ROW(closedir),
    ROW(seekdir),
    ROW(rewinddir),
    ROW(telldir),
    ROW(dirfd),
    LAST_ROW,
};
