/* Frames: the newest of each thread of this interpreter.

   `sys._current_frames` goes through the threads of all interpreters, and makes objects of the frames of others, which
   run meanwhile under a GIL of their own: such a process crashes sooner or later. */

#include "native.h"

enum { LOOKED_AT = 192 }; /* bytes of a thread state; it is larger in every version */

static Py_ssize_t ident_at = -1; /* PyThreadState.thread_id, which native_thread_id follows */

int prepare_frames(PyObject *module)
{
    const unsigned long *words = (const unsigned long *)PyThreadState_Get();
    Py_ssize_t found = 0, place = -1;
    for (Py_ssize_t i = 0; i + 1 < LOOKED_AT / (Py_ssize_t)sizeof *words; i++)
        if (words[i] == PyThread_get_thread_ident() && words[i + 1] == PyThread_get_thread_native_id())
            found++, place = i * (Py_ssize_t)sizeof *words;
    if (found == 1 && optional.thread_head != NULL && optional.thread_next != NULL) ident_at = place;
    return PyModule_AddObjectRef(module, "CAN_LIST_FRAMES", ident_at < 0 ? Py_False : Py_True);
}

static int add_frame(PyObject *frames, PyThreadState *thread)
{
    PyObject *frame = (PyObject *)PyThreadState_GetFrame(thread);
    if (frame == NULL) return 0;
    PyObject *ident = PyLong_FromUnsignedLong(*(unsigned long *)((char *)thread + ident_at));
    int failed = ident == NULL || PyDict_SetItem(frames, ident, frame) < 0;
    Py_XDECREF(ident);
    Py_DECREF(frame);
    return failed ? -1 : 0;
}

/* Nothing here lets go of the GIL, without which no thread of this interpreter comes to its end. */
static PyObject *newest_frames(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    if (ident_at < 0) {
        PyErr_SetString(PyExc_RuntimeError, "the threads of this interpreter cannot be listed");
        return NULL;
    }
    PyObject *frames = PyDict_New();
    PyThreadState *thread = optional.thread_head(PyInterpreterState_Get());
    for (; frames != NULL && thread != NULL; thread = optional.thread_next(thread))
        if (add_frame(frames, thread) < 0) Py_CLEAR(frames);
    return frames;
}

PyMethodDef frames_methods[] = {
    {"newest_frames", newest_frames, METH_NOARGS, PyDoc_STR(
        "newest_frames()\n--\n\nReturn the newest frame of each thread of this interpreter, by identity of the thread.")},
    {NULL, NULL, 0, NULL},
};
