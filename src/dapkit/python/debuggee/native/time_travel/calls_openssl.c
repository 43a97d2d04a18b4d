/* Random numbers of OpenSSL. It makes them from random bytes of the system, but also from the addresses of its objects and
   from a counter of the processor. These differ where a recording is executed again, and where the program continues from a
   moment of its past at which it was looked at. So its generator is replaced by a method of the debugger, which records its
   results. */

#include "time_travel.h"
#include <dlfcn.h>

typedef struct { /* RAND_METHOD, as of OpenSSL 1.1 and 3 */
    int (*seed)(const void *, int);
    int (*bytes)(unsigned char *, int);
    void (*cleanup)(void);
    int (*add)(const void *, int, double);
    int (*pseudorand)(unsigned char *, int);
    int (*status)(void);
} Method;

static const Method *usual;
static Method ours;

static int noted(const char *call, int (*function)(unsigned char *, int), unsigned char *place, int size)
{
    if (passes() || size < 0) return function(place, size);
    Part part = {place, (size_t)size};
    if (mode == REPLAY) return (int)replay_call(call, (uint64_t)size, &part, 1);
    int was_inside = inside;
    inside = 0; /* its system calls are not recorded again */
    int result = function(place, size);
    inside = was_inside;
    return (int)record_call(call, (uint64_t)size, result, &part, 1);
}

static int bytes(unsigned char *place, int size) { return noted("RAND_bytes", usual->bytes, place, size); }
static int pseudorand(unsigned char *place, int size) { return noted("RAND_pseudo", usual->pseudorand, place, size); }

void take_random_numbers(const char *library)
{
    if (usual != NULL) return;
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return;
    const Method *(*get)(void);
    int (*set)(const Method *);
    *(void **)&get = dlsym(handle, "RAND_OpenSSL");
    *(void **)&set = dlsym(handle, "RAND_set_rand_method");
    const Method *found = get == NULL || set == NULL ? NULL : get();
    if (found != NULL && found->bytes != NULL && found->pseudorand != NULL) {
        usual = found;
        ours = *found;
        ours.bytes = bytes;
        ours.pseudorand = pseudorand;
        set(&ours);
    }
    dlclose(handle);
}
