/* Exceptions that are thrown into a suspended function: `throw`, a task that is cancelled.

   From CPython 3.13 on, the line where the function was suspended may then be reported once more, which depends on
   whether the instruction that it would continue with (RESUME) is specialized by then. The debugger's requests undo that,
   live only. So it is undone whenever something is thrown, and the line is always reported. */

#include "time_travel.h"
#include <string.h>

typedef struct {
    int version; /* 0x030d: 3.13 */
    unsigned char resume, first, last; /* RESUME, and those that it is specialized to */
} Opcodes;

static const Opcodes OPCODES[] = {{0x030d, 149, 207, 207}, {0x030e, 128, 196, 196}, {0x030f, 128, 200, 201}};

#define PLACE_OF_RESUME 4 /* in a generator: after the instruction that makes it */

static const Opcodes *opcodes; /* NULL if there is nothing to be done */
static Py_ssize_t size_of_code; /* of the object, before its instructions */

static int is_as_expected(const Opcodes *known, PyObject *code, PyObject *original, PyObject *adapted)
{
    char *begin, *now;
    Py_ssize_t size, size_now;
    if (PyBytes_AsStringAndSize(original, &begin, &size) < 0 || PyBytes_AsStringAndSize(adapted, &now, &size_now) < 0) return 0;
    return size > PLACE_OF_RESUME && (unsigned char)begin[PLACE_OF_RESUME] == known->resume &&
           memcmp((const char *)code + size_of_code, now, (size_t)size_now) == 0;
}

/* Takes the code of a generator, by which it is seen whether the interpreter is as expected. */
static PyObject *even_out_throws(PyObject *Py_UNUSED(module), PyObject *code)
{
    const Opcodes *known = NULL;
    for (Py_ssize_t i = 0; i < LENGTH(OPCODES); i++)
        if (OPCODES[i].version == (int)(Py_Version >> 16)) known = &OPCODES[i];
    if (known == NULL) Py_RETURN_FALSE;
    PyObject *size = PyObject_GetAttrString((PyObject *)Py_TYPE(code), "__basicsize__");
    PyObject *original = PyObject_GetAttrString(code, "co_code"), *adapted = PyObject_GetAttrString(code, "_co_code_adaptive");
    size_of_code = size == NULL ? -1 : PyLong_AsSsize_t(size);
    if (size_of_code > 0 && original && adapted && is_as_expected(known, code, original, adapted)) opcodes = known;
    Py_XDECREF(size);
    Py_XDECREF(original);
    Py_XDECREF(adapted);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(opcodes != NULL);
}

static PyObject *on_throw(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count < 2) return PyErr_Format(PyExc_TypeError, "on_throw takes a code object, an offset and an exception");
    Py_ssize_t offset = PyLong_AsSsize_t(args[1]);
    if (offset < 0) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    unsigned char *instruction = (unsigned char *)args[0] + size_of_code + offset;
    if (opcodes != NULL && *instruction >= opcodes->first && *instruction <= opcodes->last) *instruction = opcodes->resume;
    Py_RETURN_NONE;
}

PyMethodDef throw_methods[] = {
    {"even_out_throws", even_out_throws, METH_O, NULL},
    {"on_throw", (PyCFunction)(void (*)(void))on_throw, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
