/* The slots by which loaded objects call the C library, and their new values.

   An object that is linked dynamically calls functions of others by pointers in a table of its own, which the dynamic
   linker fills in (`R_*_JUMP_SLOT`, `R_*_GLOB_DAT`). We write our functions there, once for each object; objects that are
   loaded later get them when `dlopen` returns. Calls inside the C library are unchanged, except those for its heap
   (`heap.c`), and so are ours. */

#include "time_travel.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#else
#define IS_SLOT(type) ((void)(type), 0)
#endif

#define MOST_OBJECTS 4096

static const Hook *const TABLES[] = {object_hooks, time_hooks,    file_hooks,   descriptor_hooks, terminal_hooks,
                                     mapping_hooks, stream_hooks, process_hooks, signal_hooks,    user_hooks,
                                     socket_hooks, waiting_hooks, name_hooks,   semaphore_hooks,
                                     library_thread_hooks};
static const Hook *const OF_INTERPRETER[] = {interpreter_hooks, interpreter_semaphore_hooks};
static ElfW(Addr) seen[MOST_OBJECTS];
static int seen_count;
static const char *libcrypto; /* where it was loaded from */

static const Hook *hook_among(const Hook *hook, const char *name)
{
    for (; hook->name != NULL; hook++)
        if (strcmp(hook->name, name) == 0) return hook;
    return NULL;
}

static const Hook *hook_of(const char *name, int is_interpreter)
{
    const Hook *hook = NULL;
    for (Py_ssize_t table = 0; is_interpreter && table < LENGTH(OF_INTERPRETER) && hook == NULL; table++)
        hook = hook_among(OF_INTERPRETER[table], name);
    for (Py_ssize_t table = 0; table < LENGTH(TABLES) && hook == NULL; table++) hook = hook_among(TABLES[table], name);
    return hook;
}

/* A program calls functions of the C library by their names (ctypes, cffi). */

static void *(*real_dlsym)(void *, const char *);
static void *hook_dlsym(void *library, const char *name)
{
    void *found = real_dlsym(library, name);
    const Hook *hook = mode == OFF || found == NULL ? NULL : hook_of(name, 0);
    return hook != NULL && *hook->real == found ? hook->hook : found;
}

static const Hook by_name_hooks[] = {
    {"dlsym", hook_dlsym, (void **)&real_dlsym},
    {NULL, NULL, NULL},
};

static void find_real(const Hook *hook)
{
    for (; hook->name != NULL; hook++)
        if (*hook->real == NULL) *hook->real = dlsym(RTLD_NEXT, hook->name);
}

int find_real_functions(void)
{
    for (Py_ssize_t table = 0; table < LENGTH(TABLES); table++) find_real(TABLES[table]);
    for (Py_ssize_t table = 0; table < LENGTH(OF_INTERPRETER); table++) find_real(OF_INTERPRETER[table]);
    find_real(by_name_hooks);
    for (const Hook *hook = heap_hooks; hook->name != NULL; hook++) *hook->real = dlsym(RTLD_DEFAULT, hook->name);
    return 0;
}

typedef struct {
    ElfW(Addr) base, relro, relro_end;
    const ElfW(Sym) *symbols;
    const char *names;
    enum { OWN, LIBC, NAME_SERVICE, LINKER, CALLER_BY_NAME, OTHER } kind;
    int is_interpreter; /* libpython, or the program that has it in itself */
} Object;

static void set_slot(const Object *object, void **slot, void *value)
{
    ElfW(Addr) place = (ElfW(Addr))slot;
    if (place < object->relro || place >= object->relro_end) {
        *slot = value;
        return;
    }
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE), begin = place & ~(page - 1);
    if (mprotect((void *)begin, page, PROT_READ | PROT_WRITE) != 0) return;
    *slot = value;
    mprotect((void *)begin, page, PROT_READ);
}

static void set_slots_among(const Object *object, const ElfW(Rela) *entries, size_t size)
{
    for (size_t i = 0; i < size / sizeof *entries; i++) {
        if (!IS_SLOT(ELF64_R_TYPE(entries[i].r_info)) || ELF64_R_SYM(entries[i].r_info) == 0) continue;
        const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entries[i].r_info)];
        const char *name = object->names + symbol->st_name;
        const Hook *hook = object->kind >= CALLER_BY_NAME ? NULL : hook_among(heap_hooks, name);
        if (hook == NULL && object->kind != LIBC && symbol->st_shndx == SHN_UNDEF) /* else it has one itself */
            hook = hook_of(name, object->is_interpreter);
        if (hook == NULL && object->kind == CALLER_BY_NAME) hook = hook_among(by_name_hooks, name);
        if (hook != NULL && *hook->real != NULL)
            set_slot(object, (void **)(object->base + entries[i].r_offset), hook->hook);
    }
}

static int kind_of(const struct dl_phdr_info *info)
{
    static const struct {
        const char *begin;
        int kind;
    } NAMES[] = {{"_travel", OWN},       {"_native", OWN},   {"linux-vdso", OWN},          {"ld-linux", LINKER},
                 {"libc.so", LIBC},      {"libc-", LIBC},    {"libpthread", LIBC},         {"libdl", LIBC},
                 {"libnss_", NAME_SERVICE}, {"libresolv", NAME_SERVICE}, {"_ctypes.", CALLER_BY_NAME},
                 {"_cffi_backend.", CALLER_BY_NAME}};
    const char *name = strrchr(info->dlpi_name, '/');
    name = name == NULL ? info->dlpi_name : name + 1;
    for (Py_ssize_t i = 0; i < LENGTH(NAMES); i++)
        if (strncmp(name, NAMES[i].begin, strlen(NAMES[i].begin)) == 0) return NAMES[i].kind;
    return OTHER;
}

/* The dynamic linker allocates with the C library's functions, too, but has found them without a relocation: they are
   searched in its protected data (glibc: `__rtld_malloc` and others). */
static void set_linker(const Object *object)
{
    for (void **word = (void **)object->relro; (ElfW(Addr))(word + 1) <= object->relro_end; word++)
        for (const Hook *hook = heap_hooks; hook->name != NULL; hook++)
            if (*word == *hook->real && *word != NULL) set_slot(object, word, hook->hook);
}

static int set_slots_of(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *Py_UNUSED(data))
{
    for (int i = 0; i < seen_count; i++)
        if (seen[i] == info->dlpi_addr) return 0;
    if (seen_count < MOST_OBJECTS) seen[seen_count++] = info->dlpi_addr;
    Object object = {.base = info->dlpi_addr, .kind = kind_of(info)};
    if (strstr(info->dlpi_name, "/libcrypto.so") != NULL) libcrypto = info->dlpi_name;
    if (object.kind == OWN) return 0;
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        ElfW(Addr) within = (ElfW(Addr))&PyEval_SaveThread - object.base - header->p_vaddr;
        if (header->p_type == PT_LOAD && within < header->p_memsz) object.is_interpreter = 1;
        if (header->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(object.base + header->p_vaddr);
        if (header->p_type == PT_GNU_RELRO) {
            object.relro = object.base + header->p_vaddr;
            object.relro_end = object.relro + header->p_memsz;
        }
    }
    if (object.kind == LINKER) {
        set_linker(&object);
        return 0;
    }
    const ElfW(Rela) *calls = NULL, *others = NULL;
    size_t calls_size = 0, others_size = 0;
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        ElfW(Addr) value = dynamic->d_un.d_ptr;
        switch (dynamic->d_tag) {
        case DT_SYMTAB: object.symbols = (const ElfW(Sym) *)value; break;
        case DT_STRTAB: object.names = (const char *)value; break;
        case DT_JMPREL: calls = (const ElfW(Rela) *)value; break;
        case DT_PLTRELSZ: calls_size = value; break;
        case DT_RELA: others = (const ElfW(Rela) *)value; break;
        case DT_RELASZ: others_size = value; break;
        }
    }
    if (object.symbols == NULL || object.names == NULL) return 0;
    if (calls != NULL) set_slots_among(&object, calls, calls_size);
    if (others != NULL) set_slots_among(&object, others, others_size);
    return 0;
}

void set_slots(void)
{
    const char *before = libcrypto;
    dl_iterate_phdr(set_slots_of, NULL);
    if (libcrypto != before) take_random_numbers(libcrypto);
}

/* Objects are loaded in replay as well: their code is part of the program. */

static void *(*real_dlopen)(const char *, int);

static void *hook_dlopen(const char *name, int flags)
{
    int was_inside = inside;
    inside = 0;
    void *handle = real_dlopen(name, flags);
    if (mode != OFF) set_slots();
    inside = was_inside;
    return handle;
}

const Hook object_hooks[] = {
    {"dlopen", hook_dlopen, (void **)&real_dlopen},
    {NULL, NULL, NULL},
};
