/* Conditions: trees of names, constants and operations, evaluated on a frame as Python would.

   A tree never changes once it is made. Evaluating one may run any Python code (`__eq__`, `__bool__`, calls),
   and so switch threads; whoever evaluates holds a reference to the owner of the tree. */

#include "native.h"
#include <string.h>

enum { MAX_DEPTH = 40, MAX_CHILDREN = 8 };

typedef enum {
    LOCAL, GLOBAL, NAME, CONSTANT, ATTRIBUTE, ITEM, CALL, COMPARE, CONTAINS, IS, BINARY, UNARY, NOT, AND, OR, CHOICE
} Kind;

struct Node {
    Kind kind;
    int comparison;     /* COMPARE: Py_LT ... Py_GE */
    binaryfunc binary;  /* BINARY */
    unaryfunc unary;    /* UNARY */
    PyObject *object;   /* the name or the constant */
    Py_ssize_t count;
    Node **children;
};

typedef enum { NOTHING, TEXT, ANYTHING, COMPARISON_SIGN, BINARY_SIGN, UNARY_SIGN } Operand;

static const struct { const char *name; Operand operand; Py_ssize_t least, most; } KINDS[] = {
    [LOCAL] = {"local", TEXT, 0, 0},
    [GLOBAL] = {"global", TEXT, 0, 0},
    [NAME] = {"name", TEXT, 0, 0},
    [CONSTANT] = {"constant", ANYTHING, 0, 0},
    [ATTRIBUTE] = {"attribute", TEXT, 1, 1},
    [ITEM] = {"item", NOTHING, 2, 2},
    [CALL] = {"call", NOTHING, 1, MAX_CHILDREN},
    [COMPARE] = {"compare", COMPARISON_SIGN, 2, 2},
    [CONTAINS] = {"contains", NOTHING, 2, 2}, /* the element, then the container */
    [IS] = {"is", NOTHING, 2, 2},
    [BINARY] = {"binary", BINARY_SIGN, 2, 2},
    [UNARY] = {"unary", UNARY_SIGN, 1, 1},
    [NOT] = {"not", NOTHING, 1, 1},
    [AND] = {"and", NOTHING, 2, MAX_CHILDREN},
    [OR] = {"or", NOTHING, 2, MAX_CHILDREN},
    [CHOICE] = {"choice", NOTHING, 3, 3}, /* the test, what if it is true, what if not */
};

static const struct { const char *sign; int comparison; } COMPARISONS[] = {
    {"<", Py_LT}, {"<=", Py_LE}, {"==", Py_EQ}, {"!=", Py_NE}, {">", Py_GT}, {">=", Py_GE},
};

static const struct { const char *sign; binaryfunc function; } BINARIES[] = {
    {"+", PyNumber_Add}, {"-", PyNumber_Subtract}, {"*", PyNumber_Multiply}, {"/", PyNumber_TrueDivide},
    {"//", PyNumber_FloorDivide}, {"%", PyNumber_Remainder}, {"&", PyNumber_And}, {"|", PyNumber_Or},
    {"^", PyNumber_Xor}, {"<<", PyNumber_Lshift}, {">>", PyNumber_Rshift}, {"@", PyNumber_MatrixMultiply},
};

static const struct { const char *sign; unaryfunc function; } UNARIES[] = {
    {"-", PyNumber_Negative}, {"+", PyNumber_Positive}, {"~", PyNumber_Invert},
};

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Making trees */

static int is_text(PyObject *object, const char *text)
{
    return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

static int take_operand(Node *node, PyObject *given)
{
    switch (KINDS[node->kind].operand) {
    case NOTHING:
        if (given == Py_None) return 0;
        break;
    case TEXT:
        if (!PyUnicode_CheckExact(given)) break;
        node->object = Py_NewRef(given);
        PyUnicode_InternInPlace(&node->object); /* look-ups by name compare addresses first */
        return 0;
    case ANYTHING:
        node->object = Py_NewRef(given);
        return 0;
    case COMPARISON_SIGN:
        for (int i = 0; i < LENGTH(COMPARISONS); i++)
            if (is_text(given, COMPARISONS[i].sign)) { node->comparison = COMPARISONS[i].comparison; return 0; }
        break;
    case BINARY_SIGN:
        for (int i = 0; i < LENGTH(BINARIES); i++)
            if (is_text(given, BINARIES[i].sign)) { node->binary = BINARIES[i].function; return 0; }
        break;
    case UNARY_SIGN:
        for (int i = 0; i < LENGTH(UNARIES); i++)
            if (is_text(given, UNARIES[i].sign)) { node->unary = UNARIES[i].function; return 0; }
        break;
    }
    PyErr_Format(PyExc_ValueError, "a node '%s' of a condition cannot have %R", KINDS[node->kind].name, given);
    return -1;
}

static int take_kind(Node *node, PyObject *name)
{
    for (int i = 0; i < LENGTH(KINDS); i++)
        if (is_text(name, KINDS[i].name)) { node->kind = (Kind)i; return 0; }
    PyErr_Format(PyExc_ValueError, "no node of a condition is called %R", name);
    return -1;
}

static int take_children(Node *node, PyObject *tuple, int depth)
{
    Py_ssize_t count = PyTuple_Size(tuple) - 2;
    if (count < KINDS[node->kind].least || count > KINDS[node->kind].most) {
        PyErr_Format(PyExc_ValueError, "a node '%s' of a condition cannot have %zd children", KINDS[node->kind].name, count);
        return -1;
    }
    if (count == 0) return 0;
    node->children = PyMem_Calloc((size_t)count, sizeof(Node *));
    if (node->children == NULL) { PyErr_NoMemory(); return -1; }
    for (; node->count < count; node->count++) {
        Node *child = node_from_tuple(PyTuple_GetItem(tuple, node->count + 2), depth + 1);
        if (child == NULL) return -1;
        node->children[node->count] = child;
    }
    return 0;
}

Node *node_from_tuple(PyObject *tuple, int depth)
{
    if (depth > MAX_DEPTH) {
        PyErr_Format(PyExc_ValueError, "a condition is nested deeper than %d", MAX_DEPTH);
        return NULL;
    }
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) < 2) {
        PyErr_Format(PyExc_ValueError, "a node of a condition is a tuple (kind, operand, *children), not %R", tuple);
        return NULL;
    }
    Node *node = PyMem_Calloc(1, sizeof(Node));
    if (node == NULL) return (Node *)PyErr_NoMemory();
    if (take_kind(node, PyTuple_GetItem(tuple, 0)) < 0 || take_operand(node, PyTuple_GetItem(tuple, 1)) < 0
        || take_children(node, tuple, depth) < 0) {
        node_free(node);
        return NULL;
    }
    return node;
}

void node_free(Node *node)
{
    if (node == NULL) return;
    for (Py_ssize_t i = 0; i < node->count; i++) node_free(node->children[i]);
    PyMem_Free(node->children);
    Py_XDECREF(node->object);
    PyMem_Free(node);
}

int node_traverse(const Node *node, visitproc visit, void *arg)
{
    if (node == NULL) return 0;
    Py_VISIT(node->object);
    for (Py_ssize_t i = 0; i < node->count; i++) {
        int stop = node_traverse(node->children[i], visit, arg);
        if (stop) return stop;
    }
    return 0;
}

/* Reading names */

/* Look a name up in a namespace of the frame. NULL without an exception: it is not there. */
static PyObject *look_up(PyObject *(*namespace_of)(PyFrameObject *), PyFrameObject *frame, PyObject *name)
{
    PyObject *namespace = namespace_of(frame);
    if (namespace == NULL) return NULL;
    PyObject *value = NULL;
    if (PyDict_CheckExact(namespace))
        value = Py_XNewRef(PyDict_GetItemWithError(namespace, name));
    else /* of a metaclass, or given to exec: the names in it may be anything */
        PyErr_SetString(PyExc_TypeError, "a namespace that is no dict");
    Py_DECREF(namespace);
    return value;
}

static PyObject *read_name(const Node *node, PyFrameObject *frame)
{
    PyObject *value = NULL;
    if (node->kind == NAME) value = look_up(optional.frame_get_locals, frame, node->object);
    if (value == NULL && !PyErr_Occurred()) value = look_up(optional.frame_get_globals, frame, node->object);
    if (value == NULL && !PyErr_Occurred()) value = look_up(optional.frame_get_builtins, frame, node->object);
    if (value == NULL && !PyErr_Occurred()) PyErr_SetObject(PyExc_NameError, node->object);
    return value;
}

/* Evaluating */

static PyObject *node_value(const Node *node, PyFrameObject *frame);

static PyObject *call(const Node *node, PyFrameObject *frame)
{
    PyObject *values[MAX_CHILDREN], *result = NULL;
    Py_ssize_t had = 0;
    while (had < node->count && (values[had] = node_value(node->children[had], frame)) != NULL) had++;
    if (had == node->count) result = PyObject_Vectorcall(values[0], values + 1, (size_t)(had - 1), NULL);
    while (had > 0) Py_DECREF(values[--had]);
    return result;
}

static PyObject *combine(const Node *node, PyObject *left, PyObject *right)
{
    switch (node->kind) {
    case ITEM: return PyObject_GetItem(left, right);
    case COMPARE: return PyObject_RichCompare(left, right, node->comparison);
    case BINARY: return node->binary(left, right);
    case IS: return PyBool_FromLong(left == right);
    case CONTAINS: {
        int found = PySequence_Contains(right, left);
        return found < 0 ? NULL : PyBool_FromLong(found);
    }
    default: Py_UNREACHABLE();
    }
}

/* The value of `and` and `or`: the first operand that decides, else the last. */
static PyObject *first_deciding(const Node *node, PyFrameObject *frame)
{
    for (Py_ssize_t i = 0;; i++) {
        PyObject *value = node_value(node->children[i], frame);
        if (value == NULL || i == node->count - 1) return value;
        int truth = PyObject_IsTrue(value);
        if (truth == (node->kind == OR)) return value;
        Py_DECREF(value);
        if (truth < 0) return NULL;
    }
}

static PyObject *node_value(const Node *node, PyFrameObject *frame)
{
    switch (node->kind) {
    case LOCAL: return optional.frame_get_var(frame, node->object);
    case GLOBAL:
    case NAME: return read_name(node, frame);
    case CONSTANT: return Py_NewRef(node->object);
    case CALL: return call(node, frame);
    case AND:
    case OR: return first_deciding(node, frame);
    case CHOICE: {
        int truth = node_truth(node->children[0], frame);
        return truth < 0 ? NULL : node_value(node->children[truth ? 1 : 2], frame);
    }
    case NOT: {
        int truth = node_truth(node->children[0], frame);
        return truth < 0 ? NULL : PyBool_FromLong(!truth);
    }
    default: break;
    }
    PyObject *left = node_value(node->children[0], frame), *result = NULL;
    if (left == NULL) return NULL;
    if (node->kind == ATTRIBUTE) {
        result = PyObject_GetAttr(left, node->object);
    } else if (node->kind == UNARY) {
        result = node->unary(left);
    } else {
        PyObject *right = node_value(node->children[1], frame);
        if (right != NULL) result = combine(node, left, right);
        Py_XDECREF(right);
    }
    Py_DECREF(left);
    return result;
}

int node_truth(const Node *node, PyFrameObject *frame)
{
    if (node->kind == AND || node->kind == OR) {
        int truth = 0;
        for (Py_ssize_t i = 0; i < node->count; i++) {
            truth = node_truth(node->children[i], frame);
            if (truth < 0 || truth == (node->kind == OR)) break;
        }
        return truth;
    }
    if (node->kind == NOT) {
        int truth = node_truth(node->children[0], frame);
        return truth < 0 ? truth : !truth;
    }
    PyObject *value = node_value(node, frame);
    if (value == NULL) return -1;
    int truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    return truth;
}
