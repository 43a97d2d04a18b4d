/* Objects by their addresses, which are the same in the past as in the live program. Whether there is one at that moment is
   read as bytes first: an address of which nothing is known may be anything. */

#include "time_travel.h"
#include <string.h>

int is_object_at(uintptr_t place, uintptr_t type)
{
    uint64_t head[2]; /* the count of references, and the type */
    const void *from = (const void *)place;
    if (place % 8 != 0) return 0;
    if (is_object_memory(from)) memcpy(head, from, sizeof head);
    else if (read_safely(head, from, sizeof head) < sizeof head) return 0;
    return head[1] == type && head[0] != 0 && head[0] >> 32 == 0;
}

static PyObject *object_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned long long place, type;
    if (!PyArg_ParseTuple(args, "KK", &place, &type)) return NULL;
    if (!is_object_at((uintptr_t)place, (uintptr_t)type)) Py_RETURN_NONE;
    return Py_NewRef((PyObject *)(uintptr_t)place);
}

PyMethodDef object_methods[] = {
    {"object_at", object_at, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
