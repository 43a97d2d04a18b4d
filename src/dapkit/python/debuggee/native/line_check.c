/* The LINE callback of one breakpoint in one code object: its condition and its hit condition, in C. */

#include "native.h"

enum { CODE, HIT, CAREFUL, COUNTER }; /* in Callback.refs */

enum { ALWAYS = -1, EVERY = Py_GE + 1 }; /* besides Py_LT ... Py_GE */

typedef struct {
    long line;
    Node *condition;  /* NULL: none */
    int hits;         /* how the count is compared with `number`: Py_LT ... Py_GE, ALWAYS or EVERY */
    long long number;
} Check;

/* Count a hit, and say whether it is one to stop at. The counter is shared by all code objects of a breakpoint. */
static int hit_counts(Callback *self, const Check *check)
{
    if (check->hits == ALWAYS) return 1;
    long long count = count_one(&callback_of(self->refs[COUNTER])->count), number = check->number;
    return check->hits == EVERY ? count % number == 0 : numbers_compare(count, check->hits, number);
}

/* Return the frame that the event is about; `*held` is a reference to drop, if one was needed to get there. */
static PyFrameObject *frame_at(long depth, PyFrameObject **held)
{
    PyFrameObject *frame = PyEval_GetFrame(); /* kept alive by its own execution */
    *held = NULL;
    while (frame != NULL && --depth > 0) {
        PyFrameObject *back = optional.frame_get_back(frame);
        Py_XDECREF((PyObject *)*held);
        frame = *held = back;
    }
    if (frame == NULL && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the call stack is not that deep");
    return frame;
}

/* Evaluate the condition: 1, 0, or -1 with an exception set. */
static int condition_holds(const Check *check, long depth)
{
    if (check->condition == NULL) return 1;
    PyFrameObject *held, *frame = frame_at(depth, &held);
    int truth = frame == NULL ? -1 : node_truth(check->condition, frame);
    Py_XDECREF((PyObject *)held);
    return truth;
}

/* Call the Python function refs[HIT] or refs[CAREFUL]. */
static PyObject *report(Callback *self, int which, long depth, PyObject *line)
{
    PyFrameObject *held, *frame = frame_at(depth, &held);
    PyObject *result = NULL;
    if (frame != NULL && which == HIT)
        result = PyObject_CallFunctionObjArgs(self->refs[HIT], (PyObject *)frame, self->refs[CODE], line, NULL);
    else if (frame != NULL)
        result = PyObject_CallFunctionObjArgs(self->refs[CAREFUL], (PyObject *)frame, NULL);
    Py_XDECREF((PyObject *)held);
    return result;
}

static PyObject *serve_line(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    Callback *self = callback_of(object);
    const Check *check = self->data;
    if (check_call(given, names, 2, 3) < 0) return NULL;
    if (args[0] != self->refs[CODE]) return Py_NewRef(disable);
    long line = PyLong_AsLong(args[1]);
    if (line != check->line) return line == -1 && PyErr_Occurred() ? NULL : Py_NewRef(disable);
    long depth = argument_count(given) == 3 ? PyLong_AsLong(args[2]) : 1;
    if (depth == -1 && PyErr_Occurred()) return NULL;

    if (check->condition == NULL && !hit_counts(self, check)) Py_RETURN_NONE;
    Py_INCREF(object); /* the rest may run any code, which may drop this callback */
    PyObject *result = NULL;
    int holds = condition_holds(check, depth);
    if (holds > 0 && (check->condition == NULL || hit_counts(self, check))) {
        result = report(self, HIT, depth, args[1]);
    } else if (holds >= 0) {
        result = Py_None; /* it is immortal */
    } else if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) { /* that is the program's */
        PyErr_Clear(); /* the careful way finds the same error, and tells of it */
        result = report(self, CAREFUL, depth, args[1]);
    }
    Py_DECREF(object);
    return result;
}

static void free_check(void *data) { node_free(((Check *)data)->condition); }

static int take_hits(Check *check, PyObject *pair)
{
    static const struct { const char *sign; int hits; } SIGNS[] = {
        {"<", Py_LT}, {"<=", Py_LE}, {"==", Py_EQ}, {"!=", Py_NE}, {">", Py_GT}, {">=", Py_GE}, {"%", EVERY},
    };
    PyObject *sign;
    if (!PyArg_ParseTuple(pair, "UL:hits", &sign, &check->number)) return -1;
    for (Py_ssize_t i = 0; i < LENGTH(SIGNS); i++) {
        check->hits = SIGNS[i].hits;
        if (PyUnicode_CompareWithASCIIString(sign, SIGNS[i].sign) == 0 && (check->hits != EVERY || check->number > 0))
            return 0;
    }
    PyErr_Format(PyExc_ValueError, "hits cannot be tested by %R", pair);
    return -1;
}

PyObject *line_check(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code, *condition, *hits, *count, *hit, *careful;
    long line;
    if (!PyArg_ParseTuple(args, "OlOOO!OO:line_check", &code, &line, &condition, &hits, callback_type, &count, &hit,
                          &careful)
        || require_functions("PyFrame_") < 0)
        return NULL;
    PyObject *made = new_callback(serve_line, sizeof(Check));
    if (made == NULL) return NULL;
    Callback *self = callback_of(made);
    Check *check = self->data;
    self->free_data = free_check;
    self->refs[CODE] = Py_NewRef(code);
    self->refs[HIT] = Py_NewRef(hit);
    self->refs[CAREFUL] = Py_NewRef(careful);
    self->refs[COUNTER] = Py_NewRef(count);
    check->line = line;
    check->hits = ALWAYS;
    if ((condition != Py_None && (check->condition = node_from_tuple(condition, code, 0)) == NULL)
        || (hits != Py_None && take_hits(check, hits) < 0))
        Py_CLEAR(made);
    return made;
}

const char line_check_doc[] = PyDoc_STR(
    "line_check(code, line, condition, hits, counter, hit, careful, /)\n--\n\n"
    "Make the LINE callback of one breakpoint, also callable as check(code, line, depth).\n\n"
    "It returns DISABLE for other lines. If the condition (a tree of tuples, or None) is true in the frame, it counts;\n"
    "if the count fits (a pair such as ('>=', 5), or None), it calls hit(frame, code, line). If evaluating the\n"
    "condition raises, it calls careful(frame).");
