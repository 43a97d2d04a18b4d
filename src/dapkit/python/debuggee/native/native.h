/* What the parts of the extension share.

   The extension is built once, against the stable ABI of CPython 3.12, and loads into every later version.
   Functions outside that ABI are looked up when the module is loaded (`optional`); code that needs one checks
   that it was found. Everything here runs with the GIL held, in the main interpreter only. */

#ifndef DAPKIT_NATIVE_H
#define DAPKIT_NATIVE_H

#define Py_LIMITED_API 0x030c0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#pragma GCC visibility push(hidden) /* what follows is shared by our files, and by nobody else */

#define LENGTH(array) ((Py_ssize_t)(sizeof(array) / sizeof((array)[0])))

/* module.c */

typedef int (*dict_event_callback)(int event, PyObject *dict, PyObject *key, PyObject *value);

typedef struct {
    PyObject *(*frame_get_var)(PyFrameObject *, PyObject *);
    PyFrameObject *(*frame_get_back)(PyFrameObject *);
    int (*frame_get_lasti)(PyFrameObject *);
    PyObject *(*frame_get_locals)(PyFrameObject *);
    PyObject *(*frame_get_globals)(PyFrameObject *);
    PyObject *(*frame_get_builtins)(PyFrameObject *);
    PyObject *(*weakref_get_object)(PyObject *); /* borrowed; deprecated, but nothing else serves 3.12 too */
    int (*dict_add_watcher)(dict_event_callback);
    int (*dict_clear_watcher)(int);
    int (*dict_watch)(int, PyObject *);
    int (*dict_unwatch)(int, PyObject *);
    void (*enter_tracing)(PyThreadState *);
    void (*leave_tracing)(PyThreadState *);
    PyThreadState *(*thread_head)(PyInterpreterState *);
    PyThreadState *(*thread_next)(PyThreadState *);
} OptionalFunctions;

extern OptionalFunctions optional;
extern PyObject *disable; /* sys.monitoring.DISABLE */
extern PyObject *missing; /* stands for the value of what has none */
extern PyObject *lazy_import_type; /* of what `lazy import` leaves in a namespace; NULL before CPython 3.15 */

/* Raise RuntimeError, naming the function, if this interpreter lacks one whose name begins with `prefix`. */
int require_functions(const char *prefix);

/* callback.c: a callable object, made by one of the functions in `callback_methods` and its kin. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    long long count, target; /* seen from Python */
    PyObject *refs[4];       /* the objects it is about, NULL where there is none */
    void *data;              /* the rest, without references that the collector should know */
    void (*free_data)(void *data);
} Callback;

extern PyTypeObject *callback_type;
extern PyMethodDef callback_methods[];
int make_callback_type(PyObject *module);
Callback *new_callback(vectorcallfunc serve, size_t data_size);

/* The number of arguments of a call; PyVectorcall_NARGS is a call itself under the stable ABI. */
static inline Py_ssize_t argument_count(size_t given) { return (Py_ssize_t)(given & ~PY_VECTORCALL_ARGUMENTS_OFFSET); }

/* Refuse a call with fewer than `least` or more than `most` arguments, or with names. */
int check_call(size_t given, PyObject *names, Py_ssize_t least, Py_ssize_t most);

/* condition.c: a tree of nested tuples (see trees.py), checked and turned into nodes. */

typedef struct Node Node;
Node *node_from_tuple(PyObject *tuple, int depth);
void node_free(Node *node);
int node_truth(const Node *node, PyFrameObject *frame); /* -1 with an exception set */

/* calls.c */

extern PyMethodDef calls_methods[];
int prepare_calls(PyObject *module);

/* As PyObject_Vectorcall, for a callback that may be called where the recursion limit leaves no room for it. */
PyObject *call_with_room(PyObject *callable, PyObject *const *args, size_t given, PyObject *names);

/* frames.c */

extern PyMethodDef frames_methods[];
int prepare_frames(PyObject *module);

/* descriptors.c, line_check.c, output.c, poll.c, raises.c, starts.c, watch.c */

PyObject *line_check(PyObject *module, PyObject *args);
PyObject *poll(PyObject *module, PyObject *args);
extern PyMethodDef descriptor_methods[], output_methods[], raise_methods[], starts_methods[], watch_methods[];
extern const char line_check_doc[], poll_doc[];

#pragma GCC visibility pop

#endif
