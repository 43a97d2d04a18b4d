/* Python code of the debugger in a thread of the program: nothing of it is recorded. The program's handlers of signals are
   called before it. */

#include "time_travel.h"
#include <signal.h>

PyObject *call_in_engine_context(PyObject *function, PyObject *const *args, size_t given, PyObject *names)
{
    int was_inside = inside;
    Counters held = hold_counters();
    inside = 0;
    lists_of_debugger();
    PyObject *result = PyObject_Vectorcall(function, args, given, names);
    if (is_recorded && !is_recording) remove_traces();
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
