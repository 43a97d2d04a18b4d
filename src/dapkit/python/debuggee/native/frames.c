/* Frames: the newest of each thread of this interpreter, and their local variables.

   `sys._current_frames` goes through the threads of all interpreters, and makes objects of the frames of others, which
   run meanwhile under a GIL of their own: such a process crashes sooner or later.

   PyFrame_GetVar compares the name with the names of all variables before it; `local_at` reads the variable from its
   place. The fields for that are found by experiment: where that has no clear outcome, PyFrame_GetVar serves. */

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

/* local_at */

enum { TAGS = 3 }; /* the bits of a variable beside the address; where all are set, it holds a number instead */

static Py_ssize_t data_at = -1;       /* PyFrameObject.f_frame */
static Py_ssize_t code_at, locals_at; /* in its target: f_executable, localsplus */

static PyObject *object_in(uintptr_t word) { return (word & TAGS) == TAGS ? NULL : (PyObject *)(word & ~(uintptr_t)TAGS); }

PyObject *local_at(PyFrameObject *frame, PyObject *code, Py_ssize_t index)
{
    if (data_at < 0) return NULL;
    const char *data = *(const char **)((char *)frame + data_at);
    if (object_in(*(const uintptr_t *)(data + code_at)) != code) return NULL;
    return object_in(((const uintptr_t *)(data + locals_at))[index]);
}

static Py_ssize_t word_with(const uintptr_t *words, Py_ssize_t count, PyObject *object)
{
    Py_ssize_t index = 0;
    while (index < count && object_in(words[index]) != object) index++;
    return index < count ? index : -1;
}

/* A frame object whose function has returned has the variables in itself: all that is read of it is its own memory. The
   result is tried on the caller, which runs and has the same variables. */
static PyObject *find_locals(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *ended, *code, *values[3];
    Py_ssize_t size, data = 0;
    if (!PyArg_ParseTuple(args, "OnOOOO:find_locals", &ended, &size, &code, &values[0], &values[1], &values[2])) return NULL;
    const uintptr_t *words = (const uintptr_t *)ended;
    Py_ssize_t locals = word_with(words, size / (Py_ssize_t)sizeof *words, values[0]);
    while (data < locals && (words[data] <= (uintptr_t)words || words[data] >= (uintptr_t)(words + locals))) data++;
    if (data >= locals) Py_RETURN_FALSE;
    const uintptr_t *begin = (const uintptr_t *)words[data];
    Py_ssize_t place = word_with(begin, words + locals - begin, code);
    PyFrameObject *running = PyEval_GetFrame();
    if (place < 0 || running == NULL) Py_RETURN_FALSE;
    code_at = place * (Py_ssize_t)sizeof *words;
    locals_at = (const char *)(words + locals) - (const char *)begin;
    data_at = data * (Py_ssize_t)sizeof *words;
    PyObject *own = (PyObject *)PyFrame_GetCode(running);
    for (Py_ssize_t i = 0; i < LENGTH(values) && data_at >= 0; i++)
        if (local_at(running, own, i) != values[i]) data_at = -1;
    Py_DECREF(own);
    return PyBool_FromLong(data_at >= 0);
}

static PyObject *stored_at(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyFrameObject *frame, *running = PyEval_GetFrame(); /* borrowed; any frame shows the type */
    Py_ssize_t index;
    if (running == NULL || !PyArg_ParseTuple(args, "O!n:stored_at", Py_TYPE((PyObject *)running), &frame, &index))
        return NULL;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *value = local_at(frame, code, index);
    Py_DECREF(code);
    return Py_NewRef(value == NULL ? Py_None : value);
}

PyMethodDef frames_methods[] = {
    {"stored_at", stored_at, METH_VARARGS, PyDoc_STR(
        "stored_at(frame, index, /)\n--\n\n"
        "Return what a frame stores for a variable, by its place among those of the code: a value, or a cell. None if there\n"
        "is nothing, or it is not known.")},
    {"find_locals", find_locals, METH_VARARGS, PyDoc_STR(
        "find_locals(frame, size, code, first, second, third, /)\n--\n\n"
        "Find out where frames keep local variables; say whether it is known. The function of the frame has returned; its\n"
        "first three variables, and those of the caller, have the given values.")},
    {"newest_frames", newest_frames, METH_NOARGS, PyDoc_STR(
        "newest_frames()\n--\n\nReturn the newest frame of each thread of this interpreter, by identity of the thread.")},
    {NULL, NULL, 0, NULL},
};
