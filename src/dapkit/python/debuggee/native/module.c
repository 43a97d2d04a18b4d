/* The module `_native`: what it finds in the interpreter, and what it offers. */

#include "native.h"
#include <dlfcn.h>
#include <string.h>

OptionalFunctions optional;

static const struct { const char *name; void *place; } OPTIONAL[] = {
    {"PyFrame_GetVar", &optional.frame_get_var},
    {"PyFrame_GetBack", &optional.frame_get_back},
    {"PyFrame_GetLocals", &optional.frame_get_locals},
    {"PyFrame_GetGlobals", &optional.frame_get_globals},
    {"PyFrame_GetBuiltins", &optional.frame_get_builtins},
    {"PyDict_AddWatcher", &optional.dict_add_watcher},
    {"PyDict_ClearWatcher", &optional.dict_clear_watcher},
    {"PyDict_Watch", &optional.dict_watch},
    {"PyDict_Unwatch", &optional.dict_unwatch},
};
enum { OPTIONAL_COUNT = sizeof OPTIONAL / sizeof *OPTIONAL };

static int is_found(int index) { return *(void **)OPTIONAL[index].place != NULL; }

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
    for (int i = 0; absent != NULL && i < OPTIONAL_COUNT; i++) {
        *(void **)OPTIONAL[i].place = dlsym(RTLD_DEFAULT, OPTIONAL[i].name);
        if (is_found(i)) continue;
        PyObject *name = PyUnicode_FromString(OPTIONAL[i].name);
        if (name == NULL || PyList_Append(absent, name) < 0) Py_CLEAR(absent);
        Py_XDECREF(name);
    }
    return absent;
}

static PyObject *take_disable(void)
{
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    if (monitoring == NULL) {
        PyErr_SetString(PyExc_ImportError, "this interpreter has no sys.monitoring");
        return NULL;
    }
    return PyObject_GetAttrString(monitoring, "DISABLE");
}

static int module_exec(PyObject *module)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "_native serves the main interpreter only");
        return -1;
    }
    ModuleState *state = PyModule_GetState(module);
    PyObject *absent = look_functions_up();
    int failed = PyModule_AddObjectRef(module, "ABSENT_FUNCTIONS", absent);
    Py_XDECREF(absent);
    if (failed || (state->disable = take_disable()) == NULL) return -1;
    state->missing = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    if (PyModule_AddObjectRef(module, "MISSING", state->missing) < 0) return -1;
    PyType_Spec *specs[] = {&counter_spec, &line_check_spec, &router_spec, &clock_spec, &poll_spec};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        PyObject *type = PyType_FromModuleAndSpec(module, specs[i], NULL);
        if (type == NULL) return -1;
        failed = PyModule_AddType(module, (PyTypeObject *)type);
        if (specs[i] == &counter_spec) state->counter_type = Py_NewRef(type);
        Py_DECREF(type);
        if (failed) return -1;
    }
    return watch_exec(state);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    ModuleState *state = PyModule_GetState(module);
    Py_VISIT(state->disable);
    Py_VISIT(state->missing);
    Py_VISIT(state->counter_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    ModuleState *state = PyModule_GetState(module);
    Py_CLEAR(state->disable);
    Py_CLEAR(state->missing);
    Py_CLEAR(state->counter_type);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = PyDoc_STR("What the debugger's engine does in C; see native.py, its only user."),
    .m_size = sizeof(ModuleState),
    .m_methods = watch_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module_definition); }
