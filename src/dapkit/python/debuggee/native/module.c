/* The module `_native`: its facts about the interpreter, and its functions. */

#include "native.h"
#include <string.h>

OptionalFunctions optional;
PyObject *disable, *missing, *lazy_import_type;
Py_ssize_t head_size;

#ifdef Py_GIL_DISABLED
pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

/* Not for use without a GIL: changes that a watcher makes to the writing code (watch.c) stop the world, in the middle of
   the change of a dict; and threads end while others look at the list of them (frames.c). */
#define WITH_GIL(place) (FREE_THREADED ? NULL : (void *)&(place))

static const struct { const char *name; void *place; } OPTIONAL[] = {
    {"PyFrame_GetVar", &optional.frame_get_var},
    {"PyFrame_GetBack", &optional.frame_get_back},
    {"PyFrame_GetLasti", &optional.frame_get_lasti},
    {"PyFrame_GetLocals", &optional.frame_get_locals},
    {"PyFrame_GetGlobals", &optional.frame_get_globals},
    {"PyFrame_GetBuiltins", &optional.frame_get_builtins},
#ifdef Py_GIL_DISABLED
    {"PyWeakref_GetRef", &optional.weakref_get_ref},
#endif
    {"PyDict_AddWatcher", WITH_GIL(optional.dict_add_watcher)},
    {"PyDict_ClearWatcher", WITH_GIL(optional.dict_clear_watcher)},
    {"PyDict_Watch", WITH_GIL(optional.dict_watch)},
    {"PyDict_Unwatch", WITH_GIL(optional.dict_unwatch)},
    {"PyThreadState_EnterTracing", &optional.enter_tracing},
    {"PyThreadState_LeaveTracing", &optional.leave_tracing},
    {"PyInterpreterState_ThreadHead", WITH_GIL(optional.thread_head)},
    {"PyThreadState_Next", WITH_GIL(optional.thread_next)},
};
enum { OPTIONAL_COUNT = sizeof OPTIONAL / sizeof *OPTIONAL };

static int is_found(int index) { return OPTIONAL[index].place != NULL && *(void **)OPTIONAL[index].place != NULL; }

int require_functions(const char *prefix)
{
    for (int i = 0; i < OPTIONAL_COUNT; i++)
        if (!is_found(i) && strncmp(OPTIONAL[i].name, prefix, strlen(prefix)) == 0) {
            PyErr_Format(PyExc_RuntimeError, "this interpreter has no %s", OPTIONAL[i].name);
            return -1;
        }
    return 0;
}

static PyObject *look_functions_up(void)
{
    PyObject *absent = PyList_New(0);
    lazy_import_type = find_symbol("PyLazyImport_Type");
    for (int i = 0; absent != NULL && i < OPTIONAL_COUNT; i++) {
        if (OPTIONAL[i].place != NULL) *(void **)OPTIONAL[i].place = find_symbol(OPTIONAL[i].name);
        if (is_found(i)) continue;
        PyObject *name = PyUnicode_FromString(OPTIONAL[i].name);
        if (name == NULL || PyList_Append(absent, name) < 0) Py_CLEAR(absent);
        Py_XDECREF(name);
    }
    return absent;
}

static int take_disable(void)
{
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    if (monitoring == NULL) {
        PyErr_SetString(PyExc_ImportError, "this interpreter has no sys.monitoring");
        return -1;
    }
    disable = PyObject_GetAttrString(monitoring, "DISABLE");
    return disable == NULL ? -1 : 0;
}

static PyObject *local_variable(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (require_functions("PyFrame_GetVar") < 0) return NULL;
    PyFrameObject *frame = PyEval_GetFrame(); /* borrowed; any frame shows the type */
    if (count != 2 || frame == NULL || Py_TYPE(args[0]) != Py_TYPE((PyObject *)frame) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "local_variable takes a frame and a name");
        return NULL;
    }
    return optional.frame_get_var((PyFrameObject *)args[0], args[1]);
}

/* Whether the collector could look at it: of the classes, at those that were made at run time. */
static int is_collected(PyObject *object)
{
    if (PyType_Check(object)) return PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE);
    return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HAVE_GC);
}

/* Types that are not on the heap are not tracked, though all others of their kind are. */
static PyObject *untrack(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "untrack takes an object and whether to keep it");
        return NULL;
    }
    PyObject *object = args[0];
    if (!is_collected(object) || !PyObject_GC_IsTracked(object)) Py_RETURN_FALSE;
    PyObject_GC_UnTrack(object);
    if (args[1] == Py_True) Py_INCREF(object); /* for good: functions and classes cannot end untracked */
    Py_RETURN_TRUE;
}

static PyObject *track(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (is_collected(object) && !PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"track", track, METH_O, PyDoc_STR(
        "track(object, /)\n--\n\n"
        "Let the garbage collector look at an object again that was taken out by `untrack`, and not kept.")},
    {"untrack", (PyCFunction)(void (*)(void))untrack, METH_FASTCALL, PyDoc_STR(
        "untrack(object, keep, /)\n--\n\n"
        "Take an object out of what the garbage collector looks at, and keep it alive if asked to. Whether it was there.")},
    {"local_variable", (PyCFunction)(void (*)(void))local_variable, METH_FASTCALL, PyDoc_STR(
        "local_variable(frame, name, /)\n--\n\n"
        "Return a local variable of a frame of a function, NameError if it has no value. Leaves no trace in the frame.")},
    {NULL, NULL, 0, NULL},
};

static int measure_head(void)
{
    PyObject *size = PyObject_GetAttrString((PyObject *)&PyBaseObject_Type, "__basicsize__");
    head_size = size == NULL ? -1 : PyLong_AsSsize_t(size);
    Py_XDECREF(size);
    return head_size < 0 ? -1 : 0;
}

/* A thread that forks may do so while another one has the lock. */
static int keep_lock_usable(void)
{
#ifdef Py_GIL_DISABLED
    if (pthread_atfork(lock_state, unlock_state, unlock_state) != 0) {
        PyErr_NoMemory();
        return -1;
    }
#endif
    return 0;
}

/* The references kept here live as long as the process: a callback may be called until the interpreter is gone. */
static int module_exec(PyObject *module)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "the extension serves the main interpreter only");
        return -1;
    }
    PyObject *absent = look_functions_up();
    int failed = PyModule_AddObjectRef(module, "ABSENT_FUNCTIONS", absent);
    Py_XDECREF(absent);
    if (failed || take_disable() < 0 || keep_lock_usable() < 0) return -1;
    missing = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    if (PyModule_AddObjectRef(module, "MISSING", missing) < 0) return -1;
    PyMethodDef *functions[] = {
        module_methods, callback_methods, calls_methods, frames_methods, raise_methods, watch_methods,
#ifndef MS_WINDOWS
        descriptor_methods, output_methods, starts_methods,
#endif
    };
    for (Py_ssize_t i = 0; i < LENGTH(functions); i++)
        if (PyModule_AddFunctions(module, functions[i]) < 0) return -1;
    if (prepare_calls(module) < 0 || prepare_frames(module) < 0 || prepare_raises() < 0) return -1;
    return make_callback_type(module);
}

#define DESCRIPTION PyDoc_STR("What the debugger's engine does in C; native.py is its only user.")

#ifdef Py_TARGET_ABI3T

PyABIInfo_VAR(abi_info);

static int module_exec_abi3t(PyObject *module) { return measure_head() < 0 ? -1 : module_exec(module); }

static PySlot module_slots[] = {
    PySlot_STATIC_DATA(Py_mod_abi, &abi_info),
    PySlot_STATIC_DATA(Py_mod_name, "_native"),
    PySlot_STATIC_DATA(Py_mod_doc, DESCRIPTION),
    PySlot_FUNC(Py_mod_exec, module_exec_abi3t),
    PySlot_DATA(Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED),
    PySlot_DATA(Py_mod_gil, Py_MOD_GIL_NOT_USED),
    PySlot_END,
};

PyMODEXPORT_FUNC PyModExport__native(void) { return module_slots; }

#else

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = DESCRIPTION,
    .m_slots = module_slots,
};

/* Free-threaded builds before 3.15 look for files of the stable ABI as well, in which objects have another head. */
PyMODINIT_FUNC PyInit__native(void)
{
    if (measure_head() < 0) return NULL;
    if (head_size == sizeof(PyObject)) return PyModuleDef_Init(&module_definition);
    PyErr_SetString(PyExc_ImportError, "it was not built for free-threaded Python of this version");
    return NULL;
}

#endif
