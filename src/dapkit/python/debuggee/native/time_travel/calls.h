/* The common form of most hooks: the result of a call is recorded, and the memory that it has filled. */

#ifndef DAPKIT_TRAVEL_CALLS_H
#define DAPKIT_TRAVEL_CALLS_H

#include "open_files.h"
#include <stdio.h>
#include <sys/types.h>

/* A key of numbers. */
#define NUMBERS(...) hash_bytes(0, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}))

/* A call that only gives a result. */
#define READS(type, name, parameters, arguments, key)                                                                  \
    static type(*real_##name) parameters;                                                                              \
    static type hook_##name parameters                                                                                 \
    {                                                                                                                  \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t noted_key = (key);                                                                                    \
        if (!before_blocking()) return (type)replay_call(#name, noted_key, NULL, 0);                                   \
        return (type)record_call(#name, noted_key, (int64_t)BLOCKING(real_##name arguments), NULL, 0);                 \
    }

/* A call that makes a descriptor. */
#define OPENS(name, parameters, arguments, key)                                                                        \
    static int(*real_##name) parameters;                                                                               \
    static int hook_##name parameters                                                                                  \
    {                                                                                                                  \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t noted_key = (key);                                                                                    \
        if (!before_blocking()) return holds((int)replay_call(#name, noted_key, NULL, 0));                             \
        return holds((int)record_call(#name, noted_key, BLOCKING(real_##name arguments), NULL, 0));                    \
    }

/* A call that changes something outside, and only gives a result. */
#define CHANGES(type, name, parameters, arguments, key)                                                                \
    static type(*real_##name) parameters;                                                                              \
    static type hook_##name parameters                                                                                 \
    {                                                                                                                  \
        if (refuses()) return (type)-1;                                                                                \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t noted_key = (key);                                                                                    \
        if (!before_blocking()) return (type)replay_call(#name, noted_key, NULL, 0);                                   \
        return (type)record_call(#name, noted_key, (int64_t)BLOCKING(real_##name arguments), NULL, 0);                 \
    }

/* A call that fills a place, if there is one; `filled` is how many bytes of it, as an expression of `result`. */
#define FILLS(type, name, parameters, arguments, key, to_fill, its_room, filled)                                       \
    static type(*real_##name) parameters;                                                                              \
    static type hook_##name parameters                                                                                 \
    {                                                                                                                  \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t noted_key = (key);                                                                                    \
        Part part = {(void *)(to_fill), 0};                                                                            \
        if (part.place != NULL) part.size = (size_t)(its_room);                                                        \
        if (!before_blocking()) return (type)replay_call(#name, noted_key, &part, 1);                                  \
        type result = BLOCKING(real_##name arguments);                                                                 \
        part.size = part.place == NULL ? 0 : (size_t)(filled);                                                         \
        return (type)record_call(#name, noted_key, (int64_t)result, &part, 1);                                         \
    }

#define ROW(name) {#name, hook_##name, (void **)&real_##name}
#define ALIAS(alias, name) {#alias, hook_##name, (void **)&real_##name}
#define LAST_ROW {NULL, NULL, NULL}

#pragma GCC visibility push(hidden)

/* calls_descriptors.c: also the basis of directories and streams */

int hook_open(const char *path, int flags, ...);
ssize_t hook_read(int descriptor, void *place, size_t size);
ssize_t hook_write(int descriptor, const void *place, size_t size);
off_t hook_lseek(int descriptor, off_t offset, int from);
int hook_close(int descriptor);
int hook_pipe2(int *ends, int flags);
int64_t count_written(int descriptor, int64_t size); /* returns the size */

/* calls_signals.c */

void forget_signals(void); /* that have come, in a child */

/* calls_streams.c */

FILE *stream_of(int descriptor, const char *kind);
int descriptor_of(FILE *stream); /* -1 if it is unknown */

#pragma GCC visibility pop

#endif
