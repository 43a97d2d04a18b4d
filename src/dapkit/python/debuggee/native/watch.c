/* Watches on dict entries, for data breakpoints.

   The interpreter tells of a write before it happens, in the middle of the instruction that writes, where no
   Python code may run: it could switch threads in the middle of the dict's change, and crash. So the watcher
   only takes notes, and *arms*: it calls functions written in C, such as
   functools.partial(sys.monitoring.set_events, tool, LINE), by which the next line of the writing thread
   reaches a Python callback, which drains the notes.

   The interpreter gives a watcher no data of its own, so the state is one per process; the module loads into
   the main interpreter only. A watch does not keep its dict alive. */

#include "native.h"

enum { ADDED, MODIFIED, DELETED, CLONED, CLEARED, DEALLOCATED }; /* PyDict_WatchEvent, cpython/dictobject.h */
enum { NOTES = 256 };

typedef struct {
    int number;
    PyObject *dict; /* borrowed, NULL once it is gone */
    PyObject *key;
    long long writes;
} Watch;

typedef struct {
    int number;
    unsigned long thread;
    PyObject *before, *after; /* NULL: no value */
} Note;

static int watcher = -1; /* the interpreter's number for `on_event` */
static Watch *watches;
static Py_ssize_t watch_count;
static int last_number;
static Note notes[NOTES]; /* more than a writer can make before its next line; further ones are counted only */
static Py_ssize_t note_count;
static long long lost;
static PyObject *arms;      /* a tuple of callables, or NULL */
static PyObject *arm_error; /* what one of them raised, told by the next drain */
static int armed;

/* Whether a key is hashed and compared without running any Python code. */
static int is_plain(PyObject *key)
{
    if (PyUnicode_CheckExact(key) || key == Py_None) return 1;
    if (PyTuple_CheckExact(key)) {
        for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++)
            if (!is_plain(PyTuple_GetItem(key, i))) return 0;
        return 1;
    }
    PyTypeObject *models[] = {&PyUnicode_Type, &PyLong_Type, &PyFloat_Type, &PyBytes_Type, &PyBaseObject_Type};
    void *compare = PyType_GetSlot(Py_TYPE(key), Py_tp_richcompare), *hash = PyType_GetSlot(Py_TYPE(key), Py_tp_hash);
    for (Py_ssize_t i = 0; i < LENGTH(models); i++)
        if (compare == PyType_GetSlot(models[i], Py_tp_richcompare) && hash == PyType_GetSlot(models[i], Py_tp_hash))
            return 1;
    return 0;
}

static int touches(int event, PyObject *key, const Watch *watch)
{
    if (event == CLEARED || event == CLONED || key == watch->key) return 1;
    return is_plain(key) && PyObject_RichCompareBool(key, watch->key, Py_EQ) == 1;
}

static void arm(void)
{
    for (Py_ssize_t i = 0; arms != NULL && i < PyTuple_Size(arms); i++) {
        PyObject *result = PyObject_CallNoArgs(PyTuple_GetItem(arms, i));
        if (result == NULL && arm_error == NULL) arm_error = PyErr_GetRaisedException();
        PyErr_Clear();
        Py_XDECREF(result); /* of a function in C that has nothing to say: None */
    }
}

static void note(const Watch *watch, PyObject *before, PyObject *after)
{
    if (note_count == NOTES) {
        lost++;
        return;
    }
    notes[note_count++] = (Note){watch->number, PyThread_get_thread_ident(), Py_XNewRef(before), Py_XNewRef(after)};
}

static int on_event(int event, PyObject *dict, PyObject *key, PyObject *value)
{
    PyObject *raised = PyErr_GetRaisedException(); /* the event may come while one is on its way */
    int noted = 0;
    for (Py_ssize_t i = 0; i < watch_count; i++) {
        Watch *watch = &watches[i];
        if (watch->dict != dict) continue;
        if (event == DEALLOCATED) {
            watch->dict = NULL;
            continue;
        }
        if (!touches(event, key, watch)) continue;
        PyObject *before = PyDict_GetItemWithError(dict, watch->key), *after = value;
        if (event == CLONED) after = PyDict_GetItemWithError(key, watch->key); /* `key` is the dict that is copied */
        if (before == after) continue; /* a dict that is cleared or copied, without this key */
        watch->writes++;
        note(watch, before, after);
        noted = 1;
    }
    if (noted && !armed) {
        armed = 1;
        arm();
    }
    PyErr_SetRaisedException(raised);
    return 0;
}

static Watch *find(int number)
{
    for (Py_ssize_t i = 0; i < watch_count; i++)
        if (watches[i].number == number) return &watches[i];
    PyErr_Format(PyExc_KeyError, "there is no watch %d", number);
    return NULL;
}

static int is_watched(PyObject *dict)
{
    for (Py_ssize_t i = 0; i < watch_count; i++)
        if (watches[i].dict == dict) return 1;
    return 0;
}

static PyObject *watch_dict(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *dict, *key;
    if (!PyArg_ParseTuple(args, "O!O:watch", &PyDict_Type, &dict, &key) || require_functions("PyDict_") < 0) return NULL;
    if (!is_plain(key)) {
        PyErr_Format(PyExc_TypeError, "a key of type %R is compared by Python code, which a watcher must not run",
                     (PyObject *)Py_TYPE(key));
        return NULL;
    }
    if (watcher < 0 && (watcher = optional.dict_add_watcher(on_event)) < 0) return NULL;
    Watch *grown = PyMem_Realloc(watches, (size_t)(watch_count + 1) * sizeof(Watch));
    if (grown == NULL) return PyErr_NoMemory();
    watches = grown;
    if (optional.dict_watch(watcher, dict) < 0) return NULL;
    watches[watch_count++] = (Watch){++last_number, dict, Py_NewRef(key), 0};
    return PyLong_FromLong(last_number);
}

static PyObject *unwatch(PyObject *Py_UNUSED(module), PyObject *args)
{
    int number;
    if (!PyArg_ParseTuple(args, "i:unwatch", &number)) return NULL;
    Watch *found = find(number);
    if (found == NULL) return NULL;
    Watch gone = *found;
    *found = watches[--watch_count];
    if (gone.dict != NULL && !is_watched(gone.dict) && optional.dict_unwatch(watcher, gone.dict) < 0) PyErr_Clear();
    Py_DECREF(gone.key);
    Py_RETURN_NONE;
}

static PyObject *state_of_watch(PyObject *Py_UNUSED(module), PyObject *args)
{
    int number;
    if (!PyArg_ParseTuple(args, "i:watch_state", &number)) return NULL;
    Watch *found = find(number);
    return found ? Py_BuildValue("NL", PyBool_FromLong(found->dict != NULL), found->writes) : NULL;
}

static PyObject *arm_with(PyObject *Py_UNUSED(module), PyObject *callables)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(callables); i++) {
        PyObject *callable = PyTuple_GetItem(callables, i), *inner = PyObject_GetAttrString(callable, "func");
        if (inner == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
            PyErr_Clear();
        }
        int in_c = PyCFunction_CheckExact(inner ? inner : callable);
        Py_XDECREF(inner);
        if (!in_c) {
            PyErr_Format(PyExc_TypeError, "%R is not a built-in function or a partial of one, and Python code must not "
                         "run while a dict changes", callable);
            return NULL;
        }
    }
    PyObject *old = arms;
    arms = Py_NewRef(callables);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* Take the oldest notes out, so that nobody finds them half taken while a value's own code runs. */
static PyObject *drain(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    armed = 0;
    if (arm_error != NULL) {
        PyObject *error = arm_error;
        arm_error = NULL;
        PyErr_SetRaisedException(error);
        return NULL;
    }
    Note taken[NOTES];
    Py_ssize_t count = note_count;
    for (Py_ssize_t i = 0; i < count; i++) taken[i] = notes[i];
    note_count = 0;
    PyObject *writes = PyList_New(0);
    for (Py_ssize_t i = 0; i < count; i++) {
        Note *one = &taken[i];
        PyObject *write = writes == NULL ? NULL : Py_BuildValue("(ikOO)", one->number, one->thread,
            one->before ? one->before : missing, one->after ? one->after : missing);
        if (write == NULL || PyList_Append(writes, write) < 0) Py_CLEAR(writes);
        Py_XDECREF(write);
        Py_XDECREF(one->before);
        Py_XDECREF(one->after);
    }
    if (writes == NULL) return NULL;
    long long too_many = lost;
    lost = 0;
    return Py_BuildValue("(NL)", writes, too_many);
}

static PyObject *unwatch_all(PyObject *module, PyObject *unused)
{
    Watch *all = watches;
    Py_ssize_t count = watch_count;
    watches = NULL;
    watch_count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (all[i].dict != NULL && optional.dict_unwatch(watcher, all[i].dict) < 0) PyErr_Clear();
        Py_DECREF(all[i].key);
    }
    PyMem_Free(all);
    if (watcher >= 0 && optional.dict_clear_watcher(watcher) < 0) PyErr_Clear();
    watcher = -1;
    Py_CLEAR(arms);
    Py_CLEAR(arm_error);
    PyObject *undrained = drain(module, unused);
    if (undrained == NULL) return NULL;
    Py_DECREF(undrained);
    Py_RETURN_NONE;
}

PyMethodDef watch_methods[] = {
    {"watch", watch_dict, METH_VARARGS, PyDoc_STR(
        "watch(dict, key, /)\n--\n\nTake notes of the writes of one entry; returns the number of the watch.")},
    {"unwatch", unwatch, METH_VARARGS, PyDoc_STR("unwatch(number, /)\n--\n\nEnd one watch.")},
    {"unwatch_all", unwatch_all, METH_NOARGS, PyDoc_STR(
        "unwatch_all()\n--\n\nEnd all watches and forget the notes; must be called before the interpreter ends.")},
    {"watch_state", state_of_watch, METH_VARARGS, PyDoc_STR(
        "watch_state(number, /)\n--\n\nReturn whether the dict still exists, and the number of writes.")},
    {"arm_with", arm_with, METH_VARARGS, PyDoc_STR(
        "arm_with(*callables)\n--\n\nSet what is called at the first write after each drain: functions in C only.")},
    {"drain", drain, METH_NOARGS, PyDoc_STR(
        "drain()\n--\n\nTake the notes: [(number, thread identity, old, new)], and how many more there was no room for.")},
    {NULL, NULL, 0, NULL},
};
