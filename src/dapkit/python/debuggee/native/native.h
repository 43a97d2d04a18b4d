/* Declarations that the parts of the extension share.

   The extension is built once, against the stable ABI of CPython 3.12, and loads into every later version. Free-threaded
   builds have a stable ABI from 3.15 on (abi3t, PEP 803); for older ones it is built for each version.
   Functions outside that ABI are looked up when the module is loaded (`optional`); code that needs one checks
   that it was found. Everything here runs in the main interpreter only, with the GIL held where there is one. Without a
   GIL, data that several threads share is protected by `lock_state`, by a critical section, or changed atomically; with
   a GIL all three do nothing. */

#ifndef DAPKIT_NATIVE_H
#define DAPKIT_NATIVE_H

#include <patchlevel.h>
#include <pyconfig.h>
#if !defined(Py_GIL_DISABLED) && !defined(Py_TARGET_ABI3T)
#define Py_LIMITED_API 0x030c0000
#elif PY_VERSION_HEX >= 0x030f0000 && !defined(Py_TARGET_ABI3T)
#define Py_TARGET_ABI3T 0x030f0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#ifdef Py_GIL_DISABLED
#include <pthread.h>
#endif

#pragma GCC visibility push(hidden) /* the following names are shared by these files only */

#define LENGTH(array) ((Py_ssize_t)(sizeof(array) / sizeof((array)[0])))

/* Without a GIL */

#ifdef Py_GIL_DISABLED

enum { FREE_THREADED = 1 };

/* The lock of data that has no lock of its own. Who holds it calls nothing that may wait, or run code of Python: it would
   be let go of in a critical section, and kept while the world is stopped. */
extern pthread_mutex_t state_lock;
static inline void lock_state(void) { pthread_mutex_lock(&state_lock); }
static inline void unlock_state(void) { pthread_mutex_unlock(&state_lock); }

static inline long long count_one(long long *count) { return __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }
static inline long long read_count(const long long *count) { return __atomic_load_n(count, __ATOMIC_RELAXED); }

/* Count down to 0; return whether this was the last step. */
static inline int count_down(long long *count)
{
    long long left = read_count(count);
    while (left > 0)
        if (__atomic_compare_exchange_n(count, &left, left - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return left == 1;
    return 0;
}

#define BEGIN_ALONE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define END_ALONE() Py_END_CRITICAL_SECTION()

/* New references; NULL without an exception if there is nothing. */
static inline PyObject *dict_item(PyObject *dict, PyObject *key)
{
    PyObject *value;
    return PyDict_GetItemRef(dict, key, &value) < 0 ? NULL : value;
}
static inline PyObject *list_item(PyObject *list, Py_ssize_t index) { return PyList_GetItemRef(list, index); }

#else

enum { FREE_THREADED = 0 };

static inline void lock_state(void) {}
static inline void unlock_state(void) {}

static inline long long count_one(long long *count) { return ++*count; }
static inline long long read_count(const long long *count) { return *count; }
static inline int count_down(long long *count) { return *count > 0 && --*count == 0; }

#define BEGIN_ALONE(object) {
#define END_ALONE() }

static inline PyObject *dict_item(PyObject *dict, PyObject *key) { return Py_XNewRef(PyDict_GetItemWithError(dict, key)); }
static inline PyObject *list_item(PyObject *list, Py_ssize_t index) { return Py_XNewRef(PyList_GetItem(list, index)); }

#endif

/* module.c */

typedef int (*dict_event_callback)(int event, PyObject *dict, PyObject *key, PyObject *value);

typedef struct {
    PyObject *(*frame_get_var)(PyFrameObject *, PyObject *);
    PyFrameObject *(*frame_get_back)(PyFrameObject *);
    int (*frame_get_lasti)(PyFrameObject *);
    PyObject *(*frame_get_locals)(PyFrameObject *);
    PyObject *(*frame_get_globals)(PyFrameObject *);
    PyObject *(*frame_get_builtins)(PyFrameObject *);
    int (*weakref_get_ref)(PyObject *, PyObject **); /* from 3.13 on, and needed where there is no GIL */
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
extern PyObject *missing; /* the value of a place without a value */
extern PyObject *lazy_import_type; /* of a `lazy import` in a namespace; NULL before CPython 3.15 */
extern Py_ssize_t head_size; /* of an object without fields: another one in free-threaded builds */

/* Raise RuntimeError, naming the function, if this interpreter lacks one whose name begins with `prefix`. */
int require_functions(const char *prefix);

/* callback.c: a callable object, made by one of the functions in `callback_methods` and its kin. Its fields lie behind
   its head, of which abi3t does not tell the size. */

typedef struct {
    vectorcallfunc vectorcall;
    long long count, target; /* seen from Python */
    PyObject *refs[4];       /* the objects it is about, NULL without objects */
    void *data;              /* the rest, without references that the collector should know */
    void (*free_data)(void *data);
} Callback;

extern PyTypeObject *callback_type;
#ifdef Py_TARGET_ABI3T
extern Py_ssize_t callback_at; /* where the fields begin */
#else
enum { callback_at = sizeof(PyObject) };
#endif
static inline Callback *callback_of(PyObject *object) { return (Callback *)((char *)object + callback_at); }
extern PyMethodDef callback_methods[];
int make_callback_type(PyObject *module);
PyObject *new_callback(vectorcallfunc serve, size_t data_size);

/* The number of arguments of a call; PyVectorcall_NARGS is a call itself under the stable ABI. */
static inline Py_ssize_t argument_count(size_t given) { return (Py_ssize_t)(given & ~PY_VECTORCALL_ARGUMENTS_OFFSET); }

/* Refuse a call with fewer than `least` or more than `most` arguments, or with names. */
int refuse_call(Py_ssize_t least, Py_ssize_t most);
static inline int check_call(size_t given, PyObject *names, Py_ssize_t least, Py_ssize_t most)
{
    Py_ssize_t count = argument_count(given);
    return names == NULL && count >= least && count <= most ? 0 : refuse_call(least, most);
}

/* `sign` is one of Py_LT ... Py_GE. */
static inline int numbers_compare(long long left, int sign, long long right)
{
    switch (sign) {
    case Py_LT: return left < right;
    case Py_LE: return left <= right;
    case Py_EQ: return left == right;
    case Py_NE: return left != right;
    case Py_GT: return left > right;
    default: return left >= right;
    }
}

/* condition.c: a tree of nested tuples (see condition_compiler.py), checked and turned into nodes. */

typedef struct Node Node;
Node *node_from_tuple(PyObject *tuple, PyObject *code, int depth); /* `code` must outlive the node */
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

/* A local variable by its index in co_varnames, borrowed from the frame; it must not be a cell. NULL without an exception:
   it has no value, the frame is not of that code object, or it is not known where frames keep their variables. */
PyObject *local_at(PyFrameObject *frame, PyObject *code, Py_ssize_t index);

/* descriptors.c, line_check.c, output.c, poll.c, raises.c, starts.c, watch.c */

int prepare_raises(void);
PyObject *line_check(PyObject *module, PyObject *args);
PyObject *poll(PyObject *module, PyObject *args);
/* A function of the interpreter, or another name of it; NULL if it has no such name. */
void *find_symbol(const char *name);

extern PyMethodDef descriptor_methods[], output_methods[], raise_methods[], starts_methods[], watch_methods[];
extern const char line_check_doc[], poll_doc[];

#pragma GCC visibility pop

#endif
