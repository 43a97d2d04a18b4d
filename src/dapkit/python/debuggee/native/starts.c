/* Functions of the interpreter that start programs, with one look at their arguments first.

   A method table is changed in place: the function objects stay the same, for code that holds, compares or prints one;
   only their hashes change. Callers find the function in the table at each call, also in specialized code (CPython,
   `cfunction_vectorcall_*`, `CALL_BUILTIN_FAST`). Other interpreters of the process share the table; there the original
   is called at once. */

#include "native.h"
#include <string.h>

extern __attribute__((visibility("default"))) char **environ;

#define KEYWORDS (METH_FASTCALL | METH_KEYWORDS)

typedef PyObject *(*fast)(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *(*fast_with_names)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

typedef struct {
    const char *module, *name;
    PyMethodDef *definition; /* NULL until its layout was confirmed */
    PyCFunction original;
    PyObject *look; /* called with the arguments as a tuple, and their names; NULL for none */
} Start;

enum { FORK_EXEC, EXECV, EXECVE, POSIX_SPAWN, POSIX_SPAWNP, EXIT, START_COUNT };

static Start starts[START_COUNT] = {
    [FORK_EXEC] = {"_posixsubprocess", "fork_exec"}, [EXECV] = {"posix", "execv"},
    [EXECVE] = {"posix", "execve"},                  [POSIX_SPAWN] = {"posix", "posix_spawn"},
    [POSIX_SPAWNP] = {"posix", "posix_spawnp"},      [EXIT] = {"posix", "_exit"},
};

static PyObject *call_original(const Start *start, PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (start->definition->ml_flags & METH_KEYWORDS)
        return ((fast_with_names)(void (*)(void))start->original)(module, args, count, names);
    return ((fast)(void (*)(void))start->original)(module, args, count);
}

/* No tracer, profiler or tool sees the call: not the program's own, and not the debugger's, which would stop there. */
static PyObject *call_unseen(PyObject *callable, PyObject *const *args, size_t count)
{
    PyThreadState *thread = PyThreadState_Get();
    int can_hide = optional.enter_tracing != NULL && optional.leave_tracing != NULL;
    if (can_hide) optional.enter_tracing(thread);
    PyObject *result = call_with_room(callable, args, count, NULL);
    if (can_hide) optional.leave_tracing(thread);
    return result;
}

/* The arguments that `look` returns, NULL to keep the program's; an internal error never reaches the program. With an error
   set the call is over: an interrupt that came meanwhile is the program's. */
static PyObject *arguments_instead(PyObject *look, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    PyObject *given = PyTuple_New(count + named);
    if (given == NULL) goto failed;
    for (Py_ssize_t i = 0; i < count + named; i++)
        if (PyTuple_SetItem(given, i, Py_NewRef(args[i])) < 0) goto failed;
    PyObject *shown[] = {given, names == NULL ? Py_None : names};
    PyObject *instead = call_unseen(look, shown, 2);
    if (instead == NULL) goto failed;
    Py_DECREF(given);
    if (PyTuple_Check(instead) && PyTuple_Size(instead) >= count + named) return instead;
    Py_DECREF(instead);
    return NULL;
failed:
    Py_XDECREF(given);
    if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
    return NULL;
}

static PyObject *serve(int which, PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Start *start = &starts[which];
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return call_original(start, module, args, count, names);
    lock_state();
    PyObject *look = Py_XNewRef(start->look);
    unlock_state();
    if (look == NULL) return call_original(start, module, args, count, names);
    PyObject *instead = arguments_instead(look, args, count, names);
    Py_DECREF(look);
    if (instead == NULL) return PyErr_Occurred() ? NULL : call_original(start, module, args, count, names);
    PyObject *items[32];
    Py_ssize_t size = PyTuple_Size(instead), named = names == NULL ? 0 : PyTuple_Size(names);
    PyObject *result = NULL;
    if (size > LENGTH(items))
        PyErr_SetString(PyExc_SystemError, "too many arguments");
    else {
        for (Py_ssize_t i = 0; i < size; i++) items[i] = PyTuple_GetItem(instead, i);
        /* execv has no environment among its arguments; with one it is execve. */
        Start *other = which == EXECV && size == 3 ? &starts[EXECVE] : start;
        result = call_original(other, module, items, size - named, names);
    }
    Py_DECREF(instead);
    return result;
}

#define SERVE(which, name) \
    static PyObject *name(PyObject *module, PyObject *const *args, Py_ssize_t count) \
    { \
        return serve(which, module, args, count, NULL); \
    } \
    static PyObject *name##_with_names(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) \
    { \
        return serve(which, module, args, count, names); \
    }

SERVE(FORK_EXEC, serve_fork_exec)
SERVE(EXECV, serve_execv)
SERVE(EXECVE, serve_execve)
SERVE(POSIX_SPAWN, serve_posix_spawn)
SERVE(POSIX_SPAWNP, serve_posix_spawnp)
SERVE(EXIT, serve_exit)

#define BOTH(name) {(PyCFunction)(void (*)(void))name, (PyCFunction)(void (*)(void))name##_with_names}

static const PyCFunction SERVERS[START_COUNT][2] = {
    [FORK_EXEC] = BOTH(serve_fork_exec),     [EXECV] = BOTH(serve_execv),
    [EXECVE] = BOTH(serve_execve),           [POSIX_SPAWN] = BOTH(serve_posix_spawn),
    [POSIX_SPAWNP] = BOTH(serve_posix_spawnp), [EXIT] = BOTH(serve_exit),
};

/* The definition of a function in C, which lies behind its head; NULL if that does not match the function. */
static PyMethodDef *definition_of(PyObject *function)
{
    if (!Py_IS_TYPE(function, &PyCFunction_Type)) return NULL;
    PyMethodDef *definition = *(PyMethodDef **)((char *)function + head_size);
    if (definition->ml_meth != PyCFunction_GetFunction(function)) return NULL;
    if (definition->ml_flags != PyCFunction_GetFlags(function)) return NULL;
    return definition->ml_flags == METH_FASTCALL || definition->ml_flags == KEYWORDS ? definition : NULL;
}

/* The function of that name is looked for where the program has it, and so is changed for all who have it. */
static PyObject *look_at_starts(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *function, *look;
    if (!PyArg_ParseTuple(args, "sOO", &name, &function, &look)) return NULL;
    for (int which = 0; which < START_COUNT; which++) {
        Start *start = &starts[which];
        if (strcmp(start->name, name) != 0) continue;
        if (start->definition == NULL) {
            PyMethodDef *definition = definition_of(function);
            if (definition == NULL || strcmp(definition->ml_name, name) != 0) Py_RETURN_FALSE;
            start->original = definition->ml_meth;
            start->definition = definition;
            /* last, since another thread may call it at once */
            __atomic_store_n(&definition->ml_meth, SERVERS[which][(definition->ml_flags & METH_KEYWORDS) != 0], __ATOMIC_RELEASE);
        }
        lock_state();
        PyObject *before = start->look;
        start->look = look == Py_None ? NULL : Py_NewRef(look);
        unlock_state();
        Py_XDECREF(before);
        Py_RETURN_TRUE;
    }
    PyErr_Format(PyExc_ValueError, "%s is not a function that is looked at", name);
    return NULL;
}

/* The environment that programs inherit if they are started without one: `os.environ` may not know all of it. */
static PyObject *environment(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    PyObject *lines = PyList_New(0);
    for (char **line = environ; lines != NULL && line != NULL && *line != NULL; line++) {
        PyObject *bytes = PyBytes_FromString(*line);
        if (bytes == NULL || PyList_Append(lines, bytes) < 0) Py_CLEAR(lines);
        Py_XDECREF(bytes);
    }
    return lines;
}

PyMethodDef starts_methods[] = {
    {"environment", environment, METH_NOARGS, PyDoc_STR(
        "environment()\n--\n\n"
        "The environment of this process, as lines of bytes.")},
    {"look_at_start", look_at_starts, METH_VARARGS, PyDoc_STR(
        "look_at_start(name, function, look, /)\n--\n\n"
        "Have look(arguments, names) called before a function that starts programs, or with None nothing more. "
        "It returns the arguments that are to be used, or None. False if the function is not what it is taken for.")},
    {NULL, NULL, 0, NULL},
};
