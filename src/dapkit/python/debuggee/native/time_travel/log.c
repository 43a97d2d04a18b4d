/* The event log: the program's inputs, in memory that the process and its checkpoints share, or in a file.

   A note:  size of it all | call | clock | key | result | errno | signals | parts, each with its size, padded to 8 bytes.
   Only the live process appends; a process that replays reads from where it was when its checkpoint was made. */

#include "time_travel.h"
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM ((size_t)1 << 36) /* addresses that are kept free for it */
#define CHUNK ((size_t)1 << 24)
#define PADDED(size) (((size) + 7) & ~(size_t)7)

typedef struct {
    uint32_t size, count; /* bytes of it all; number of parts */
    uint64_t call;        /* number of its name */
    uint64_t ticks, key;
    int64_t result;
    int64_t error;
    uint64_t signals; /* that were delivered after it */
} Note;

static char *log_begin;
static size_t log_room, log_most = ROOM;
static int log_file = -1;

static int map_log(int file)
{
    if (file < 0) return -1;
    log_begin = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (log_begin == MAP_FAILED) return -1;
    log_file = out_of_the_way(file);
    log_head = (LogHead *)log_begin;
    log_place = PADDED(sizeof *log_head);
    return 0;
}

/* A file that has no room would end the program when it is written to. */
static int allocate(int file, size_t from, size_t size)
{
    return (errno = posix_fallocate(file, (off_t)from, (off_t)size)) == 0 ? 0 : -1;
}

static int grow(size_t size)
{
    return is_recording ? allocate(log_file, log_room, size - log_room) : ftruncate(log_file, (off_t)size);
}

void end_log_here(void)
{
    struct stat found;
    if (fstat(log_file, &found) == 0) log_room = (size_t)found.st_size; /* the live program has made it larger */
    log_head->end = log_place;
    log_head->ticks = ticks;
}

static int make_room(size_t size)
{
    while (log_head->end + size > log_room) {
        if (log_room + CHUNK > log_most || grow(log_room + CHUNK) < 0) return -1;
        log_room += CHUNK;
    }
    return 0;
}

/* A lock on a recording's file says that this process has not ended yet. It is there before the file has a size. */
static int lock_log(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_SETLK, &lock);
}

static int begin_log(int file)
{
    log_room = 0;
    if (map_log(file) < 0 || (is_recording && lock_log(log_file) < 0) || grow(CHUNK) < 0) return -1;
    log_room = CHUNK;
    log_head->end = log_place;
    return 0;
}

int make_log(void) { return begin_log(memfd_create("dapkit-log", MFD_CLOEXEC)); }

int record_log(const char *path, uint64_t most)
{
    log_most = most < CHUNK ? CHUNK : most < ROOM ? most : ROOM;
    return begin_log(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

/* The parent's notes are mapped here until then, and grow. */
int record_log_of_fork(const char *path)
{
    static LogHead head;
    memcpy(&head, log_head, sizeof head);
    head.end = log_place;
    head.exit = 0;
    head.collections = count_collections();
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    file = out_of_the_way(file); /* before it is locked: to close any descriptor of a file gives up the lock */
    if (lock_log(file) < 0 || pwrite(file, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        allocate(file, log_place, CHUNK) < 0 ||
        mmap(log_begin, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0) == MAP_FAILED) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    close(log_file);
    log_file = file;
    log_room = log_place + CHUNK;
    return 0;
}

int read_log(const char *path) { return map_log(open(path, O_RDWR | O_CLOEXEC)); }

/* The number that notes have of a call. */
static uint64_t number_of(const char *call)
{
    static struct {
        const char *call;
        uint64_t number;
    } known[1024];
    size_t place = ((uintptr_t)call ^ (uintptr_t)call >> 10) % LENGTH(known);
    if (known[place].call == call) return known[place].number;
    uint64_t number = 0;
    while (number < log_head->names && strcmp(log_head->name[number], call) != 0) number++;
    if (number == log_head->names) {
        if (mode != LIVE || number == MOST_NAMES) return UINT64_MAX;
        strncpy(log_head->name[number], call, NAME_SIZE - 1);
        log_head->names++;
    }
    known[place].call = call;
    known[place].number = number;
    return number;
}

static const char *name_of(const Note *noted) { return noted->call < MOST_NAMES ? log_head->name[noted->call] : "?"; }

static const Note *next_note(void)
{
    return log_place < log_head->end ? (const Note *)(log_begin + log_place) : NULL;
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

/* The interpreter's import names the file to which it writes bytecode by the address of an object (`NAME.pyc.ADDRESS`),
   which the debugger's work at the beginning of a program can move. Such a number does not count. */
uint64_t hash_text(const char *text)
{
    if (text == NULL) return hash_bytes(1, "", 0);
    size_t size = strlen(text), rest = size;
    while (rest > 0 && text[rest - 1] >= '0' && text[rest - 1] <= '9') rest--;
    int is_address = size - rest >= 8 && rest > 0 && text[rest - 1] == '.';
    return hash_bytes(0, text, is_address ? rest : size);
}

#define MOST_HASHED 65536 /* of long output in many calls, the beginning of the rest is enough */
#define ADDRESS_DIGITS 8
#define NUMBER_DIGITS 12

static size_t count_digits(const unsigned char *text, size_t size, int are_hex)
{
    size_t count = 0;
    while (count < size && (are_hex ? isxdigit(text[count]) : isdigit(text[count]))) count++;
    return count;
}

/* How many bytes there are of a text that says where an object lies, at its beginning. */
static size_t size_of_address(const unsigned char *text, size_t size)
{
    if (!isdigit(*text)) return 0;
    int is_hex = size > 1 && text[0] == '0' && text[1] == 'x';
    size_t digits = count_digits(text + 2 * is_hex, size - 2 * (size_t)is_hex, is_hex), all = digits + 2 * (size_t)is_hex;
    return digits >= (is_hex ? ADDRESS_DIGITS : NUMBER_DIGITS) || all == size ? all : 0;
}

/* When a recording is replayed, objects have other addresses: addresses in the program's output do not count. */
uint64_t hash_written(uint64_t seed, const void *place, size_t size)
{
    const unsigned char *text = place;
    size_t hashed = size < MOST_HASHED ? size : MOST_HASHED;
    if (!is_recorded) return hash_bytes(hash_number(seed, size), place, hashed);
    uint64_t hash = hash_number(seed, 1);
    size_t next = count_digits(text, hashed, 1); /* the rest of one that was begun before */
    while (next < hashed) {
        size_t skipped = size_of_address(text + next, hashed - next);
        size_t digits = skipped ? 0 : count_digits(text + next, hashed - next, 0), taken = digits ? digits : 1;
        if (skipped) hash = (hash ^ '0') * 1099511628211u;
        for (size_t i = 0; !skipped && i < taken; i++) hash = (hash ^ text[next + i]) * 1099511628211u;
        next += skipped ? skipped : taken;
    }
    return hash;
}

int64_t record_call(const char *call, uint64_t key, int64_t result, const Part *parts, int count)
{
    int error = errno;
    size_t size = sizeof(Note);
    for (int i = 0; i < count; i++) size += 8 + PADDED(parts[i].size);
    uint64_t number = number_of(call);
    if (make_room(size) < 0) {
        above.on_recording_over(errno == ENOSPC ? "no room was left on the disk" : "it has as many bytes as it may have");
        errno = error;
        return result;
    }
    char *place = log_begin + log_head->end;
    uint64_t signals = above.signals_due();
    *(Note *)place = (Note){(uint32_t)size, (uint32_t)count, number, clock_of_notes(), key, result, error, signals};
    place += sizeof(Note);
    for (int i = 0; i < count; i++) {
        *(uint64_t *)place = parts[i].size;
        if (parts[i].size) memcpy(place + 8, parts[i].place, parts[i].size);
        place += 8 + PADDED(parts[i].size);
    }
    log_place = log_head->end += size;
    if (is_recording) young_at_tick = *young_count;
    above.on_note();
    errno = error;
    if (signals) above.on_signals(signals);
    return result;
}

static const Note *take(const char *call, uint64_t key)
{
    if (is_recorded) collect_due_before_note();
    const Note *found = next_note();
    if (found == NULL) above.on_end();
    if (found->call != number_of(call) || found->ticks != clock_of_notes() || found->key != key)
        above.on_divergence(call, name_of(found), found->ticks);
    log_place += found->size;
    above.on_note();
    if (is_recorded) aim_collector_at_note();
    return found;
}

uint64_t tick_of_signal(void)
{
    const Note *next = next_note();
    if (next == NULL || next->call != number_of("signal") || (is_recorded && !has_threads)) return UINT64_MAX;
    return is_recorded ? next->ticks + threads_since : next->ticks;
}

int signal_is_due(void) { return tick_of_signal() == ticks; }

int next_is(const char *call, uint64_t key)
{
    const Note *next = next_note();
    return next != NULL && next->key == key && next->ticks == clock_of_notes() && next->call == number_of(call);
}

void diverged_here(const char *call)
{
    const Note *next = next_note();
    if (next == NULL) above.on_divergence(call, "-", ticks);
    else above.on_divergence(call, name_of(next), next->ticks);
}

int64_t replay_call(const char *call, uint64_t key, Part *parts, int count)
{
    const Note *found = take(call, key);
    const char *place = (const char *)(found + 1);
    for (int i = 0; i < count && i < (int)found->count; i++) {
        size_t size = *(const uint64_t *)place;
        if (size > parts[i].size) above.on_divergence(call, name_of(found), found->ticks);
        if (size) memcpy(parts[i].place, place + 8, size);
        parts[i].size = size;
        place += 8 + PADDED(size);
    }
    errno = (int)found->error;
    if (found->signals) above.on_signals(found->signals);
    if (tick_of_signal() != UINT64_MAX) be_due();
    return found->result;
}

int64_t replay_call_whole(const char *call, uint64_t key, const void **part, size_t *size)
{
    const Note *found = take(call, key);
    const char *place = (const char *)(found + 1);
    *size = found->count ? *(const uint64_t *)place : 0;
    *part = place + 8;
    errno = (int)found->error;
    if (found->signals) above.on_signals(found->signals);
    if (tick_of_signal() != UINT64_MAX) be_due();
    return found->result;
}
