/* The module `_travel`. `_travel.pyi` and `time_travel/` describe its functions. */

#include "time_travel.h"

const Above above = {
    .on_libraries = set_slots,
    .on_divergence = diverged,
    .on_end = reached_end,
    .on_goal = arrive,
    .on_copy_due = checkpoint,
    .signals_due = signals_taken,
    .has_signals = is_signal_pending,
    .on_signals = deliver,
    .on_tick = deliver_at_tick,
    .on_handlers_due = call_handlers,
    .on_second_thread = begin_threads,
    .on_note = after_note,
    .on_fork = rest_for_fork,
    .on_signal_taken = delay_signal,
    .on_output = print_again,
    .on_recording_over = end_recording,
    .on_exit = note_exit,
};

static PyObject *begin(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *path, *name;
    unsigned long long nanoseconds;
    int tool, ends_with_threads, branches;
    PyObject *arrive, *counts, *set_events;
    if (!PyArg_ParseTuple(args, "ssKppiOOO", &path, &name, &nanoseconds, &ends_with_threads, &branches, &tool, &arrive,
                          &counts, &set_events))
        return NULL;
    if (begin_checkpoints(path, name, arrive) < 0 || begin_counting(tool, counts, set_events) < 0) return NULL;
    if (find_collector() < 0 || find_handlers() < 0 || watch_thread_count() < 0) return NULL;
    find_current_frame();
    find_traces();
    if ((!is_recorded && make_log() < 0) || make_heap() < 0) return PyErr_SetFromErrno(PyExc_OSError);
    if (find_real_functions() < 0) return NULL;
    set_slots();
    find_time_of_lock();
    take_over_signals();
    history_ends_with_threads = ends_with_threads;
    may_branch = branches;
    begin_clock(nanoseconds);
    Py_RETURN_NONE;
}

static PyMethodDef begin_methods[] = {
    {"begin", begin, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_travel", NULL, 0, begin_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__travel(void)
{
    PyObject *module = PyModule_Create(&definition);
    PyMethodDef *functions[] = {branch_methods,  clock_methods,     counted_methods, object_methods,
                                context_methods, recording_methods, throw_methods,  write_methods,
                                checkpoint_methods};
    for (Py_ssize_t i = 0; module != NULL && i < LENGTH(functions); i++)
        if (PyModule_AddFunctions(module, functions[i]) < 0) Py_CLEAR(module);
    PyObject *line = module == NULL ? NULL : make_on_line();
    if (line == NULL || PyModule_AddObjectRef(module, "on_line", line) < 0) Py_CLEAR(module);
    Py_XDECREF(line);
    return module;
}
