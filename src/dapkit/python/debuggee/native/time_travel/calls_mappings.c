/* Memory that is shared with others or is of a file. It is private memory of the same address when the program is executed
   again, and so is shared memory in a copy: it would change under it. */

#include "calls.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

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
        /* A file may be shorter than its mapping: the system copies the existing part. */
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

/* The parts of a file in a mapping of it: the number of segments, -1 if they are too many or too large. */
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
    void *place = (void *)replay_call_whole("mmap", key, &found, &all);
    if (place == MAP_FAILED) return place;
    int error = errno;
    const Segment *segments = found;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, rights_to_fill = PROT_READ | PROT_WRITE;
    void *made = mmap(place, size, rights_to_fill, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (made == MAP_FAILED) made = mmap(NULL, size, rights_to_fill, flags, -1, 0); /* an engine has something there */
    place = made;
    for (size_t i = 0; i < all / sizeof *segments; i++) {
        replay_call_whole("mapped", segments[i].begin, &content, &filled);
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
    record_call("mmap", key, (int64_t)place, &table, 1);
    for (int i = 0; i < count; i++) {
        Part content = {(char *)place + segments[i].begin, segments[i].size};
        record_call("mapped", segments[i].begin, 0, &content, 1);
    }
    if (count < 0) above.on_recording_over("a file that is mapped has too much in it");
    errno = error;
    return place;
}

static int (*real_munmap)(void *, size_t);
static int hook_munmap(void *place, size_t size)
{
    if (mapping_count > 0) remove_mapping(place);
    return real_munmap(place, size);
}

/* Memory that grows with its file: the new part is recorded. */
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
    if (!before_blocking()) return (int)replay_call("msync", NUMBERS(size, flags), NULL, 0);
    return (int)record_call("msync", NUMBERS(size, flags), BLOCKING(real_msync(place, size, flags)), NULL, 0);
}

const Hook mapping_hooks[] = {
    ROW(mmap),
    ALIAS(mmap64, mmap),
    ROW(munmap),
    ROW(mremap),
    ROW(msync),
    LAST_ROW,
};
