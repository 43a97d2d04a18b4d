/* A LINE callback that compares values that no watcher can see, at every line.

   Slots, list items and ranges of buffers are read through public functions that run no Python code, and compared by
   identity (buffers by content) with their values at the line before. The last value is kept alive until the next line,
   so that a new object cannot hide at its address. Threads that run at the same time share the earlier values: each
   change is for the first that comes to a line. */

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
    PyObject *seen;         /* borrowed from the list of values; changes with it, alone */
} Target;

typedef struct {
    Py_ssize_t count;
    Target targets[];
} Poll;

enum { TARGETS, SEEN, CHANGED }; /* in Callback.refs: a tuple of tuples, a list of values, a function */

/* Return the earlier value, if the bytes are still the same. */
static PyObject *read_bytes(const Target *target, PyObject *seen)
{
    Py_buffer view;
    if (PyObject_GetBuffer(target->owner, &view, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *value = NULL;
    if (target->start <= view.len && target->length <= view.len - target->start) {
        const char *now = (const char *)view.buf + target->start;
        if (seen != missing && memcmp(now, PyBytes_AsString(seen), (size_t)target->length) == 0)
            value = Py_NewRef(seen);
        else
            value = PyBytes_FromStringAndSize(now, target->length);
    }
    PyBuffer_Release(&view);
    return value;
}

/* Return a new reference to the value, `missing` if the place has no value, NULL with an exception for lack of memory. */
static PyObject *read_value(const Target *target, PyObject *seen)
{
    PyObject *value = NULL;
    switch (target->kind) {
    case SLOT:
        value = target->get(target->name, target->owner, (PyObject *)Py_TYPE(target->owner));
        break;
    case INDEX:
        if (target->start < PyList_Size(target->owner)) value = list_item(target->owner, target->start);
        break;
    case KEY:
        value = dict_item(target->owner, target->name);
        break;
    case BYTES:
        value = read_bytes(target, seen);
        break;
    }
    if (value != NULL) return value;
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
    PyErr_Clear(); /* AttributeError of an empty slot, ValueError of an empty cell or a closed file, IndexError */
    return Py_NewRef(missing);
}

/* Take a new reference to the earlier value. */
static PyObject *take_seen(PyObject *object, Py_ssize_t index)
{
    PyObject *seen;
    BEGIN_ALONE(object);
    seen = Py_NewRef(((Poll *)callback_of(object)->data)->targets[index].seen);
    END_ALONE();
    return seen;
}

/* Put a value in place of the one that was seen, and say whether that is still the same. */
static int exchange(PyObject *object, Py_ssize_t index, PyObject *seen, PyObject *now)
{
    Callback *self = callback_of(object);
    Target *target = &((Poll *)self->data)->targets[index];
    int is_same, failed = 0;
    BEGIN_ALONE(object);
    is_same = target->seen == seen;
    if (is_same) {
        target->seen = now;
        failed = PyList_SetItem(self->refs[SEEN], index, Py_NewRef(now)) < 0; /* the old value is the caller's as well */
    }
    END_ALONE();
    return failed ? -1 : is_same;
}

/* Put the new value of one target in place of the one seen before, and add both to the changes, if it is another. */
static int look_at(PyObject *object, Py_ssize_t index, PyObject **changes)
{
    const Target *target = &((Poll *)callback_of(object)->data)->targets[index];
    PyObject *seen = take_seen(object, index), *now = read_value(target, seen), *change = NULL;
    int is_new = now == NULL ? -1 : now != seen;
    if (is_new > 0) {
        if (*changes == NULL) *changes = PyList_New(0);
        change = *changes == NULL ? NULL : Py_BuildValue("(nOO)", index, seen, now);
        is_new = change == NULL ? -1 : exchange(object, index, seen, now);
        if (is_new > 0 && PyList_Append(*changes, change) < 0) is_new = -1;
    }
    Py_XDECREF(change);
    Py_XDECREF(now);
    Py_DECREF(seen);
    return is_new < 0 ? -1 : 0;
}

/* The most common answer; where there is a GIL, without a reference that is dropped again at once. */
static int is_unchanged_item(const Target *target)
{
    if (FREE_THREADED || target->kind != INDEX) return 0;
    return target->start < PyList_Size(target->owner) && PyList_GetItem(target->owner, target->start) == target->seen;
}

static PyObject *report(PyObject *object, PyObject *const *args, PyObject *changes)
{
    if (changes == NULL || PyList_Size(changes) == 0) Py_RETURN_NONE;
    return PyObject_CallFunctionObjArgs(callback_of(object)->refs[CHANGED], args[0], args[1], changes, NULL);
}

static PyObject *serve_poll(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    PyObject *changes = NULL;
    if (check_call(given, names, 2, 3) < 0) return NULL; /* LINE has two arguments, JUMP and PY_RETURN have three */
    const Poll *poll = callback_of(object)->data;
    int failed = 0;
    Py_INCREF(object);
    for (Py_ssize_t i = 0; !failed && i < poll->count; i++)
        if (!is_unchanged_item(&poll->targets[i])) failed = look_at(object, i, &changes) < 0;
    PyObject *result = failed ? NULL : report(object, args, changes);
    Py_XDECREF(changes);
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
    PyObject *object = new_callback(serve_poll, sizeof(Poll) + (size_t)count * sizeof(Target));
    if (object == NULL) return NULL;
    Callback *self = callback_of(object);
    Poll *made = self->data;
    made->count = count;
    self->refs[TARGETS] = Py_NewRef(targets);
    self->refs[SEEN] = PyList_New(0);
    self->refs[CHANGED] = Py_NewRef(changed);
    for (Py_ssize_t i = 0; self->refs[SEEN] != NULL && i < count; i++) {
        Target *target = &made->targets[i];
        target->seen = missing;
        if (take_target(target, PyTuple_GetItem(targets, i)) < 0) break;
        PyObject *value = read_value(target, missing);
        if (value == NULL) break;
        target->seen = value;
        int failed = PyList_Append(self->refs[SEEN], value);
        Py_DECREF(value);
        if (failed) break;
    }
    if (PyErr_Occurred()) Py_CLEAR(object);
    return object;
}

const char poll_doc[] = PyDoc_STR(
    "poll(targets, changed, /)\n--\n\n"
    "Make a LINE callback that calls changed(code, line, [(index of the target, old, new)]) if targets have changed.\n\n"
    "A target is ('slot', object, descriptor), ('index', list, index), ('key', dict, key) or\n"
    "('bytes', buffer, start, length); it is kept alive.");
