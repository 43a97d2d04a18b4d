/* Functions that run in another context. `engine_context`: Python code of the debugger in a thread of the program, of
   which nothing is recorded; `live_only`: the same, and nothing in a replay; `program_context`: the program itself, to
   its end; `read_only`: code of the debugger that may not change the program. */

#include "time_travel.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    int live_only;
} Context;

static PyObject *context_type;

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
    if (is_recorded && number_hashes() < 0) return NULL;
    empty_lists();
    if (is_recording) young_at_tick = *young_count;
    else if (is_recorded) aim_collector_at_note();
    inside = 1;
    PyObject *result = PyObject_Vectorcall(((Context *)self)->function, args, given, names);
    if (mode == REPLAY) program_returned();
    inside = 0;
    log_head->ticks = ticks;
    mode = OFF;
    let_threads_go();
    return result;
}

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
