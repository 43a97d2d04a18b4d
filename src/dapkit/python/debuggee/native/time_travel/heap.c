/* A heap of its own for memory that the C library allocates during calls to the outside.

   `getaddrinfo` reads files and keeps some of their contents. A replay does not call it, so its heap would differ from
   the live program's, and later objects would have other addresses. The C library's own slots for `malloc` and the
   like, and the copies of them that the dynamic linker has, are set to functions that take memory from here between
   `begin_aside` and `end_aside`. Memory that was allocated before is not given back in between: the heap stays as it
   is. */

#include "time_travel.h"
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM ((size_t)1 << 30) /* addresses; memory comes with use */
#define CLASSES 31
#define HEADER ((size_t)16)

static __thread int is_aside __attribute__((tls_model("initial-exec")));
static char *heap_begin, *heap_next;
static void *free_blocks[CLASSES]; /* by the binary logarithm of their size */
static atomic_flag is_locked = ATOMIC_FLAG_INIT;

void begin_aside(void)
{
    inside = 0; /* libraries that are called, such as name services, have slots of the debugger as well */
    is_aside = 1;
}

void end_aside(void)
{
    int error = errno;
    is_aside = 0;
    above.on_libraries(); /* such libraries may have been loaded */
    inside = 1;
    errno = error;
}

static int is_here(const void *block)
{
    return heap_begin != NULL && (const char *)block >= heap_begin && (const char *)block < heap_begin + ROOM;
}

static void *take(size_t size)
{
    int class = 5;
    if (size > ROOM / 4) return NULL;
    while (((size_t)1 << class) < size + HEADER) class++;
    while (atomic_flag_test_and_set(&is_locked)) sched_yield();
    char *block = free_blocks[class];
    if (block != NULL) {
        free_blocks[class] = *(void **)block;
    } else if ((size_t)(heap_next - heap_begin) + ((size_t)1 << class) <= ROOM) {
        *(int *)heap_next = class;
        block = heap_next + HEADER;
        heap_next += (size_t)1 << class;
    }
    atomic_flag_clear(&is_locked);
    return block;
}

static int class_of(const void *block) { return *(const int *)((const char *)block - HEADER); }

static void give_back(void *block)
{
    if (mode != LIVE) return; /* a thread that is not in this copy may have had the lock */
    while (atomic_flag_test_and_set(&is_locked)) sched_yield();
    *(void **)block = free_blocks[class_of(block)];
    free_blocks[class_of(block)] = block;
    atomic_flag_clear(&is_locked);
}

static void *hook_malloc(size_t size)
{
    if (!is_aside) return malloc(size);
    void *block = take(size);
    return block == NULL ? malloc(size) : block;
}

static void *hook_calloc(size_t count, size_t size)
{
    size_t whole;
    void *block = NULL;
    if (is_aside && !__builtin_mul_overflow(count, size, &whole)) block = take(whole);
    return block == NULL ? calloc(count, size) : memset(block, 0, whole);
}

static void hook_free(void *block)
{
    if (is_here(block))
        give_back(block);
    else if (!is_aside)
        free(block);
}

static void *hook_realloc(void *block, size_t size)
{
    if (!is_aside && !is_here(block)) return realloc(block, size);
    if (block == NULL) return hook_malloc(size);
    size_t had = is_here(block) ? ((size_t)1 << class_of(block)) - HEADER : malloc_usable_size(block);
    if (size <= had && is_here(block)) return block;
    void *larger = hook_malloc(size);
    if (larger == NULL) return NULL;
    memcpy(larger, block, had < size ? had : size);
    hook_free(block);
    return larger;
}

static void *real_malloc, *real_calloc, *real_realloc, *real_free;

const Hook heap_hooks[] = {
    {"malloc", hook_malloc, &real_malloc},
    {"calloc", hook_calloc, &real_calloc},
    {"realloc", hook_realloc, &real_realloc},
    {"free", hook_free, &real_free},
    {NULL, NULL, NULL},
};

int make_heap(void)
{
    heap_begin = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap_begin == MAP_FAILED) heap_begin = NULL;
    heap_next = heap_begin;
    return heap_begin == NULL ? -1 : 0;
}
