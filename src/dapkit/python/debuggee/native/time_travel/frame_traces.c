/* Traces of the debugger in frames. When the debugger has looked at a frame, the interpreter has a frame object for it,
   and on CPython 3.12 a dict of its variables. A recorded program did not have them: it makes them later, if it needs
   them, the collector counts them then, and the memory of the dict comes to the free lists of the program when the
   frame ends. So when the program is executed again, both are removed as soon as the debugger's code has ended, unless
   something still refers to them. Where the interpreter's frame has them is found by experiment. */

#include "time_travel.h"

#define WORDS 16 /* of a frame that are looked at */

static int object_at = -1, variables_at = -1; /* -1: not known */

void find_traces(void)
{
    PyObject *object = (PyObject *)PyEval_GetFrame();
    if (object == NULL) return;
    PyObject *const *frame = frame_of_object(object);
    PyObject *words[WORDS];
    size_t count = read_safely(words, frame, sizeof words) / sizeof *words;
    for (size_t i = 0; i < count && object_at < 0; i++)
        if (words[i] == object) object_at = (int)i;
    if (object_at < 1 || Py_Version >> 16 >= 0x030d) return;
    PyObject *variables = PyObject_GetAttrString(object, "f_locals"); /* on 3.12 the frame has it from now on */
    if (frame[object_at - 1] == variables) variables_at = object_at - 1;
    Py_XDECREF(variables);
}

static void remove_trace(PyObject **place)
{
    PyObject *trace = *place;
    if (trace == NULL || Py_REFCNT(trace) != 1 || is_object_memory(trace)) return;
    *place = NULL;
    Py_DECREF(trace);
}

void remove_traces(void)
{
    PyObject **frame = object_at < 0 ? NULL : (PyObject **)frame_of_thread(PyThreadState_Get());
    if (frame == NULL) return;
    remove_trace(&frame[object_at]);
    if (variables_at >= 0) remove_trace(&frame[variables_at]);
}
