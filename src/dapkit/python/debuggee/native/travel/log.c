/* The notes of what the program took from outside: a memory that the process and its checkpoints share.

   A note:  size of it all | call | clock | key | result | errno | signals | parts, each with its size, padded to 8 bytes.
   Only the live process appends; a process that replays reads from where it was when its checkpoint was made. */

#include "travel.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)1 << 36) /* addresses that are kept free for it */
#define CHUNK ((size_t)1 << 24)
#define PADDED(size) (((size) + 7) & ~(size_t)7)

typedef struct {
    uint32_t size, count; /* bytes of it all; number of parts */
    const char *call;     /* the text is at the same address in each process */
    uint64_t ticks, key;
    int64_t result;
    int64_t error;
    uint64_t signals; /* that were delivered after it */
} Note;

LogHead *log_head;
uint64_t log_place, ticks;
static char *log_begin;
static size_t log_room;
static int log_file = -1;

int make_log(void)
{
    log_file = memfd_create("dapkit-log", MFD_CLOEXEC);
    if (log_file < 0 || ftruncate(log_file, CHUNK) < 0) return -1;
    log_begin = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, log_file, 0);
    if (log_begin == MAP_FAILED) return -1;
    log_file = out_of_the_way(log_file);
    log_room = CHUNK;
    log_head = (LogHead *)log_begin;
    log_place = log_head->end = PADDED(sizeof *log_head);
    return 0;
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t hash = seed ^ size, word;
    for (; size >= 8; size -= 8, byte += 8) {
        memcpy(&word, byte, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; size > 0; size--, byte++) hash = (hash ^ *byte) * 1099511628211u;
    return hash;
}

/* The interpreter's import names the file that it writes bytecode to by the address of an object (`NAME.pyc.ADDRESS`),
   which what the debugger does at the beginning of a program can move. Such a number does not count. */
uint64_t hash_text(const char *text)
{
    if (text == NULL) return hash_bytes(1, "", 0);
    size_t size = strlen(text), rest = size;
    while (rest > 0 && text[rest - 1] >= '0' && text[rest - 1] <= '9') rest--;
    int is_address = size - rest >= 8 && rest > 0 && text[rest - 1] == '.';
    return hash_bytes(0, text, is_address ? rest : size);
}

static int make_room(size_t size)
{
    while (log_head->end + size > log_room) {
        if (log_room + CHUNK > ROOM || ftruncate(log_file, (off_t)(log_room + CHUNK)) < 0) return -1;
        log_room += CHUNK;
    }
    return 0;
}

int64_t note(const char *call, uint64_t key, int64_t result, const Part *parts, int count)
{
    int error = errno;
    size_t size = sizeof(Note);
    for (int i = 0; i < count; i++) size += 8 + PADDED(parts[i].size);
    if (make_room(size) < 0) {
        mode = OFF; /* no history from here on */
        let_threads_go();
        errno = error;
        return result;
    }
    char *place = log_begin + log_head->end;
    uint64_t signals = signals_taken();
    *(Note *)place = (Note){(uint32_t)size, (uint32_t)count, call, ticks, key, result, error, signals};
    place += sizeof(Note);
    for (int i = 0; i < count; i++) {
        *(uint64_t *)place = parts[i].size;
        if (parts[i].size) memcpy(place + 8, parts[i].place, parts[i].size);
        place += 8 + PADDED(parts[i].size);
    }
    log_place = log_head->end += size;
    errno = error;
    if (signals) deliver(signals);
    return result;
}

static const Note *take(const char *call, uint64_t key)
{
    if (log_place >= log_head->end) reached_end();
    const Note *found = (const Note *)(log_begin + log_place);
    int is_other = found->call != call && strcmp(found->call, call) != 0;
    if (is_other || found->ticks != ticks || found->key != key) diverged(call, found->call, found->ticks);
    log_place += found->size;
    return found;
}

uint64_t tick_of_signal(void)
{
    const Note *next = (const Note *)(log_begin + log_place);
    return log_place < log_head->end && strcmp(next->call, "signal") == 0 ? next->ticks : UINT64_MAX;
}

int next_is(const char *call, uint64_t key)
{
    if (log_place >= log_head->end) return 0;
    const Note *next = (const Note *)(log_begin + log_place);
    return next->key == key && next->ticks == ticks && (next->call == call || strcmp(next->call, call) == 0);
}

int64_t answer(const char *call, uint64_t key, Part *parts, int count)
{
    const Note *found = take(call, key);
    const char *place = (const char *)(found + 1);
    for (int i = 0; i < count && i < (int)found->count; i++) {
        size_t size = *(const uint64_t *)place;
        if (size > parts[i].size) diverged(call, found->call, found->ticks);
        if (size) memcpy(parts[i].place, place + 8, size);
        parts[i].size = size;
        place += 8 + PADDED(size);
    }
    errno = (int)found->error;
    if (found->signals) deliver(found->signals);
    if (tick_of_signal() != UINT64_MAX) be_due();
    return found->result;
}

int64_t answer_whole(const char *call, uint64_t key, const void **part, size_t *size)
{
    const Note *found = take(call, key);
    const char *place = (const char *)(found + 1);
    *size = found->count ? *(const uint64_t *)place : 0;
    *part = place + 8;
    errno = (int)found->error;
    if (found->signals) deliver(found->signals);
    if (tick_of_signal() != UINT64_MAX) be_due();
    return found->result;
}
