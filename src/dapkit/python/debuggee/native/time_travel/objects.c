/* Where objects of the program lie: at the same addresses when it is executed again, so that sets of them have the same
   order. The interpreter's allocator of objects is replaced by one with a place of its own in memory, the same in each
   process, for the program only: objects of the debugger have addresses elsewhere, whether the program runs live, in a
   replay process, or from a recording.

   Memory of freed objects that the interpreter keeps for reuse (its free lists) is kept apart, too: while the debugger
   executes, it has lists of its own. Where they are, is found by a number that was just freed. Each size has a region
   of its own, so that it makes no difference if the interpreter makes a number more and frees it at once. Texts have
   others: when the name of an attribute is made and freed depends on other lookups of the interpreter, and on the known
   names. They are recognized by the function that makes them. */

#include "time_travel.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define PLACE ((char *)0x2000000000)
#define REGION_BITS 32 /* addresses of each size; memory comes with use */
#define SMALL 512
#define LARGEST 32768
#define SMALL_SIZES 32
#define SIZES (SMALL_SIZES + 24)
#define REGIONS (2 * SIZES) /* of texts come behind the others */
#define MOST_ASIDE 100000
#define GRANULE_BITS 4
#define INVERSE_BITS 40 /* enough to divide exactly, for so many granules and such sizes */

typedef struct { /* PyMemAllocatorEx */
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
} Allocator;

static Allocator usual;
static void *freed[REGIONS];
static char *next[REGIONS];
static size_t sizes[REGIONS];
static uint32_t *numbers[SIZES];  /* of each block, for hashes; NULL until one is asked for */
static uint64_t inverses[SIZES];  /* 2 ** INVERSE_BITS, divided by the size in granules */
static const char *make_text; /* PyUnicode_New, */
static size_t size_of_make_text; /* 0 if that is not known */

int is_object_memory(const void *block)
{
    return (const char *)block >= PLACE && (const char *)block < PLACE + ((size_t)REGIONS << REGION_BITS);
}

static int class_of(const void *block) { return (int)(((const char *)block - PLACE) >> REGION_BITS); }

static inline uint32_t *number_at(int class, const void *object)
{
    uint64_t granule = ((uintptr_t)object & (((uintptr_t)1 << REGION_BITS) - 1)) >> GRANULE_BITS;
    return &numbers[class][(unsigned __int128)granule * inverses[class] >> INVERSE_BITS];
}

static int make_numbers(int class)
{
    size_t count = ((size_t)1 << REGION_BITS) / sizes[class] + 1;
    uint32_t *made = mmap(NULL, count * sizeof *made, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return -1;
    numbers[class] = made;
    inverses[class] = ((uint64_t)1 << INVERSE_BITS) / (sizes[class] >> GRANULE_BITS) + 1;
    return 0;
}

uint32_t *number_of_object(const void *object)
{
    if (!is_object_memory(object)) return NULL;
    int class = class_of(object);
    if (class >= SIZES || (numbers[class] == NULL && make_numbers(class) < 0)) return NULL;
    return number_at(class, object);
}

static inline void forget_number(int class, const void *block)
{
    if (class >= SIZES || numbers[class] == NULL) return;
    uint32_t *number = number_at(class, block);
    if (*number != 0) *number = 0;
}

static int class_for(size_t size)
{
    if (size <= SMALL) return size == 0 ? 0 : (int)((size - 1) >> 4);
    int class = SMALL_SIZES;
    while (sizes[class] < size) class++;
    return class;
}

/* `kind` is 0, or SIZES for a text. */
static void *take(size_t size, int kind)
{
    int class = class_for(size) + kind;
    void *block = freed[class];
    if (block != NULL) {
        freed[class] = *(void **)block;
        return block;
    }
    if (next[class] + sizes[class] > PLACE + ((size_t)(class + 1) << REGION_BITS)) return NULL;
    block = next[class];
    next[class] += sizes[class];
    return block;
}

static inline int kind_for(const void *caller)
{
    return (size_t)((const char *)caller - make_text) < size_of_make_text ? SIZES : 0;
}

static void *make(void *Py_UNUSED(context), size_t size)
{
    void *block = inside && size <= LARGEST ? take(size, kind_for(__builtin_return_address(0))) : NULL;
    return block != NULL ? block : usual.malloc(usual.context, size);
}

static void *make_clear(void *Py_UNUSED(context), size_t count, size_t size)
{
    size_t whole;
    void *block = NULL;
    if (inside && !__builtin_mul_overflow(count, size, &whole) && whole <= LARGEST) block = take(whole, 0);
    return block != NULL ? memset(block, 0, whole) : usual.calloc(usual.context, count, size);
}

/* Objects of the program that the debugger has freed: the interpreter's cache of attributes holds names, for example, which
   it drops for others. The program would have it at another time, or never: it comes to lie where its next objects would
   when a copy is made that has it there, too. */
static struct {
    void *first, *last;
} freed_aside[REGIONS];
static int count_aside;
__thread int is_done_again __attribute__((tls_model("initial-exec")));

void take_freed_aside(void)
{
    for (int class = 0; class < REGIONS; class++) {
        if (freed_aside[class].first == NULL) continue;
        *(void **)freed_aside[class].last = freed[class];
        freed[class] = freed_aside[class].first;
        freed_aside[class].first = NULL;
    }
    count_aside = 0;
}

static void end_block_aside(void *block)
{
    int class = class_of(block);
    if (freed_aside[class].first == NULL) freed_aside[class].last = block;
    *(void **)block = freed_aside[class].first;
    freed_aside[class].first = block;
    if (++count_aside > MOST_ASIDE) take_freed_aside();
}

static void end(void *Py_UNUSED(context), void *block)
{
    if (!is_object_memory(block)) {
        usual.free(usual.context, block);
        return;
    }
    int class = class_of(block);
    forget_number(class, block);
    if (!inside && !is_done_again) {
        end_block_aside(block);
    } else {
        *(void **)block = freed[class];
        freed[class] = block;
    }
}

static void *make_again(void *context, void *block, size_t size)
{
    if (block == NULL) return make(context, size);
    if (!is_object_memory(block)) return usual.realloc(usual.context, block, size);
    size_t had = sizes[class_of(block)];
    int kind = class_of(block) < SIZES ? 0 : SIZES;
    if (size <= LARGEST && class_for(size) + kind == class_of(block)) return block;
    void *other = size <= LARGEST ? take(size, kind) : NULL;
    if (other == NULL) other = usual.malloc(usual.context, size);
    if (other == NULL) return NULL;
    memcpy(other, block, had < size ? had : size);
    end(context, block);
    return other;
}

/* The interpreter's free lists: parts of its state, by their distance in bytes from the free list of floats */

#define MOST_PARTS 6
#define MOST_LISTS 8192
#define WITHIN 327680 /* of the interpreter's state */

typedef struct {
    int version;        /* 0x030d: 3.13 */
    int head;           /* of the list of floats, from its beginning */
    int of_lists;       /* where the one of lists has its latest, or its first, object */
    struct {
        int begin, size;
    } parts[MOST_PARTS];
} Layout;

static const Layout LAYOUTS[] = {
    {0x030c, 8, 2664, {{0, 16}, {2416, 8 + 240 + 648}, {3328, 1288}, {4680, 1296 + 16}}},
    {0x030d, 8, 256, {{0, 3536}}},
    {0x030e, 0, 22 * 16, {{0, 39 * 16}}},
    {0x030f, 0, 23 * 16, {{0, 41 * 16}}},
};

static char *lists; /* NULL if they were not found */
static const Layout *layout;
static char others[MOST_LISTS];
static int depth;

static void swap(char *one, char *other, size_t size)
{
    char between[MOST_LISTS];
    memcpy(between, one, size);
    memcpy(one, other, size);
    memcpy(other, between, size);
}

static void swap_lists(void)
{
    char *other = others;
    for (int i = 0; i < MOST_PARTS && layout->parts[i].size; i++) {
        swap(lists + layout->parts[i].begin, other, (size_t)layout->parts[i].size);
        other += layout->parts[i].size;
    }
}

void lists_of_debugger(void)
{
    if (lists != NULL && depth++ == 0) swap_lists();
}

void lists_of_program(void)
{
    if (lists != NULL && --depth == 0) swap_lists();
}

static const void *freed_float(double value)
{
    PyObject *made = PyFloat_FromDouble(value), *place = made;
    Py_XDECREF(made);
    return place;
}

static int list_is_kept(char *found, const Layout *of)
{
    PyObject *one = PyList_New(0), *place = one;
    Py_XDECREF(one);
    void *const *list = (void *const *)(found + of->of_lists);
    if (of->version >= 0x030e) return *list == place;
    int count = *(const int *)(list + 80);
    return count > 0 && count <= 80 && list[count - 1] == place;
}

static void find_lists(void)
{
    char *state = (char *)PyInterpreterState_Get();
    const Layout *of = NULL;
    for (Py_ssize_t i = 0; i < LENGTH(LAYOUTS); i++)
        if (LAYOUTS[i].version == (int)(Py_Version >> 16)) of = &LAYOUTS[i];
    if (of == NULL) return;
    PyObject *held = PyFloat_FromDouble(1.5e300), *other = PyFloat_FromDouble(2.5e300);
    const void *first = held, *second = other;
    Py_XDECREF(held);
    const void *here = *(void **)&first;
    for (char *word = state; word + sizeof(void *) <= state + WITHIN; word += sizeof(void *)) {
        if (*(const void *const *)word != here) continue;
        lists = word - of->head;
        break;
    }
    Py_XDECREF(other); /* now it is the first that would be used again */
    int is_as_expected = lists != NULL && *(const void *const *)(lists + of->head) == second &&
                         freed_float(3.5e300) == second && list_is_kept(lists, of);
    if (!is_as_expected) lists = NULL;
    layout = of;
}

/* Memory that the interpreter has kept so far is left to it. */
void empty_lists(void)
{
    if (lists == NULL) return;
    for (int i = 0; i < MOST_PARTS && layout->parts[i].size; i++)
        memset(lists + layout->parts[i].begin, 0, (size_t)layout->parts[i].size);
}

static void find_make_text(void)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    make_text = dlsym(RTLD_DEFAULT, "PyUnicode_New");
    if (make_text == NULL || dladdr1(make_text, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return;
    size_of_make_text = symbol->st_size;
}

void place_objects(void)
{
    void (*get)(int, Allocator *), (*set)(int, const Allocator *);
    *(void **)&get = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    *(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    if (get == NULL || set == NULL) return;
    void *place = mmap(PLACE, (size_t)REGIONS << REGION_BITS, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != PLACE) return; /* objects lie where they may */
    for (int i = 0; i < REGIONS; i++) {
        int number = i % SIZES, above = number - SMALL_SIZES;
        sizes[i] = above < 0 ? (size_t)(number + 1) * 16 : ((size_t)SMALL << (above / 4)) / 4 * (size_t)(5 + above % 4);
        next[i] = PLACE + ((size_t)i << REGION_BITS);
    }
    find_lists();
    find_make_text();
    get(2 /* PYMEM_DOMAIN_OBJ */, &usual);
    set(2, &(Allocator){NULL, make, make_clear, make_again, end});
}
