/* A LINE callback that compares values that no watcher can see, at every line.

   Slots, list items and ranges of buffers are read through public functions that run no Python code, and
   compared by identity (buffers by content) with what was seen at the line before. The last value is kept
   alive until the next line, so that a new object cannot hide at its address. */

#include "native.h"
#include <string.h>

typedef enum { SLOT, INDEX, KEY, BYTES } Kind;

static const struct { const char *name, *format; } KINDS[] = {
    [SLOT] = {"slot", "UOO:slot"},   /* object, descriptor */
    [INDEX] = {"index", "UOn:index"}, /* list, index */
    [KEY] = {"key", "UOO:key"},     /* dict, key */
    [BYTES] = {"bytes", "UOnn:bytes"}, /* buffer, start, length */
};

typedef struct {
    Kind kind;
    PyObject *owner, *name; /* borrowed from the tuple of targets; name: the descriptor or the key */
    descrgetfunc get;       /* SLOT */
    Py_ssize_t start, length;
    PyObject *seen;         /* borrowed from the list of values */
} Target;

typedef struct {
    Py_ssize_t count;
    Target targets[];
} Poll;

enum { TARGETS, SEEN, CHANGED }; /* in Callback.refs: a tuple of tuples, a list of values, a function */

static PyObject *read_bytes(const Target *target)
{
    Py_buffer view;
    if (PyObject_GetBuffer(target->owner, &view, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *value = NULL;
    if (target->start <= view.len && target->length <= view.len - target->start) {
        const char *now = (const char *)view.buf + target->start;
        if (target->seen != missing && memcmp(now, PyBytes_AsString(target->seen), (size_t)target->length) == 0)
            value = Py_NewRef(target->seen);
        else
            value = PyBytes_FromStringAndSize(now, target->length);
    }
    PyBuffer_Release(&view);
    return value;
}

/* Return a new reference to the value, `missing` if there is none, NULL with an exception for lack of memory. */
static PyObject *read_value(const Target *target)
{
    PyObject *value = NULL;
    switch (target->kind) {
    case SLOT:
        value = target->get(target->name, target->owner, (PyObject *)Py_TYPE(target->owner));
        break;
    case INDEX:
        if (target->start < PyList_Size(target->owner)) value = Py_NewRef(PyList_GetItem(target->owner, target->start));
        break;
    case KEY:
        value = Py_XNewRef(PyDict_GetItemWithError(target->owner, target->name));
        break;
    case BYTES:
        value = read_bytes(target);
        break;
    }
    if (value != NULL) return value;
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
    PyErr_Clear(); /* AttributeError of an empty slot, ValueError of an empty cell or a closed file */
    return Py_NewRef(missing);
}

/* Put the new value of one target in place of the one seen before, and add both to the changes, if it is another. */
static int look_at(Callback *self, Py_ssize_t index, PyObject **changes)
{
    Target *target = &((Poll *)self->data)->targets[index];
    PyObject *now = read_value(target);
    if (now == NULL) return -1;
    if (now == target->seen) {
        Py_DECREF(now);
        return 0;
    }
    PyObject *change = Py_BuildValue("(nOO)", index, target->seen, now); /* keeps the old value alive for now */
    if (*changes == NULL) *changes = PyList_New(0);
    int failed = change == NULL || *changes == NULL || PyList_Append(*changes, change) < 0;
    Py_XDECREF(change);
    if (failed) {
        Py_DECREF(now);
        return -1;
    }
    target->seen = now;
    return PyList_SetItem(self->refs[SEEN], index, now);
}

/* The most common answer, without a reference that is dropped again at once. */
static int is_unchanged_item(const Target *target)
{
    return target->kind == INDEX && target->start < PyList_Size(target->owner)
           && PyList_GetItem(target->owner, target->start) == target->seen;
}

static PyObject *serve_poll(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    Callback *self = (Callback *)object;
    PyObject *changes = NULL;
    if (check_call(given, names, 2, 3) < 0) return NULL; /* LINE has two arguments, JUMP and PY_RETURN have three */
    const Poll *poll = self->data;
    for (Py_ssize_t i = 0; i < poll->count; i++) {
        if (is_unchanged_item(&poll->targets[i])) continue;
        if (look_at(self, i, &changes) < 0) {
            Py_XDECREF(changes);
            return NULL;
        }
    }
    if (changes == NULL) Py_RETURN_NONE;
    Py_INCREF(object);
    PyObject *result = PyObject_CallFunctionObjArgs(self->refs[CHANGED], args[0], args[1], changes, NULL);
    Py_DECREF(changes);
    Py_DECREF(object);
    return result;
}

static int take_kind(Target *target, PyObject *given)
{
    PyObject *name = PyTuple_Check(given) && PyTuple_Size(given) > 0 ? PyTuple_GetItem(given, 0) : Py_None;
    for (int kind = SLOT; PyUnicode_Check(name) && kind <= BYTES; kind++)
        if (PyUnicode_CompareWithASCIIString(name, KINDS[kind].name) == 0) {
            target->kind = (Kind)kind;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "a target is a tuple that begins with slot, index, key or bytes, not %R", given);
    return -1;
}

static int take_target(Target *target, PyObject *given)
{
    PyObject *kind;
    int fits = 0;
    if (take_kind(target, given) < 0) return -1;
    const char *format = KINDS[target->kind].format;
    switch (target->kind) {
    case SLOT:
        if (!PyArg_ParseTuple(given, format, &kind, &target->owner, &target->name)) return -1;
        fits = Py_IS_TYPE(target->name, &PyMemberDescr_Type) || Py_IS_TYPE(target->name, &PyGetSetDescr_Type);
        target->get = (descrgetfunc)PyType_GetSlot(Py_TYPE(target->name), Py_tp_descr_get);
        break;
    case INDEX:
        if (!PyArg_ParseTuple(given, format, &kind, &target->owner, &target->start)) return -1;
        fits = PyList_Check(target->owner) && target->start >= 0;
        break;
    case KEY:
        if (!PyArg_ParseTuple(given, format, &kind, &target->owner, &target->name)) return -1;
        fits = PyDict_Check(target->owner);
        break;
    case BYTES:
        if (!PyArg_ParseTuple(given, format, &kind, &target->owner, &target->start, &target->length)) return -1;
        fits = PyObject_CheckBuffer(target->owner) && target->start >= 0 && target->length > 0;
        break;
    }
    if (!fits) PyErr_Format(PyExc_ValueError, "%R cannot be polled", given);
    return fits ? 0 : -1;
}

PyObject *poll(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *targets, *changed;
    if (!PyArg_ParseTuple(args, "O!O:poll", &PyTuple_Type, &targets, &changed)) return NULL;
    Py_ssize_t count = PyTuple_Size(targets);
    Callback *self = new_callback(serve_poll, sizeof(Poll) + (size_t)count * sizeof(Target));
    if (self == NULL) return NULL;
    Poll *made = self->data;
    made->count = count;
    self->refs[TARGETS] = Py_NewRef(targets);
    self->refs[SEEN] = PyList_New(0);
    self->refs[CHANGED] = Py_NewRef(changed);
    for (Py_ssize_t i = 0; self->refs[SEEN] != NULL && i < count; i++) {
        Target *target = &made->targets[i];
        target->seen = missing;
        if (take_target(target, PyTuple_GetItem(targets, i)) < 0) break;
        PyObject *value = read_value(target);
        if (value == NULL) break;
        target->seen = value;
        int failed = PyList_Append(self->refs[SEEN], value);
        Py_DECREF(value);
        if (failed) break;
    }
    if (PyErr_Occurred()) Py_CLEAR(self);
    return (PyObject *)self;
}

const char poll_doc[] = PyDoc_STR(
    "poll(targets, changed, /)\n--\n\n"
    "Make a LINE callback that calls changed(code, line, [(index of the target, old, new)]) if targets have changed.\n\n"
    "A target is ('slot', object, descriptor), ('index', list, index), ('key', dict, key) or\n"
    "('bytes', buffer, start, length); it is kept alive.");
