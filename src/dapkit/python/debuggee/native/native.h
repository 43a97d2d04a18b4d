/* What the parts of the extension share.

   The extension is built once, against the stable ABI of CPython 3.12, and loads into every later version.
   Functions outside that ABI are looked up when the module is loaded (`optional`); whoever needs one checks
   that it was found. Everything here runs with the GIL held. */

#ifndef DAPKIT_NATIVE_H
#define DAPKIT_NATIVE_H

#define Py_LIMITED_API 0x030c0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>

typedef int (*dict_event_callback)(int event, PyObject *dict, PyObject *key, PyObject *value);

typedef struct {
    PyObject *(*frame_get_var)(PyFrameObject *, PyObject *);
    PyFrameObject *(*frame_get_back)(PyFrameObject *);
    PyObject *(*frame_get_locals)(PyFrameObject *);
    PyObject *(*frame_get_globals)(PyFrameObject *);
    PyObject *(*frame_get_builtins)(PyFrameObject *);
    int (*dict_add_watcher)(dict_event_callback);
    int (*dict_clear_watcher)(int);
    int (*dict_watch)(int, PyObject *);
    int (*dict_unwatch)(int, PyObject *);
} OptionalFunctions;

extern OptionalFunctions optional;

/* Raise RuntimeError, naming the first function whose name begins with `prefix` that this interpreter lacks. */
int require_functions(const char *prefix);

typedef struct {
    PyObject *disable;    /* sys.monitoring.DISABLE */
    PyObject *missing;    /* stands for the value of what has none */
    PyObject *counter_type;
} ModuleState;

typedef struct {
    PyObject_HEAD
    long long count;
} Counter;

/* condition.c: a tree made of nested tuples (see trees.py), checked and turned into nodes. */
typedef struct Node Node;
Node *node_from_tuple(PyObject *tuple, int depth);
void node_free(Node *node);
int node_traverse(const Node *node, visitproc visit, void *arg);
int node_truth(const Node *node, PyFrameObject *frame); /* -1 with an exception set */

/* One definition per type and per group of functions; module.c puts them together. */
extern PyType_Spec counter_spec, line_check_spec, router_spec, clock_spec, poll_spec;
extern PyMethodDef watch_methods[];
int watch_exec(ModuleState *state);

/* Free an object of one of our types after its content is cleared. */
void free_object(PyObject *self);

/* Members and flags that every callable type of ours has. */
#define CALLABLE_MEMBERS(type) {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(type, vectorcall), Py_READONLY, NULL}
#define CALLABLE_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE)

#endif
