/* Functions of the interpreter that are looked for by their names, since they are outside of the stable ABI. */

#include "native.h"

#ifdef MS_WINDOWS

#include <windows.h>

/* The interpreter is a library of its own, whose name has its version. */
void *find_symbol(const char *name)
{
    HMODULE library;
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExA(how, (LPCSTR)(void *)PyLong_FromLong, &library)) return NULL;
    return (void *)GetProcAddress(library, name);
}

#else

#include <dlfcn.h>

void *find_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

#endif
