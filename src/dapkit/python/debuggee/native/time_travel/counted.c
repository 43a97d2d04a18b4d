/* Which code the clock counts the lines of: the program's own, from its first start on.

   The code whose lines are counted. A replay that looks for where to step back to has to know of each start of it, by a
   tool of its own: an event that was disabled cannot be had again for code that is known. */

#include "time_travel.h"
#include <string.h>
#include <sys/mman.h>

#define PY_START (1 << 0) /* of sys.monitoring */
#define PY_RESUME (1 << 1)
#define PY_RETURN (1 << 2)
#define PY_YIELD (1 << 3)
#define LINE (1 << 5)
#define WAYS_OUT (PY_RETURN | PY_YIELD) /* beside PY_UNWIND, whose number differs, and which is for all code at once */

typedef struct {
    PyObject **codes;
    size_t count, room;
} Codes;

static Codes counted, one_liners;
static PyObject *counts, *set_local_events;
static int tool;
int is_tracking;
static int tracker = -1;
static PyObject *at_return; /* called where such code returns or yields, or any code is left by an exception; or NULL */
static PyObject *at_resume; /* called where such code continues after a yield */

static void keep(Codes *codes, PyObject *code)
{
    if (codes->count == codes->room) {
        size_t wanted = codes->room == 0 ? 512 : codes->room * 2;
        size_t size = wanted * sizeof code, before = codes->room * sizeof code;
        PyObject **made = map_ours(size);
        if (made == MAP_FAILED) return;
        if (codes->codes != NULL) {
            memcpy(made, codes->codes, before);
            munmap(codes->codes, before);
        }
        codes->codes = made;
        codes->room = wanted;
    }
    codes->codes[codes->count++] = Py_NewRef(code);
}

/* From CPython 3.13 on, a function on one line reports LINE only while PY_START is on there too, and one of another
   tool is enough: so it is always on there. */
#define ONE_LINER 2

static int is_one_liner(PyObject *code)
{
    for (size_t i = 0; i < one_liners.count; i++)
        if (one_liners.codes[i] == code) return 1;
    return 0;
}

int is_counted(PyObject *code)
{
    for (size_t i = 0; i < counted.count; i++)
        if (counted.codes[i] == code) return 1;
    return 0;
}

static int watch_starts(PyObject *code)
{
    PyObject *given[] = {PyLong_FromLong(tracker), code, PyLong_FromLong(at_return == NULL ? PY_START : PY_START | WAYS_OUT | PY_RESUME)};
    PyObject *set = given[0] && given[2] ? call_in_engine_context(set_local_events, given, 3, NULL) : NULL;
    Py_XDECREF(given[0]);
    Py_XDECREF(given[2]);
    Py_XDECREF(set);
    return set == NULL ? -1 : 0;
}

static PyObject *on_tracked_start(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t Py_UNUSED(count))
{
    note_step(args[0], 0);
    Py_RETURN_NONE;
}

static PyObject *on_tracked_return(PyObject *Py_UNUSED(module), PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    if (!inside) Py_RETURN_NONE;
    return call_in_engine_context(at_return, NULL, 0, NULL);
}

static PyObject *on_tracked_resume(PyObject *Py_UNUSED(module), PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    if (!inside) Py_RETURN_NONE;
    return call_in_engine_context(at_resume, NULL, 0, NULL);
}

static PyMethodDef tracked[] = {
    {"on_tracked_start", (PyCFunction)(void (*)(void))on_tracked_start, METH_FASTCALL, NULL},
    {"on_tracked_return", (PyCFunction)(void (*)(void))on_tracked_return, METH_FASTCALL, NULL},
    {"on_tracked_resume", (PyCFunction)(void (*)(void))on_tracked_resume, METH_FASTCALL, NULL},
};

static int register_tracked(PyObject *monitoring, int event, PyMethodDef *method)
{
    PyObject *function = PyCFunction_New(method, NULL);
    if (function == NULL) return -1;
    PyObject *set = PyObject_CallMethod(monitoring, "register_callback", "iiO", tracker, event, function);
    Py_DECREF(function);
    Py_XDECREF(set);
    return set == NULL ? -1 : 0;
}

static int watch_ways(PyObject *monitoring)
{
    PyObject *events = PyObject_GetAttrString(monitoring, "events");
    PyObject *unwind = events == NULL ? NULL : PyObject_GetAttrString(events, "PY_UNWIND");
    long number = unwind == NULL ? -1 : PyLong_AsLong(unwind);
    Py_XDECREF(events);
    Py_XDECREF(unwind);
    if (number < 0 || register_tracked(monitoring, (int)number, &tracked[1]) < 0) return -1;
    if (register_tracked(monitoring, PY_RETURN, &tracked[1]) < 0 || register_tracked(monitoring, PY_YIELD, &tracked[1]) < 0)
        return -1;
    if (register_tracked(monitoring, PY_RESUME, &tracked[2]) < 0) return -1;
    PyObject *set = PyObject_CallMethod(monitoring, "set_events", "il", tracker, number);
    Py_XDECREF(set);
    return set == NULL ? -1 : 0;
}

int begin_tracking(PyObject *called_at_return, PyObject *called_at_resume)
{
    PyObject *monitoring = PySys_GetObject("monitoring");
    at_return = Py_XNewRef(called_at_return);
    at_resume = Py_XNewRef(called_at_resume);
    for (int number = 0; tracker < 0 && number < 6; number++) {
        PyObject *taken = PyObject_CallMethod(monitoring, "use_tool_id", "is", number, "dapkit's steps");
        if (taken == NULL) PyErr_Clear();
        else tracker = number;
        Py_XDECREF(taken);
    }
    if (tracker < 0) {
        PyErr_SetString(PyExc_RuntimeError, "sys.monitoring has no tool left to step back with");
        return -1;
    }
    if (register_tracked(monitoring, PY_START, &tracked[0]) < 0) return -1;
    if (at_return != NULL && watch_ways(monitoring) < 0) return -1;
    is_tracking = 1;
    look_at_each_line();
    for (size_t i = 0; i < counted.count; i++)
        if (watch_starts(counted.codes[i]) < 0) return -1;
    return 0;
}

static PyObject *disable(void) { return PyObject_GetAttrString(PySys_GetObject("monitoring"), "DISABLE"); }

/* Code that starts for the first time: lines of the program's own are counted from now on. */
static PyObject *begin_code(PyObject *const *args)
{
    if (is_one_liner(args[0])) Py_RETURN_NONE;
    PyObject *found = call_in_engine_context(counts, args, 1, NULL);
    if (found == NULL) return NULL;
    long how = PyLong_AsLong(found);
    Py_DECREF(found);
    if (how <= 0) return how < 0 ? NULL : disable();
    long wanted = how == ONE_LINER ? LINE | PY_START : LINE;
    PyObject *number = PyLong_FromLong(tool), *events = PyLong_FromLong(wanted);
    PyObject *given[] = {number, args[0], events};
    PyObject *set = number && events ? call_in_engine_context(set_local_events, given, 3, NULL) : NULL;
    Py_XDECREF(number);
    Py_XDECREF(events);
    if (set == NULL) return NULL;
    Py_DECREF(set);
    int is_known = is_counted(args[0]); /* a generator of it continues for the first time */
    if (!is_known) keep(&counted, args[0]);
    if (is_tracking && !is_known) { /* this start was reported before that could be watched */
        if (watch_starts(args[0]) < 0) return NULL;
        note_step(args[0], 0);
    }
    if (how != ONE_LINER) return disable();
    keep(&one_liners, args[0]);
    Py_RETURN_NONE;
}

static PyObject *begin_code_aside(PyObject *Py_UNUSED(self), PyObject *const *args, size_t Py_UNUSED(given),
                                  PyObject *Py_UNUSED(names))
{
    int was_inside = inside;
    inside = 0;
    is_done_again++;
    lists_of_debugger();
    PyObject *result = begin_code(args);
    lists_of_program();
    is_done_again--;
    inside = was_inside;
    return result;
}

static PyObject *on_start(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count < 1) return PyErr_Format(PyExc_TypeError, "on_start takes a code object and an offset");
    return call_after_handlers(begin_code_aside, module, args, (size_t)count, NULL);
}

int begin_counting(int number, PyObject *is_counted, PyObject *set_events)
{
    tool = number;
    counts = Py_NewRef(is_counted);
    set_local_events = Py_NewRef(set_events);
    return 0;
}

PyMethodDef counted_methods[] = {
    {"on_start", (PyCFunction)(void (*)(void))on_start, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
