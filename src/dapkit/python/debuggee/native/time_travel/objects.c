/* Where objects of the program lie: at the same addresses when it is executed again, so that sets of them have the same
   order. The interpreter's allocator of objects is replaced by one with a place of its own in memory, the same in each
   process, for the program only: objects of the debugger have addresses elsewhere, whether the program runs live, in a
   replay process, or from a recording.

   Memory of freed objects that the interpreter keeps for reuse (its free lists) is kept apart, too: while the debugger
   executes, it has lists of its own. Where they are, is found by a number that was just freed. Each size has a region
   of its own, so that it makes no difference if the interpreter makes a number more and frees it at once. Texts have
   others: when the name of an attribute is made and freed depends on other lookups of the interpreter, and on the known
   names. They are recognized by the code that asks for their memory: PyUnicode_New, and all copies that the compiler has
   put into other functions, which are found by making some. */

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
#define SITES 256                /* a power of two, and many times as many as there are */
#define MOST_SITES 64
static const void *text_sites[SITES]; /* other places that ask for the memory of texts, at their hashes or behind these */
static int count_sites;
#define LATEST 1024
static struct {
    const void *block, *site;
} latest[LATEST]; /* memory and who has asked for it, while such places are looked for */
static int is_learning;
static size_t count_latest;

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

static inline const void **site_slot(const void *site)
{
    size_t slot = (size_t)((uintptr_t)site * 0x9e3779b97f4a7c15u >> 56);
    while (text_sites[slot] != NULL && text_sites[slot] != site) slot = (slot + 1) % SITES;
    return &text_sites[slot];
}

static inline int kind_for(const void *caller)
{
    if ((size_t)((const char *)caller - make_text) < size_of_make_text) return SIZES;
    return *site_slot(caller) != NULL ? SIZES : 0;
}

static void note_site(const void *block, const void *site)
{
    latest[count_latest % LATEST].block = block;
    latest[count_latest++ % LATEST].site = site;
}

/* Return who has asked for memory, of which another may have been the owner before. */
static const void *site_of(const void *block)
{
    for (size_t i = count_latest; i > 0 && i + LATEST > count_latest; i--)
        if (latest[(i - 1) % LATEST].block == block) return latest[(i - 1) % LATEST].site;
    return NULL;
}

static void *make(void *Py_UNUSED(context), size_t size)
{
    const void *caller = __builtin_return_address(0);
    void *block = inside && size <= LARGEST ? take(size, kind_for(caller)) : NULL;
    if (block == NULL) block = usual.malloc(usual.context, size);
    if (is_learning) note_site(block, caller);
    return block;
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
    if (!is_object_memory(block)) {
        void *moved = usual.realloc(usual.context, block, size);
        if (is_learning) note_site(moved, site_of(block));
        return moved;
    }
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

static void learn_site(PyObject *text)
{
    const void *site = PyUnicode_CheckExact(text) ? site_of(text) : NULL;
    if (site == NULL || kind_for(site) != 0 || count_sites == MOST_SITES) return;
    *site_slot(site) = site;
    count_sites++;
}

/* Learn from where the memory of a text, or of those in a list, was asked for, and drop it. */
static void learn(PyObject *made)
{
    if (made == NULL) PyErr_Clear();
    else if (!PyList_Check(made)) learn_site(made);
    else
        for (Py_ssize_t i = 0; i < PyList_Size(made); i++) learn_site(PyList_GetItem(made, i));
    Py_XDECREF(made);
}

static void learn_of_c(const char *letters)
{
    PyObject *(*of_kind)(int, const void *, Py_ssize_t);
    Py_ssize_t size = (Py_ssize_t)strlen(letters);
    *(void **)&of_kind = dlsym(RTLD_DEFAULT, "PyUnicode_FromKindAndData");
    learn(PyUnicode_FromString(letters));
    learn(PyUnicode_FromStringAndSize(letters, size));
    learn(PyUnicode_DecodeUTF8(letters, size, "surrogatepass"));
    learn(PyUnicode_DecodeLatin1(letters, size, NULL));
    learn(PyUnicode_FromFormat("%s-%s", letters, letters));
    if (of_kind != NULL) learn(of_kind(1, letters, size));
}

static void learn_of_modules(void)
{
    static const char *const marshalled[] = {"z\x0d" "dapkit_learns", "Z\x0d" "dapkit_learns", "a\x0d\0\0\0" "dapkit_learns",
                                             "A\x0d\0\0\0" "dapkit_learns", "u\x0d\0\0\0" "dapkit_learns",
                                             "t\x0d\0\0\0" "dapkit_learns"}; /* as Python/marshal.c has texts */
    PyObject *(*unmarshal)(const char *, Py_ssize_t);
    *(void **)&unmarshal = dlsym(RTLD_DEFAULT, "PyMarshal_ReadObjectFromString");
    for (Py_ssize_t i = 0; unmarshal != NULL && i < LENGTH(marshalled); i++)
        learn(unmarshal(marshalled[i], (i < 2 ? 2 : 5) + 13));
}

#define TIMES 12 /* the interpreter has other code for an operation after some */

/* Makes texts in the ways in which the interpreter and programs make names: with letters of one byte, two, and four. */
static void find_text_sites(void)
{
    static const char *const letters[] = {"dapkit-learns it", "d\xc3\xa4pkit-learns it", "d\xc4\x93pkit-learns it",
                                          "d\xf0\x9f\x90\x8dpkit-learns it"};
    static const char ways[] =
        "[f'{a}-{n}', f'{a}-{a}', f'{a!r}', '%s-%s' % (a, n), '{}-{}'.format(a, n), a + a, a * 2, a[1:9], a[0],"
        " '-'.join([a, a]), a.replace('-', a), *a.split('-'), *a.split(), *a.partition('-'), *a.rpartition('-'),"
        " *a.rsplit('-', 1), ('  ' + a).strip(), a.lower(), a.upper(), a.title(), a.ljust(40), a.__repr__(),"
        " a.__format__('>40'), n.__repr__(), a.encode().decode(), a.translate({45: 95}), a.removeprefix('d'),"
        " b'dapkit'.decode('ascii'), b'dapkit\\xe4'.decode('latin-1'), b'dapkit'.hex()]";
    PyObject *names = PyDict_New(), *number = PyLong_FromLong(123456789);
    PyObject *code = Py_CompileString(ways, "<dapkit>", Py_eval_input);
    is_learning = 1;
    learn_of_modules();
    for (Py_ssize_t i = 0; i < LENGTH(letters); i++) {
        learn_of_c(letters[i]);
        PyObject *text = PyUnicode_FromString(letters[i]);
        int ready = code != NULL && names != NULL && text != NULL && number != NULL &&
                    PyDict_SetItemString(names, "a", text) == 0 && PyDict_SetItemString(names, "n", number) == 0;
        for (int time = 0; ready && time < TIMES; time++) learn(PyEval_EvalCode(code, names, names));
        Py_XDECREF(text);
    }
    is_learning = 0;
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(number);
    Py_XDECREF(names);
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
    find_text_sites();
}
