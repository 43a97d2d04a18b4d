/* The type of all our callbacks, and the simplest of them: counter, router, clock, interruptible.

   sys.monitoring may drop its reference to a callback while it runs, when another thread registers a new one.
   So each takes a reference to itself before it calls anything. (Without a GIL the world is stopped for that, so a thread
   that has read the reference has also come to where another one is taken.) */

#include "native.h"
#include <stddef.h>

PyTypeObject *callback_type;

/* An offset of a vectorcall that is relative to the head is understood from 3.14 on. */
#ifdef Py_TARGET_ABI3T
Py_ssize_t callback_at;
enum { HEAD = 0, RELATIVE = Py_RELATIVE_OFFSET, SIZE = -(int)sizeof(Callback) };
#else
enum { HEAD = sizeof(PyObject), RELATIVE = 0, SIZE = HEAD + sizeof(Callback) };
#endif

PyObject *new_callback(vectorcallfunc serve, size_t data_size)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(callback_type, Py_tp_alloc);
    PyObject *object = allocate(callback_type, 0);
    if (object == NULL) return NULL;
    Callback *self = callback_of(object);
    self->vectorcall = serve;
    if (data_size > 0 && (self->data = PyMem_Calloc(1, data_size)) == NULL) {
        Py_DECREF(object);
        return PyErr_NoMemory();
    }
    return object;
}

int refuse_call(Py_ssize_t least, Py_ssize_t most)
{
    PyErr_Format(PyExc_TypeError, "this callback takes %zd to %zd arguments without names", least, most);
    return -1;
}

static int callback_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    for (int i = 0; i < LENGTH(callback_of(object)->refs); i++) Py_VISIT(callback_of(object)->refs[i]);
    return 0;
}

static PyObject *serve_no_more(PyObject *Py_UNUSED(object), PyObject *const *Py_UNUSED(args), size_t Py_UNUSED(given),
                               PyObject *Py_UNUSED(names))
{
    Py_RETURN_NONE;
}

/* Members of a collected cycle may be called until all of it is gone. */
static int callback_clear(PyObject *object)
{
    callback_of(object)->vectorcall = serve_no_more;
    for (int i = 0; i < LENGTH(callback_of(object)->refs); i++) Py_CLEAR(callback_of(object)->refs[i]);
    return 0;
}

static void callback_dealloc(PyObject *object)
{
    Callback *self = callback_of(object);
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    callback_clear(object);
    if (self->data != NULL && self->free_data != NULL) self->free_data(self->data);
    PyMem_Free(self->data);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, HEAD + offsetof(Callback, vectorcall), Py_READONLY | RELATIVE, NULL},
    {"count", Py_T_LONGLONG, HEAD + offsetof(Callback, count), RELATIVE, PyDoc_STR("What a counter or a clock has counted.")},
    {"target", Py_T_LONGLONG, HEAD + offsetof(Callback, target), RELATIVE, PyDoc_STR("When a clock calls Python; 0 for never.")},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A callable in C, made by the functions of this module.")},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, callback_members},
    {Py_tp_traverse, callback_traverse},
    {Py_tp_clear, callback_clear},
    {Py_tp_dealloc, callback_dealloc},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "_native.Callback",
    .basicsize = SIZE,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE
             | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = callback_slots,
};

int make_callback_type(PyObject *module)
{
    callback_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &callback_spec, NULL);
    if (callback_type == NULL) return -1;
#ifdef Py_TARGET_ABI3T
    allocfunc allocate = (allocfunc)PyType_GetSlot(callback_type, Py_tp_alloc);
    PyObject *sample = allocate(callback_type, 0);
    if (sample == NULL) return -1;
    callback_at = (char *)PyObject_GetTypeData(sample, callback_type) - (char *)sample;
    Py_DECREF(sample);
#endif
    return PyModule_AddType(module, callback_type);
}

/* counter */

static PyObject *serve_count(PyObject *object, PyObject *const *Py_UNUSED(args), size_t given, PyObject *names)
{
    if (check_call(given, names, 0, 0) < 0) return NULL;
    return PyLong_FromLongLong(count_one(&callback_of(object)->count));
}

static PyObject *counter(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return new_callback(serve_count, 0);
}

/* router

   The breakpoint that is hit a million times is found once: the line that was served last is remembered. Without a GIL
   it is looked up each time, since other threads may be at other lines. */

enum { TABLE, OWN, SERVES }; /* in Callback.refs: the latter two are the entry of the line served last */

#ifndef Py_GIL_DISABLED
static void keep(PyObject **place, PyObject *value)
{
    PyObject *old = *place;
    *place = Py_NewRef(value);
    Py_XDECREF(old);
}
#endif

/* The callback of a line of a code object, borrowed, or from `*held`, which is to be dropped. NULL without an exception if
   it does not exist. */
static PyObject *callback_at_line(Callback *self, PyObject *code, PyObject *number, PyObject **held)
{
#ifdef Py_GIL_DISABLED
    *held = dict_item(self->refs[TABLE], number);
    PyObject *own = *held == NULL ? NULL : PyTuple_GetItem(*held, 0);
    return own != NULL && (own == code || own == Py_None) ? PyTuple_GetItem(*held, 1) : NULL;
#else
    *held = NULL;
    long *last = self->data, line = PyLong_AsLong(number);
    if (line == -1 && PyErr_Occurred()) return NULL;
    if (line != *last || self->refs[OWN] == NULL) {
        PyObject *entry = PyDict_GetItemWithError(self->refs[TABLE], number);
        if (entry == NULL) return NULL;
        PyObject *own = PyTuple_GetItem(entry, 0), *callback = PyTuple_GetItem(entry, 1);
        if (own == NULL || callback == NULL) return NULL;
        *last = line;
        keep(&self->refs[OWN], own);
        keep(&self->refs[SERVES], callback);
    }
    return self->refs[OWN] == code || self->refs[OWN] == Py_None ? self->refs[SERVES] : NULL;
#endif
}

static PyObject *serve_route(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    if (check_call(given, names, 2, 2) < 0) return NULL;
    PyObject *held, *result, *callback = callback_at_line(callback_of(object), args[0], args[1], &held);
    if (callback == NULL) {
        result = PyErr_Occurred() ? NULL : Py_NewRef(disable);
    } else if (Py_IS_TYPE(callback, callback_type)) { /* it keeps itself alive, and makes room where it calls Python */
        result = callback_of(callback)->vectorcall(callback, args, 2, NULL);
    } else {
        Py_INCREF(callback);
        result = call_with_room(callback, args, 2, NULL);
        Py_DECREF(callback);
    }
    Py_XDECREF(held);
    return result;
}

static PyObject *router(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *table;
    if (!PyArg_ParseTuple(args, "O!:router", &PyDict_Type, &table)) return NULL;
    PyObject *made = new_callback(serve_route, sizeof(long));
    if (made != NULL) callback_of(made)->refs[TABLE] = Py_NewRef(table);
    return made;
}

/* clock */

static PyObject *serve_tick(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    Callback *self = callback_of(object);
    if (count_one(&self->count) != read_count(&self->target)) Py_RETURN_NONE;
    Py_INCREF(object);
    PyObject *result = PyObject_Vectorcall(self->refs[0], args, given, names);
    Py_DECREF(object);
    return result;
}

static PyObject *clock_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *arrive;
    if (!PyArg_ParseTuple(args, "O:clock", &arrive)) return NULL;
    PyObject *made = new_callback(serve_tick, 0);
    if (made != NULL) callback_of(made)->refs[0] = Py_NewRef(arrive);
    return made;
}

/* interruptible */

enum { CALLED, COMES_AGAIN }; /* in Callback.refs */

static PyObject *serve_interruptible(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    Callback *self = callback_of(object);
    Py_INCREF(object);
    PyObject *result = call_with_room(self->refs[CALLED], args, given, names);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyObject *error = PyErr_GetRaisedException();
        PyObject *again = PyObject_CallFunctionObjArgs(self->refs[COMES_AGAIN], error, NULL);
        PyErr_Clear();
        if (again == Py_True) {
            PyErr_SetInterrupt();
            result = Py_NewRef(Py_None);
            Py_DECREF(error);
        } else {
            PyErr_SetRaisedException(error);
        }
        Py_XDECREF(again);
    }
    Py_DECREF(object);
    return result;
}

static PyObject *interruptible(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *called, *comes_again;
    if (!PyArg_ParseTuple(args, "OO:interruptible", &called, &comes_again)) return NULL;
    PyObject *made = new_callback(serve_interruptible, 0);
    if (made == NULL) return NULL;
    callback_of(made)->refs[CALLED] = Py_NewRef(called);
    callback_of(made)->refs[COMES_AGAIN] = Py_NewRef(comes_again);
    return made;
}

PyMethodDef callback_methods[] = {
    {"counter", counter, METH_NOARGS, PyDoc_STR("counter()\n--\n\nMake a callable that returns 1, 2, 3 and so on.")},
    {"router", router, METH_VARARGS, PyDoc_STR(
        "router(table, /)\n--\n\n"
        "Make a LINE callback that looks up table[line] = (code or None, callback), and calls callback(code, line) if the\n"
        "event is of that code, or of any code if it is None. DISABLE for all other events. The table is not to change.")},
    {"clock", clock_of, METH_VARARGS, PyDoc_STR(
        "clock(arrive, /)\n--\n\n"
        "Make a callback of any event that counts, and calls arrive(...) when it reaches its target.")},
    {"interruptible", interruptible, METH_VARARGS, PyDoc_STR(
        "interruptible(callback, comes_again, /)\n--\n\n"
        "Make a callback that calls another. If that raises a KeyboardInterrupt for which comes_again(error) is True, SIGINT\n"
        "is pending once more instead, and the program notices it where it would have.")},
    {"line_check", line_check, METH_VARARGS, line_check_doc},
    {"poll", poll, METH_VARARGS, poll_doc},
    {NULL, NULL, 0, NULL},
};
