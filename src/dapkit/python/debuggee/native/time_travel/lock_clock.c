/* Times that the interpreter asks for when it acquires a lock, even one that it does not wait for. The program never sees
   them, and whether locks of the interpreter's own are acquired at all depends on earlier work, including the debugger's:
   they are not recorded.

   They are asked for by a function that others use, too. Who has called that is found where it was seen to lie on the
   stack when a lock was acquired for this purpose. */

#define _GNU_SOURCE
#include "time_travel.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#define MOST_WORDS 64

static const char *begin_of_acquire;
static size_t size_of_acquire;
static int is_sought;
static const void *asks;  /* where the function that asks for the time continues, */
static ptrdiff_t distance; /* and how far from that its caller is found: in words, 0 if it is not known */

static int is_in_acquire(const void *place)
{
    return (const char *)place >= begin_of_acquire && (const char *)place < begin_of_acquire + size_of_acquire;
}

int is_time_of_lock(const void *const *frame, const void *returns_to)
{
    if (is_sought && distance == 0) {
        for (ptrdiff_t i = 1; i < MOST_WORDS && distance == 0; i++)
            if (is_in_acquire(frame[i])) distance = i;
        asks = returns_to;
    }
    return distance != 0 && returns_to == asks && is_in_acquire(frame[distance]);
}

void find_time_of_lock(void)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    int (*acquire)(void *, long long, int);
    void *(*allocate)(void), (*destroy)(void *), (*release)(void *);
    *(void **)&acquire = dlsym(RTLD_DEFAULT, "PyThread_acquire_lock_timed");
    *(void **)&allocate = dlsym(RTLD_DEFAULT, "PyThread_allocate_lock");
    *(void **)&destroy = dlsym(RTLD_DEFAULT, "PyThread_free_lock");
    *(void **)&release = dlsym(RTLD_DEFAULT, "PyThread_release_lock");
    if (acquire == NULL || allocate == NULL || destroy == NULL || release == NULL) return;
    if (dladdr1((void *)acquire, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return;
    begin_of_acquire = (const char *)acquire;
    size_of_acquire = symbol->st_size;
    void *lock = allocate();
    if (lock == NULL) return;
    is_sought = 1;
    if (acquire(lock, 0, 0)) release(lock);
    is_sought = 0;
    destroy(lock);
}
