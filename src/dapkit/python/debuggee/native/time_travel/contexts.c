/* Functions that run in another context. `engine_context`: Python code of the debugger in a thread of the program, of
   which nothing is recorded; `live_only`: the same, and nothing in a replay; `program_context`: the program itself, to
   its end; `read_only`: code of the debugger that may not change the program. */

#include "time_travel.h"
#include <signal.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    int live_only;
} Context;

static PyObject *context_type;

PyObject *call_in_engine_context(PyObject *function, PyObject *const *args, size_t given, PyObject *names)
{
    int was_inside = inside;
    Counters held = hold_counters();
    inside = 0;
    lists_of_debugger();
    PyObject *result = PyObject_Vectorcall(function, args, given, names);
    lists_of_program();
    inside = was_inside;
    release_counters(&held);
    return result;
}

/* The interpreter calls the program's handlers of signals where any function begins, including the debugger's. So
   they are called before, as part of the program. */

static PyObject *checks, *nothing, *getsignal, *default_handler;

static PyObject *check_signals(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (PyErr_CheckSignals() < 0) return NULL;
    Py_RETURN_NONE;
}

int find_handlers(void)
{
    static PyMethodDef method = {"check_signals", check_signals, METH_NOARGS, NULL};
    PyObject *module = PyImport_ImportModule("_signal");
    if (module == NULL) return -1;
    getsignal = PyObject_GetAttrString(module, "getsignal");
    default_handler = PyObject_GetAttrString(module, "default_int_handler");
    Py_DECREF(module);
    checks = PyCFunction_New(&method, NULL);
    nothing = PyTuple_New(0);
    return getsignal && default_handler && checks && nothing ? 0 : -1;
}

int let_handlers_run(void)
{
    PyObject *given[] = {checks, nothing};
    PyObject *done = PyObject_Vectorcall(call_tracing, given, 2, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* The same before a function of the debugger is called. The exception of Ctrl-C is raised where the interpreter looks for
   signals, which is not everywhere (`yield from`): 1 if the signal must come again for that. */
static int let_handlers_run_before(void)
{
    if (!inside || (mode != LIVE && mode != REPLAY) || let_handlers_run() == 0) return 0;
    if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return -1;
    PyObject *error = PyErr_GetRaisedException(), *handler = PyObject_CallFunction(getsignal, "i", SIGINT);
    int comes_again = handler == default_handler;
    Py_XDECREF(handler);
    PyErr_Clear();
    if (comes_again) Py_DECREF(error);
    else PyErr_SetRaisedException(error);
    return comes_again ? 1 : -1;
}

PyObject *call_after_handlers(vectorcallfunc call, PyObject *function, PyObject *const *args, size_t given, PyObject *names)
{
    int comes_again = let_handlers_run_before();
    if (comes_again < 0) return NULL;
    PyObject *result = call(function, args, given, names);
    if (comes_again) PyErr_SetInterrupt();
    return result;
}

static PyObject *call_engine(PyObject *self, PyObject *const *args, size_t given, PyObject *names)
{
    Context *context = (Context *)self;
    if (context->live_only && is_past) Py_RETURN_NONE;
    PyObject *result = call_after_handlers(call_in_engine_context, context->function, args, given, names);
    if (!has_stood || !inside || result == NULL || PyVectorcall_NARGS(given) == 0) return result;
    int gone_on = go_on_from_stop(args[0]);
    if (gone_on == 0) return result;
    Py_DECREF(result); /* of an engine that is not there any more */
    if (gone_on < 0) return NULL;
    Py_RETURN_NONE;
}

/* Before the program of a recording begins: the interpreter's knowledge of folders, from debugger modules that it has
   looked for there, is from now, and the program must find the recorded folders. */
static int forget_folders(void)
{
    PyObject *finders = PyDict_Values(PySys_GetObject("path_importer_cache"));
    Py_ssize_t count = finders == NULL ? -1 : PyList_Size(finders);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *finder = PyList_GetItem(finders, i);
        if (!PyObject_HasAttrString(finder, "invalidate_caches")) continue;
        PyObject *forgotten = PyObject_CallMethod(finder, "invalidate_caches", NULL);
        if (forgotten == NULL) count = -1;
        Py_XDECREF(forgotten);
    }
    Py_XDECREF(finders);
    return count < 0 ? -1 : 0;
}

static PyObject *run_program(PyObject *self, PyObject *const *args, size_t given, PyObject *names)
{
    if (is_recorded && forget_folders() < 0) return NULL;
    mode = is_recorded && !is_recording ? REPLAY : LIVE;
    register_main_thread();
    if (is_recorded && PyGC_Collect() < 0) return NULL;
    place_objects();
    empty_lists();
    if (is_recording) young_at_tick = *young_count;
    else if (is_recorded) aim_collector_at_note();
    inside = 1;
    PyObject *result = PyObject_Vectorcall(((Context *)self)->function, args, given, names);
    if (mode == REPLAY) reached_end();
    inside = 0;
    log_head->ticks = ticks;
    mode = OFF;
    let_threads_go();
    return result;
}

__thread int is_read_only;

static PyObject *call_read_only(PyObject *self, PyObject *const *args, size_t given, PyObject *names)
{
    is_read_only++;
    PyObject *result = PyObject_Vectorcall(((Context *)self)->function, args, given, names);
    is_read_only--;
    return result;
}

static PyMemberDef context_members[] = {
    {"__vectorcalloffset__", 19 /* T_PYSSIZET */, offsetof(Context, vectorcall), 1 /* READONLY */, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot context_slots[] = {
    {Py_tp_members, context_members},
    {Py_tp_call, PyVectorcall_Call},
    {0, NULL},
};

static PyType_Spec context_spec = {
    .name = "_travel.Context",
    .basicsize = sizeof(Context),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = context_slots,
};

/* They are kept for good: a callback may be called until the interpreter is gone. */
static PyObject *new_context(PyObject *function, vectorcallfunc call, int live_only)
{
    if (context_type == NULL && (context_type = PyType_FromSpec(&context_spec)) == NULL) return NULL;
    Context *made = PyObject_New(Context, (PyTypeObject *)context_type);
    if (made == NULL) return NULL;
    made->vectorcall = call;
    made->live_only = live_only;
    made->function = Py_NewRef(function);
    return (PyObject *)made;
}

/* It is called so often that the interpreter's overhead around a function of a module would be felt. */
PyObject *make_on_line(void) { return new_context(Py_None, on_line, 0); }

static PyObject *make_program_context(PyObject *Py_UNUSED(module), PyObject *function)
{
    return new_context(function, run_program, 0);
}

static PyObject *make_engine_context(PyObject *Py_UNUSED(module), PyObject *function)
{
    return new_context(function, call_engine, 0);
}

static PyObject *make_live_only(PyObject *Py_UNUSED(module), PyObject *function)
{
    return new_context(function, call_engine, 1);
}

static PyObject *make_read_only(PyObject *Py_UNUSED(module), PyObject *function)
{
    return new_context(function, call_read_only, 0);
}

PyMethodDef context_methods[] = {
    {"read_only", make_read_only, METH_O, NULL},
    {"program_context", make_program_context, METH_O, NULL},
    {"engine_context", make_engine_context, METH_O, NULL},
    {"live_only", make_live_only, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
