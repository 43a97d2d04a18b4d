/* Watches on dict entries, for data breakpoints.

   The interpreter tells of a write before it happens, in the middle of the instruction that writes, where no
   Python code may run: it could switch threads in the middle of the dict's change, and crash. So the watcher
   only takes notes, and *arms*: it has events of sys.monitoring switched on in the code that is writing, by
   which the next instruction of that frame reaches a Python callback, which drains the notes. Other code
   is not touched, and continues at full speed.

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
static PyObject *set_local_events; /* of sys.monitoring, with the next two for its arguments; NULL: nothing arms */
static PyObject *tool, *events, *no_events;
static PyObject *armed;     /* a list of the code objects in which they are on */
static PyObject *arm_error; /* its error, reported by the next drain */

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

/* Whether an event is about the key of a watch. Comparing plain keys raises nothing. */
static int touches(int event, PyObject *key, const Watch *watch)
{
    if (event == CLEARED || event == CLONED || event == DEALLOCATED || key == watch->key) return 1;
    if (PyUnicode_CheckExact(key) && PyUnicode_CheckExact(watch->key)) return PyUnicode_Compare(key, watch->key) == 0;
    return is_plain(key) && PyObject_RichCompareBool(key, watch->key, Py_EQ) == 1;
}

/* Have just these events on in a code object, also where DISABLE had switched them off. */
static int set_events(PyObject *code, PyObject *wanted)
{
    PyObject *off = PyObject_CallFunctionObjArgs(set_local_events, tool, code, no_events, NULL);
    PyObject *on = off == NULL ? NULL : PyObject_CallFunctionObjArgs(set_local_events, tool, code, wanted, NULL);
    Py_XDECREF(off);
    Py_XDECREF(on);
    return on == NULL ? -1 : 0;
}

static int arm_code(PyObject *code)
{
    for (Py_ssize_t i = 0; i < PyList_Size(armed); i++)
        if (PyList_GetItem(armed, i) == code) return 0;
    return set_events(code, events) < 0 ? -1 : PyList_Append(armed, code);
}

static void arm(void)
{
    PyFrameObject *frame = set_local_events == NULL ? NULL : PyEval_GetFrame(); /* borrowed */
    if (frame == NULL) return;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    if (arm_code(code) < 0) {
        if (arm_error == NULL) arm_error = PyErr_GetRaisedException();
        PyErr_Clear();
    }
    Py_DECREF(code);
}

static void note(const Watch *watch, PyObject *before, PyObject *after)
{
    if (note_count == NOTES) {
        lost++;
        return;
    }
    notes[note_count++] = (Note){watch->number, PyThread_get_thread_ident(), Py_XNewRef(before), Py_XNewRef(after)};
}

/* Note the changes of an event for one watch; return whether there are any. */
static int note_event(int event, Watch *watch, PyObject *key, PyObject *value)
{
    PyObject *before = PyDict_GetItemWithError(watch->dict, watch->key), *after = value;
    if (event == DEALLOCATED) { /* its values are still there, and may be looked at */
        watch->dict = NULL;
    } else {
        if (event == CLONED) after = PyDict_GetItemWithError(key, watch->key); /* `key` is the dict that is copied */
        if (before == after) return 0; /* a dict that is cleared or copied, without this key */
        watch->writes++;
    }
    note(watch, before, after);
    return 1;
}

static int on_event(int event, PyObject *dict, PyObject *key, PyObject *value)
{
    PyObject *raised = NULL; /* the event may come while an exception is on its way */
    int touched = 0, noted = 0;
    for (Py_ssize_t i = 0; i < watch_count; i++) {
        if (watches[i].dict != dict || !touches(event, key, &watches[i])) continue;
        if (!touched) raised = PyErr_GetRaisedException();
        touched = 1;
        noted |= note_event(event, &watches[i], key, value);
    }
    if (noted) arm();
    if (touched) PyErr_SetRaisedException(raised);
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

/* No other thread can write between the question whether there are notes and the last event that is set. */
static PyObject *disarm_writers(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *others;
    if (!PyArg_ParseTuple(args, "O!:disarm_writers", &PyDict_Type, &others)) return NULL;
    if (set_local_events == NULL) Py_RETURN_TRUE;
    if (note_count > 0) Py_RETURN_FALSE;
    for (Py_ssize_t i = 0; i < PyList_Size(armed); i++) {
        PyObject *code = PyList_GetItem(armed, i), *identity = PyLong_FromVoidPtr(code);
        PyObject *wanted = identity == NULL ? NULL : PyDict_GetItemWithError(others, identity);
        Py_XDECREF(identity);
        if (PyErr_Occurred() || set_events(code, wanted ? wanted : no_events) < 0) return NULL;
    }
    if (PyList_SetSlice(armed, 0, PyList_Size(armed), NULL) < 0) return NULL;
    Py_RETURN_TRUE;
}

static void forget_arming(void)
{
    Py_CLEAR(set_local_events);
    Py_CLEAR(tool);
    Py_CLEAR(events);
    Py_CLEAR(no_events);
    Py_CLEAR(armed);
    Py_CLEAR(arm_error);
}

static PyObject *arm_writers(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given_tool, *given_events, *codes, *function;
    if (!PyArg_ParseTuple(args, "O!O!O!O:arm_writers", &PyLong_Type, &given_tool, &PyLong_Type, &given_events,
                          &PyList_Type, &codes, &function))
        return NULL;
    if (!PyCFunction_CheckExact(function)) { /* Python code must not run while a dict changes */
        PyErr_SetString(PyExc_RuntimeError, "sys.monitoring.set_local_events is not the interpreter's own");
        return NULL;
    }
    forget_arming();
    set_local_events = Py_NewRef(function);
    tool = Py_NewRef(given_tool);
    events = Py_NewRef(given_events);
    no_events = PyLong_FromLong(0);
    armed = Py_NewRef(codes);
    Py_RETURN_NONE;
}

/* Take the oldest notes out, so that no thread finds them half taken while a value's own code runs. */
static PyObject *drain(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
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
    forget_arming();
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
    {"arm_writers", arm_writers, METH_VARARGS, PyDoc_STR(
        "arm_writers(tool, events, codes, set_local_events, /)\n--\n\n"
        "Have each write switch local events of a tool on in the code that writes, and add that to a list.")},
    {"disarm_writers", disarm_writers, METH_VARARGS, PyDoc_STR(
        "disarm_writers(others, /)\n--\n\n"
        "Set the events of all codes in the list to those in others, by identity, unless there are notes; clear it.")},
    {"drain", drain, METH_NOARGS, PyDoc_STR(
        "drain()\n--\n\nTake the notes: [(number, thread identity, old, new)], and how many more there was no room for.")},
    {NULL, NULL, 0, NULL},
};
