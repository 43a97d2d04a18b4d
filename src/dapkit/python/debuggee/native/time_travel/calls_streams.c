/* Streams of the C library.

   A stream that the program opens is one of the C library over our own reading and writing, so its buffer is the same
   when it is executed again. Of the three standard streams only data read from `stdin` is recorded. */

#include "calls.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Libraries look for their own code in the memory map of the process (libffi 3.8 does, where it has a table of
   trampolines). A process that executes a recording has another map than the recorded one. */
static int is_own_map(const char *path)
{
    int pid = 0, size = 0;
    if (strcmp(path, "/proc/self/maps") == 0) return 1;
    if (sscanf(path, "/proc/%d/maps%n", &pid, &size) != 1 || size == 0 || path[size] != 0) return 0;
    if (mode == REPLAY) return (int)replay_call("fopen", 0, NULL, 0); /* this process has another number */
    return (int)record_call("fopen", 0, pid == getpid(), NULL, 0);
}

static FILE *(*real_fopen)(const char *, const char *);
static FILE *hook_fopen(const char *path, const char *kind)
{
    if (kind[0] != 'r' && refuses()) return NULL;
    if (passes()) return real_fopen(path, kind);
    if (is_own_map(path)) return real_fopen("/proc/self/maps", kind);
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
    if (!before_blocking()) return replay_call("fgets", (uint64_t)size, &part, 1) ? place : NULL;
    char *result = BLOCKING(real_fgets(place, size, stream));
    part.size = result == NULL ? 0 : strlen(place) + 1;
    return record_call("fgets", (uint64_t)size, result != NULL, &part, 1) ? place : NULL;
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
    if (!before_blocking()) return (size_t)replay_call("fread", NUMBERS(size, count), &part, 1);
    size_t result = BLOCKING(real_fread(place, size, count, stream));
    part.size = result * size;
    return (size_t)record_call("fread", NUMBERS(size, count), (int64_t)result, &part, 1);
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
        if (mode == REPLAY) return (int)replay_call(#name, 0, NULL, 0);                                                \
        return (int)record_call(#name, 0, real_##name(stream), NULL, 0);                                               \
    }

ASKS_STREAM(getc)
ASKS_STREAM(fgetc)
ASKS_STREAM(getc_unlocked)
ASKS_STREAM(__uflow)
ASKS_STREAM(feof)
ASKS_STREAM(ferror)

/* Standard output and error: written bytes are counted. */

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

const Hook stream_hooks[] = {
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
