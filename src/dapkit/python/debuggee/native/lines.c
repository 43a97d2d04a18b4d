/* Callables that serve LINE events themselves, and call Python only when there is something to do.

   Each is called as `callback(code, line)`. sys.monitoring may drop its reference to a callback while that
   runs (another thread registers a new one), so each holds a reference to itself as long as it needs it. */

#include "native.h"

static ModuleState *state_of(PyTypeObject *type) { return PyType_GetModuleState(type); }

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void *new_object(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

static int check_arguments(const char *name, Py_ssize_t given, Py_ssize_t most)
{
    if (given >= 2 && given <= most) return 0;
    PyErr_Format(PyExc_TypeError, "%s is called with a code object and a line, not with %zd arguments", name, given);
    return -1;
}

/* Counter: counts hits for C and for Python alike. */

static PyObject *counter_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (!PyArg_ParseTuple(args, "") || (kwargs != NULL && PyDict_Size(kwargs) != 0)) return NULL;
    return PyLong_FromLongLong(++((Counter *)self)->count);
}

static PyMemberDef counter_members[] = {
    {"count", Py_T_LONGLONG, offsetof(Counter, count), Py_READONLY, PyDoc_STR("How often it was called.")},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot counter_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Counter()\n--\n\nA callable that returns 1, 2, 3 and so on.")},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_call, counter_call},
    {Py_tp_members, counter_members},
    {Py_tp_dealloc, free_object},
    {0, NULL},
};

PyType_Spec counter_spec = {
    "_native.Counter", sizeof(Counter), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, counter_slots,
};

/* LineCheck: one breakpoint in one code object. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *code;
    long line;
    Node *condition;     /* NULL: none */
    Counter *counter;    /* NULL: hits are not counted */
    int comparison;      /* of the count with `number`: Py_LT ... Py_GE, or EVERY */
    long long number;
    PyObject *hit, *careful, *disable;
} LineCheck;

enum { EVERY = Py_GE + 1 };

static int hit_counts(LineCheck *self)
{
    long long count = ++self->counter->count, number = self->number;
    switch (self->comparison) {
    case Py_LT: return count < number;
    case Py_LE: return count <= number;
    case Py_EQ: return count == number;
    case Py_NE: return count != number;
    case Py_GT: return count > number;
    case Py_GE: return count >= number;
    default: return count % number == 0;
    }
}

/* Return a new reference to the frame that the event is about, NULL without an exception if there is none. */
static PyFrameObject *frame_at(long depth)
{
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame != NULL && --depth > 0) {
        PyFrameObject *back = optional.frame_get_back(frame);
        Py_DECREF((PyObject *)frame);
        frame = back;
    }
    return frame;
}

static PyObject *check_in_frame(LineCheck *self, PyFrameObject *frame, PyObject *line)
{
    if (self->condition != NULL) {
        int truth = node_truth(self->condition, frame);
        if (truth < 0) {
            if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return NULL;
            PyErr_Clear(); /* the careful way finds the same error, and tells of it */
            return PyObject_CallFunctionObjArgs(self->careful, frame, NULL);
        }
        if (!truth) Py_RETURN_NONE;
    }
    if (self->counter != NULL && !hit_counts(self)) Py_RETURN_NONE;
    return PyObject_CallFunctionObjArgs(self->hit, frame, self->code, line, NULL);
}

static PyObject *line_check_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    LineCheck *self = (LineCheck *)object;
    Py_ssize_t given = PyVectorcall_NARGS(nargsf) + (kwnames ? PyTuple_Size(kwnames) : 0);
    if (check_arguments("LineCheck", given, 3) < 0) return NULL;
    if (args[0] != self->code) return Py_NewRef(self->disable);
    long line = PyLong_AsLong(args[1]);
    if (line != self->line) return line == -1 && PyErr_Occurred() ? NULL : Py_NewRef(self->disable);
    long depth = given == 3 ? PyLong_AsLong(args[2]) : 1;
    if (depth == -1 && PyErr_Occurred()) return NULL;
    if (self->condition == NULL && self->counter != NULL && self->comparison == Py_EQ
        && self->counter->count + 1 != self->number) { /* the most common count needs no frame */
        self->counter->count++;
        Py_RETURN_NONE;
    }
    Py_INCREF(object);
    PyObject *result = NULL;
    PyFrameObject *frame = frame_at(depth);
    if (frame != NULL) {
        result = check_in_frame(self, frame, args[1]);
        Py_DECREF((PyObject *)frame);
    } else if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "no frame is %ld calls deep", depth);
    }
    Py_DECREF(object);
    return result;
}

static int take_hits(LineCheck *self, PyObject *sign, PyObject *number)
{
    static const struct { const char *sign; int comparison; } SIGNS[] = {
        {"<", Py_LT}, {"<=", Py_LE}, {"==", Py_EQ}, {"!=", Py_NE}, {">", Py_GT}, {">=", Py_GE}, {"%", EVERY},
    };
    self->number = PyLong_AsLongLong(number);
    if (self->number == -1 && PyErr_Occurred()) return -1;
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        self->comparison = SIGNS[i].comparison;
        if (PyUnicode_CompareWithASCIIString(sign, SIGNS[i].sign) == 0 && (self->comparison != EVERY || self->number > 0))
            return 0;
    }
    PyErr_Format(PyExc_ValueError, "hits cannot be tested by %R %R", sign, number);
    return -1;
}

static PyObject *line_check_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "line", "condition", "counter", "hits", "hit", "careful", NULL};
    PyObject *code, *condition, *counter, *hits, *hit, *careful, *sign, *number;
    long line;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OlOOOOO:LineCheck", names, &code, &line, &condition, &counter, &hits,
                                     &hit, &careful)
        || require_functions("PyFrame_") < 0)
        return NULL;
    ModuleState *state = state_of(type);
    LineCheck *self = new_object(type);
    if (self == NULL) return NULL;
    self->vectorcall = line_check_call;
    self->code = Py_NewRef(code);
    self->line = line;
    self->hit = Py_NewRef(hit);
    self->careful = Py_NewRef(careful);
    self->disable = Py_NewRef(state->disable);
    if (condition != Py_None && (self->condition = node_from_tuple(condition, 0)) == NULL) goto refused;
    if (hits != Py_None) {
        if (!Py_IS_TYPE(counter, (PyTypeObject *)state->counter_type)) {
            PyErr_Format(PyExc_TypeError, "hits are counted by a Counter, not by %R", counter);
            goto refused;
        }
        self->counter = (Counter *)Py_NewRef(counter);
        if (!PyArg_ParseTuple(hits, "UO:hits", &sign, &number) || take_hits(self, sign, number) < 0) goto refused;
    }
    return (PyObject *)self;
refused:
    Py_DECREF(self);
    return NULL;
}

static int line_check_traverse(PyObject *object, visitproc visit, void *arg)
{
    LineCheck *self = (LineCheck *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->code);
    Py_VISIT(self->counter);
    Py_VISIT(self->hit);
    Py_VISIT(self->careful);
    Py_VISIT(self->disable);
    return node_traverse(self->condition, visit, arg);
}

static int line_check_clear(PyObject *object)
{
    LineCheck *self = (LineCheck *)object;
    Node *condition = self->condition;
    self->condition = NULL;
    node_free(condition);
    Py_CLEAR(self->code);
    Py_CLEAR(self->counter);
    Py_CLEAR(self->hit);
    Py_CLEAR(self->careful);
    Py_CLEAR(self->disable);
    return 0;
}

static void line_check_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    line_check_clear(self);
    free_object(self);
}

static PyMemberDef line_check_members[] = {CALLABLE_MEMBERS(LineCheck), {NULL, 0, 0, 0, NULL}};

static PyType_Slot line_check_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR(
        "LineCheck(code, line, condition, counter, hits, hit, careful)\n--\n\n"
        "The LINE callback of one breakpoint; also callable as check(code, line, depth).\n\n"
        "DISABLE for other lines. Else, if the condition (a tree of tuples or None) is true in the frame and the\n"
        "count of hits (a pair such as ('>=', 5), or None) fits: hit(frame, code, line). If evaluating the condition\n"
        "raises: careful(frame). What they return is returned.")},
    {Py_tp_new, line_check_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, line_check_members},
    {Py_tp_traverse, line_check_traverse},
    {Py_tp_clear, line_check_clear},
    {Py_tp_dealloc, line_check_dealloc},
    {0, NULL},
};

PyType_Spec line_check_spec = {"_native.LineCheck", sizeof(LineCheck), 0, CALLABLE_FLAGS, line_check_slots};

/* Router: several breakpoints, found by line. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *table, *disable;
} Router;

static PyObject *router_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Router *self = (Router *)object;
    Py_ssize_t given = PyVectorcall_NARGS(nargsf) + (kwnames ? PyTuple_Size(kwnames) : 0);
    if (check_arguments("Router", given, 2) < 0) return NULL;
    PyObject *callback = PyDict_GetItemWithError(self->table, args[1]);
    if (callback == NULL) return PyErr_Occurred() ? NULL : Py_NewRef(self->disable);
    Py_INCREF(callback);
    PyObject *result = PyObject_Vectorcall(callback, args, 2, NULL);
    Py_DECREF(callback);
    return result;
}

static PyObject *router_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"table", NULL};
    PyObject *table;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Router", names, &PyDict_Type, &table)) return NULL;
    Router *self = new_object(type);
    if (self == NULL) return NULL;
    self->vectorcall = router_call;
    self->table = Py_NewRef(table);
    self->disable = Py_NewRef(state_of(type)->disable);
    return (PyObject *)self;
}

static int router_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Router *)object)->table);
    Py_VISIT(((Router *)object)->disable);
    return 0;
}

static int router_clear(PyObject *object)
{
    Py_CLEAR(((Router *)object)->table);
    Py_CLEAR(((Router *)object)->disable);
    return 0;
}

static void router_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    router_clear(self);
    free_object(self);
}

static PyMemberDef router_members[] = {CALLABLE_MEMBERS(Router), {NULL, 0, 0, 0, NULL}};

static PyType_Slot router_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR(
        "Router(table)\n--\n\n"
        "A LINE callback that passes the event on to the callback of the line, and returns DISABLE if it has none.")},
    {Py_tp_new, router_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, router_members},
    {Py_tp_traverse, router_traverse},
    {Py_tp_clear, router_clear},
    {Py_tp_dealloc, router_dealloc},
    {0, NULL},
};

PyType_Spec router_spec = {"_native.Router", sizeof(Router), 0, CALLABLE_FLAGS, router_slots};

/* Clock: counts events, and calls Python at one of them. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    unsigned long long now, target;
    PyObject *arrive;
} Clock;

static PyObject *clock_call(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Clock *self = (Clock *)object;
    if (++self->now != self->target) Py_RETURN_NONE;
    Py_INCREF(object);
    PyObject *result = PyObject_Vectorcall(self->arrive, args, (size_t)PyVectorcall_NARGS(nargsf), kwnames);
    Py_DECREF(object);
    return result;
}

static PyObject *clock_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"arrive", NULL};
    PyObject *arrive;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Clock", names, &arrive)) return NULL;
    Clock *self = new_object(type);
    if (self == NULL) return NULL;
    self->vectorcall = clock_call;
    self->arrive = Py_NewRef(arrive);
    return (PyObject *)self;
}

static int clock_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((Clock *)object)->arrive);
    return 0;
}

static int clock_clear(PyObject *object)
{
    Py_CLEAR(((Clock *)object)->arrive);
    return 0;
}

static void clock_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    clock_clear(self);
    free_object(self);
}

static PyMemberDef clock_members[] = {
    CALLABLE_MEMBERS(Clock),
    {"now", Py_T_ULONGLONG, offsetof(Clock, now), 0, PyDoc_STR("How many events there were.")},
    {"target", Py_T_ULONGLONG, offsetof(Clock, target), 0, PyDoc_STR("The event that calls Python; 0 for none.")},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot clock_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR(
        "Clock(arrive)\n--\n\nA callback of any event that counts, and calls arrive(...) when it reaches its target.")},
    {Py_tp_new, clock_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, clock_members},
    {Py_tp_traverse, clock_traverse},
    {Py_tp_clear, clock_clear},
    {Py_tp_dealloc, clock_dealloc},
    {0, NULL},
};

PyType_Spec clock_spec = {"_native.Clock", sizeof(Clock), 0, CALLABLE_FLAGS, clock_slots};
