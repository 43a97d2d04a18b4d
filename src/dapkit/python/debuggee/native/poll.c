/* Poll: values that no watcher can see, compared at every line.

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
    PyObject *owner, *name; /* name: descriptor or key */
    descrgetfunc get;       /* SLOT */
    Py_ssize_t start, length;
    PyObject *seen; /* NULL: there was no value */
} Target;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *changed, *missing;
    Py_ssize_t count;
    Target *targets;
} Poll;

static PyObject *read_bytes(const Target *target)
{
    Py_buffer view;
    if (PyObject_GetBuffer(target->owner, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Clear(); /* of a memoryview or file that was closed */
        return NULL;
    }
    PyObject *value = NULL;
    const char *old;
    Py_ssize_t old_length;
    if (target->start <= view.len && target->length <= view.len - target->start) {
        const char *now = (const char *)view.buf + target->start;
        if (target->seen != NULL && PyBytes_AsStringAndSize(target->seen, (char **)&old, &old_length) == 0
            && memcmp(now, old, (size_t)target->length) == 0)
            value = Py_NewRef(target->seen);
        else
            value = PyBytes_FromStringAndSize(now, target->length);
    }
    PyBuffer_Release(&view);
    return value;
}

/* Return a new reference to the value, NULL without an exception if there is none. */
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
        return read_bytes(target);
    }
    if (value == NULL) PyErr_Clear(); /* AttributeError of an empty slot, ValueError of an empty cell */
    return value;
}

static PyObject *or_missing(Poll *self, PyObject *value) { return value ? value : self->missing; }

static PyObject *poll_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Poll *self = (Poll *)object;
    PyObject *changes = NULL;
    if (PyVectorcall_NARGS(nargsf) != 2 || kwnames != NULL) {
        PyErr_SetString(PyExc_TypeError, "Poll is called with a code object and a line");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Target *target = &self->targets[i];
        PyObject *now = read_value(target), *seen = target->seen;
        if (now == seen) {
            Py_XDECREF(now);
            continue;
        }
        target->seen = now;
        PyObject *change = Py_BuildValue("(nOO)", i, or_missing(self, seen), or_missing(self, now));
        if (changes == NULL) changes = PyList_New(0);
        int failed = change == NULL || changes == NULL || PyList_Append(changes, change) < 0;
        Py_XDECREF(change);
        Py_XDECREF(seen); /* alive in the list, unless that failed */
        if (failed) {
            Py_XDECREF(changes);
            return NULL;
        }
    }
    if (changes == NULL) Py_RETURN_NONE;
    Py_INCREF(object);
    PyObject *result = PyObject_CallFunctionObjArgs(self->changed, args[0], args[1], changes, NULL);
    Py_DECREF(changes);
    Py_DECREF(object);
    return result;
}

static int take_target(Target *target, PyObject *given)
{
    PyObject *name = PyTuple_Check(given) && PyTuple_Size(given) > 0 ? PyTuple_GetItem(given, 0) : NULL, *text;
    int kind = 0, fits;
    while (name != NULL && PyUnicode_Check(name) && kind <= BYTES && PyUnicode_CompareWithASCIIString(name, KINDS[kind].name)) kind++;
    if (name == NULL || !PyUnicode_Check(name) || kind > BYTES) {
        PyErr_Format(PyExc_ValueError, "a target is a tuple that begins with slot, index, key or bytes, not %R", given);
        return -1;
    }
    target->kind = (Kind)kind;
    const char *format = KINDS[kind].format;
    switch (target->kind) {
    case SLOT:
        if (!PyArg_ParseTuple(given, format, &text, &target->owner, &target->name)) goto refused;
        target->get = (descrgetfunc)PyType_GetSlot(Py_TYPE(target->name), Py_tp_descr_get);
        fits = Py_IS_TYPE(target->name, &PyMemberDescr_Type) || Py_IS_TYPE(target->name, &PyGetSetDescr_Type);
        break;
    case INDEX:
        if (!PyArg_ParseTuple(given, format, &text, &target->owner, &target->start)) goto refused;
        fits = PyList_Check(target->owner) && target->start >= 0;
        break;
    case KEY:
        if (!PyArg_ParseTuple(given, format, &text, &target->owner, &target->name)) goto refused;
        fits = PyDict_Check(target->owner);
        break;
    default:
        if (!PyArg_ParseTuple(given, format, &text, &target->owner, &target->start, &target->length)) goto refused;
        fits = PyObject_CheckBuffer(target->owner) && target->start >= 0 && target->length > 0;
        break;
    }
    if (!fits) {
        PyErr_Format(PyExc_ValueError, "%R cannot be polled", given);
        goto refused;
    }
    Py_INCREF(target->owner);
    Py_XINCREF(target->name);
    target->seen = read_value(target);
    return 0;
refused:
    target->owner = target->name = NULL; /* not ours */
    return -1;
}

static PyObject *poll_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"targets", "changed", NULL};
    PyObject *targets, *changed;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O:Poll", names, &PyTuple_Type, &targets, &changed)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Poll *self = (Poll *)allocate(type, 0);
    if (self == NULL) return NULL;
    self->vectorcall = poll_call;
    self->changed = Py_NewRef(changed);
    self->missing = Py_NewRef(((ModuleState *)PyType_GetModuleState(type))->missing);
    self->targets = PyMem_Calloc((size_t)PyTuple_Size(targets) + 1, sizeof(Target));
    if (self->targets == NULL) PyErr_NoMemory();
    while (self->targets != NULL && self->count < PyTuple_Size(targets)
           && take_target(&self->targets[self->count], PyTuple_GetItem(targets, self->count)) == 0)
        self->count++;
    if (PyErr_Occurred()) Py_CLEAR(self);
    return (PyObject *)self;
}

static int poll_traverse(PyObject *object, visitproc visit, void *arg)
{
    Poll *self = (Poll *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->changed);
    Py_VISIT(self->missing);
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Py_VISIT(self->targets[i].owner);
        Py_VISIT(self->targets[i].name);
        Py_VISIT(self->targets[i].seen);
    }
    return 0;
}

static int poll_clear(PyObject *object)
{
    Poll *self = (Poll *)object;
    Target *targets = self->targets;
    Py_ssize_t count = self->count;
    self->targets = NULL;
    self->count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_XDECREF(targets[i].owner);
        Py_XDECREF(targets[i].name);
        Py_XDECREF(targets[i].seen);
    }
    PyMem_Free(targets);
    Py_CLEAR(self->changed);
    Py_CLEAR(self->missing);
    return 0;
}

static void poll_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    poll_clear(self);
    free_object(self);
}

static PyMemberDef poll_members[] = {CALLABLE_MEMBERS(Poll), {NULL, 0, 0, 0, NULL}};

static PyType_Slot poll_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR(
        "Poll(targets, changed)\n--\n\n"
        "A LINE callback that calls changed(code, line, [(index of the target, old, new)]) if any target has a new value.\n\n"
        "A target is ('slot', object, descriptor), ('index', list, index), ('key', dict, key) or\n"
        "('bytes', buffer, start, length). They are kept alive.")},
    {Py_tp_new, poll_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, poll_members},
    {Py_tp_traverse, poll_traverse},
    {Py_tp_clear, poll_clear},
    {Py_tp_dealloc, poll_dealloc},
    {0, NULL},
};

PyType_Spec poll_spec = {"_native.Poll", sizeof(Poll), 0, CALLABLE_FLAGS, poll_slots};
