/* Calls, as the interpreter counts and shows them: room for our callbacks near the recursion limit, frames that are
   not shown, threads without events.

   The two fields that are changed here are not part of the stable ABI. Where they lie is found by experiment in the
   interpreter at hand; where that has no clear outcome, they are left alone. */

#include "native.h"
#include <string.h>

enum {
    ROOM = 500,  /* calls that a callback of the debugger may nest, beyond the program's remaining ones */
    LOOKED_AT = 192, /* bytes of a thread state; it is larger in every version */
    MISSES = 1000,
};

static Py_ssize_t remaining_at = -1; /* PyThreadState.py_recursion_remaining */
static PyObject *missed;             /* a list, for `note_miss` */

static int *remaining(void) { return (int *)((char *)PyThreadState_Get() + remaining_at); }

/* Changing the limit changes two fields of the thread state: the limit, and how much of it remains. Without a GIL, the
   interpreter stops the world for that. */
static void find_remaining(void)
{
    static const int STEPS[] = {0, 1009, 3011};
    int limit = Py_GetRecursionLimit(), seen[LENGTH(STEPS)][LOOKED_AT / sizeof(int)], found = 0, limits = 0;
    Py_ssize_t place = -1;
    for (int i = 0; i < LENGTH(STEPS); i++) {
        Py_SetRecursionLimit(limit + STEPS[i]);
        memcpy(seen[i], PyThreadState_Get(), LOOKED_AT);
    }
    Py_SetRecursionLimit(limit);
    for (int i = 0; i < LENGTH(seen[0]); i++) {
        if (seen[1][i] - seen[0][i] != STEPS[1] || seen[2][i] - seen[0][i] != STEPS[2]) continue;
        if (seen[0][i] == limit) limits++;
        else found++, place = i * (Py_ssize_t)sizeof(int);
    }
    if (found == 1 && limits == 1) remaining_at = place;
}

int prepare_calls(PyObject *module)
{
    find_remaining();
    missed = PyList_New(0);
    if (PyModule_AddObjectRef(module, "SKIPPED_EVENTS", missed) < 0) return -1;
    return PyModule_AddIntConstant(module, "ROOM", remaining_at < 0 ? 0 : ROOM);
}

/* with_headroom */

/* Note where it was: code and line or offset. An event has these first; a breakpoint is given its frame. */
static PyObject *note_miss(PyObject *const *args, Py_ssize_t count)
{
    PyObject *note = NULL;
    PyErr_Clear();
    if (PyList_Size(missed) >= MISSES) Py_RETURN_NONE;
    if (count >= 2 && PyLong_Check(args[1])) note = PyTuple_Pack(2, args[0], args[1]);
    else if (count >= 3) note = PyTuple_Pack(2, args[1], args[2]);
    else if (count == 1) note = Py_BuildValue("(Ni)", PyFrame_GetCode((PyFrameObject *)args[0]),
                                              PyFrame_GetLineNumber((PyFrameObject *)args[0]));
    if (note == NULL || PyList_Append(missed, note) < 0) PyErr_Clear();
    Py_XDECREF(note);
    Py_RETURN_NONE;
}

PyObject *call_with_room(PyObject *callable, PyObject *const *args, size_t given, PyObject *names)
{
    int room = remaining_at < 0 ? 0 : ROOM;
    if (room) *remaining() += room;
    PyObject *result = PyObject_Vectorcall(callable, args, given, names);
    if (room) *remaining() -= room;
    if (result == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) return note_miss(args, argument_count(given));
    return result;
}

static PyObject *serve_with_room(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    PyObject *callable = Py_NewRef(callback_of(object)->refs[0]);
    PyObject *result = call_with_room(callable, args, given, names);
    Py_DECREF(callable);
    return result;
}

static PyObject *with_headroom(PyObject *Py_UNUSED(module), PyObject *callable)
{
    PyObject *made = new_callback(serve_with_room, 0);
    if (made != NULL) callback_of(made)->refs[0] = Py_NewRef(callable);
    return made;
}

static PyObject *uncount_calls(PyObject *Py_UNUSED(module), PyObject *count)
{
    long number = PyLong_AsLong(count);
    if (number == -1 && PyErr_Occurred()) return NULL;
    if (remaining_at >= 0) *remaining() += (int)number;
    Py_RETURN_NONE;
}

/* hide */

static PyObject *hide(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code, *samples[3];
    int first[3], last;
    if (!PyArg_ParseTuple(args, "Oi(Oi)(Oi)(Oi):hide", &code, &last, &samples[0], &first[0], &samples[1], &first[1],
                          &samples[2], &first[2]))
        return NULL;
    PyObject *size = PyObject_GetAttrString((PyObject *)Py_TYPE(code), "__basicsize__");
    Py_ssize_t end = size == NULL ? -1 : PyLong_AsSsize_t(size), place = -1, found = 0;
    Py_XDECREF(size);
    if (end < 0) return NULL;
    for (Py_ssize_t at = head_size; at + (Py_ssize_t)sizeof(int) <= end; at += (Py_ssize_t)sizeof(int)) {
        int same = 0;
        for (int i = 0; i < 3; i++) same += *(int *)((char *)samples[i] + at) == first[i];
        if (same == 3) found++, place = at;
    }
    if (found != 1) Py_RETURN_FALSE;
    *(int *)((char *)code + place) = last;
    Py_RETURN_TRUE;
}

static PyObject *enter_tracing(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    if (optional.enter_tracing != NULL) optional.enter_tracing(PyThreadState_Get());
    Py_RETURN_NONE;
}

static PyObject *raise_in_thread(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned long ident;
    PyObject *exception;
    if (!PyArg_ParseTuple(args, "kO:raise_in_thread", &ident, &exception)) return NULL;
    return PyLong_FromLong(PyThreadState_SetAsyncExc(ident, exception == Py_None ? NULL : exception));
}

PyMethodDef calls_methods[] = {
    {"with_headroom", with_headroom, METH_O, PyDoc_STR(
        "with_headroom(called, /)\n--\n\n"
        "Make a callback that calls the callable with room for further calls, however few the recursion limit leaves.\n"
        "If it fails by a RecursionError all the same, it returns None, and SKIPPED_EVENTS says where that was.")},
    {"uncount_calls", uncount_calls, METH_O, PyDoc_STR(
        "uncount_calls(number, /)\n--\n\nLet the calling thread nest so many more calls than the limit says.")},
    {"hide", hide, METH_VARARGS, PyDoc_STR(
        "hide(code, last, *samples, /)\n--\n\n"
        "Let the frame of a code object count as one that has not begun, and say whether that was possible. `last` is the\n"
        "index of its last instruction; three samples (code object, index of its RESUME) show where that is kept.")},
    {"raise_in_thread", raise_in_thread, METH_VARARGS, PyDoc_STR(
        "raise_in_thread(ident, exception, /)\n--\n\n"
        "Raise an exception, a class, in a thread at its next instruction; None withdraws what was to be raised.")},
    {"enter_tracing", enter_tracing, METH_NOARGS, PyDoc_STR(
        "enter_tracing()\n--\n\nHave no tool, tracer or profiler called in this thread.")},
    {NULL, NULL, 0, NULL},
};
