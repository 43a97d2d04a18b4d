/* Conditions: trees of names, constants and operations, evaluated on a frame as Python would.

   A tree never changes once it is made. Evaluating one may run any Python code (`__eq__`, `__bool__`, calls),
   and so switch threads; the caller holds a reference to the owner of the tree. */

#include "native.h"

enum { MAX_DEPTH = 40, MAX_CHILDREN = 8 };

struct Node {
    PyObject *(*value)(const Node *, PyFrameObject *);
    int (*truth)(const Node *, PyFrameObject *); /* -1 with an exception set */
    PyObject *object;                            /* the name or the constant */
    union {
        int comparison; /* Py_LT ... Py_GE */
        binaryfunc binary;
        unaryfunc unary;
    };
    PyObject *code;   /* of a local variable that is not a cell, and of a comparison of one with `number`; else NULL */
    Py_ssize_t index; /* of such a variable */
    long number;
    Py_ssize_t count;
    Node **children;
};

int node_truth(const Node *node, PyFrameObject *frame) { return node->truth(node, frame); }

static PyObject *value_of(const Node *node, PyFrameObject *frame) { return node->value(node, frame); }
static int truth_of(const Node *node, PyFrameObject *frame) { return node->truth(node, frame); }

/* Reading names */

/* Look a name up in a namespace of the frame. NULL without an exception: it is not there. */
static PyObject *look_up(PyObject *(*namespace_of)(PyFrameObject *), PyFrameObject *frame, PyObject *name)
{
    PyObject *namespace = namespace_of(frame);
    if (namespace == NULL) return NULL;
    PyObject *value = NULL;
    if (PyDict_CheckExact(namespace))
        value = dict_item(namespace, name);
    else /* of a metaclass, or given to exec: the names in it may be anything */
        PyErr_SetString(PyExc_TypeError, "a namespace that is not a dict");
    Py_DECREF(namespace);
    if (value != NULL && lazy_import_type != NULL && (PyObject *)Py_TYPE(value) == lazy_import_type) {
        Py_CLEAR(value); /* CPython 3.15 imports the module where code reads the name, which is not done here */
        PyErr_SetString(PyExc_TypeError, "a lazy import");
    }
    return value;
}

static PyObject *global_value(const Node *node, PyFrameObject *frame)
{
    PyObject *value = look_up(optional.frame_get_globals, frame, node->object);
    if (value == NULL && !PyErr_Occurred()) value = look_up(optional.frame_get_builtins, frame, node->object);
    if (value == NULL && !PyErr_Occurred()) PyErr_SetObject(PyExc_NameError, node->object);
    return value;
}

static PyObject *name_value(const Node *node, PyFrameObject *frame)
{
    PyObject *value = look_up(optional.frame_get_locals, frame, node->object);
    return value != NULL || PyErr_Occurred() ? value : global_value(node, frame);
}

/* Evaluating: each kind defines its value or its truth, or both; one follows from the other. */

/* Drop an object, and say whether it is true; -1 for NULL. */
static int truth_of_object(PyObject *value)
{
    if (value == Py_True) return 1; /* it is immortal, as is False */
    if (value == Py_False) return 0;
    if (value == NULL) return -1;
    int truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    return truth;
}

static int truth_by_value(const Node *node, PyFrameObject *frame)
{
    return truth_of_object(value_of(node, frame));
}

static PyObject *value_by_truth(const Node *node, PyFrameObject *frame)
{
    int truth = truth_of(node, frame);
    return truth < 0 ? NULL : PyBool_FromLong(truth);
}

static PyObject *local_value(const Node *node, PyFrameObject *frame)
{
    PyObject *value = node->code == NULL ? NULL : local_at(frame, node->code, node->index);
    return value != NULL ? Py_NewRef(value) : optional.frame_get_var(frame, node->object);
}

static PyObject *constant_value(const Node *node, PyFrameObject *Py_UNUSED(frame)) { return Py_NewRef(node->object); }

static PyObject *attribute_value(const Node *node, PyFrameObject *frame)
{
    PyObject *owner = value_of(node->children[0], frame);
    if (owner == NULL) return NULL;
    PyObject *value = PyObject_GetAttr(owner, node->object);
    Py_DECREF(owner);
    return value;
}

static PyObject *unary_value(const Node *node, PyFrameObject *frame)
{
    PyObject *operand = value_of(node->children[0], frame);
    if (operand == NULL) return NULL;
    PyObject *value = node->unary(operand);
    Py_DECREF(operand);
    return value;
}

/* A pair of operands, evaluated left first. The right one, if it is a constant, is borrowed from the tree. */
typedef struct {
    PyObject *left, *right;
    int right_is_ours;
} Operands;

static int take_operands(const Node *node, PyFrameObject *frame, Operands *pair)
{
    const Node *right = node->children[1];
    if ((pair->left = value_of(node->children[0], frame)) == NULL) return -1;
    pair->right_is_ours = right->value != constant_value;
    pair->right = pair->right_is_ours ? value_of(right, frame) : right->object;
    if (pair->right != NULL) return 0;
    Py_DECREF(pair->left);
    return -1;
}

static void drop_operands(Operands *pair)
{
    Py_DECREF(pair->left);
    if (pair->right_is_ours) Py_DECREF(pair->right);
}

static PyObject *binary_value(const Node *node, PyFrameObject *frame)
{
    Operands pair;
    if (take_operands(node, frame, &pair) < 0) return NULL;
    PyObject *value = node->binary(pair.left, pair.right);
    drop_operands(&pair);
    return value;
}

static PyObject *compare_value(const Node *node, PyFrameObject *frame)
{
    Operands pair;
    if (take_operands(node, frame, &pair) < 0) return NULL;
    /* PyObject_RichCompareBool would hold a NaN for equal to itself */
    PyObject *value = PyObject_RichCompare(pair.left, pair.right, node->comparison);
    drop_operands(&pair);
    return value;
}

/* Most conditions compare a variable with a number: as long as that holds an int, no code can run. */
static int compare_truth(const Node *node, PyFrameObject *frame)
{
    PyObject *left = node->code == NULL ? NULL : local_at(frame, node->code, node->index);
    int overflow = left == NULL || !Py_IS_TYPE(left, &PyLong_Type);
    long number = overflow ? 0 : PyLong_AsLongAndOverflow(left, &overflow);
    return overflow ? truth_of_object(compare_value(node, frame)) : numbers_compare(number, node->comparison, node->number);
}

static int is_truth(const Node *node, PyFrameObject *frame)
{
    Operands pair;
    if (take_operands(node, frame, &pair) < 0) return -1;
    int truth = pair.left == pair.right;
    drop_operands(&pair);
    return truth;
}

static int contains_truth(const Node *node, PyFrameObject *frame)
{
    Operands pair; /* the element, then the container */
    if (take_operands(node, frame, &pair) < 0) return -1;
    int truth = PySequence_Contains(pair.right, pair.left);
    drop_operands(&pair);
    return truth;
}

static PyObject *call_value(const Node *node, PyFrameObject *frame)
{
    PyObject *values[MAX_CHILDREN], *result = NULL;
    Py_ssize_t had = 0;
    while (had < node->count && (values[had] = value_of(node->children[had], frame)) != NULL) had++;
    if (had == node->count) result = PyObject_Vectorcall(values[0], values + 1, (size_t)(had - 1), NULL);
    while (had > 0) Py_DECREF(values[--had]);
    return result;
}

static int not_truth(const Node *node, PyFrameObject *frame)
{
    int truth = truth_of(node->children[0], frame);
    return truth < 0 ? truth : !truth;
}

/* `and` and `or`: the first operand whose truth is `deciding`, else the last. */
static int first_truth(const Node *node, PyFrameObject *frame, int deciding)
{
    int truth = !deciding;
    for (Py_ssize_t i = 0; i < node->count && truth == !deciding; i++) truth = truth_of(node->children[i], frame);
    return truth;
}

static PyObject *first_value(const Node *node, PyFrameObject *frame, int deciding)
{
    for (Py_ssize_t i = 0;; i++) {
        PyObject *value = value_of(node->children[i], frame);
        if (value == NULL || i == node->count - 1) return value;
        int truth = PyObject_IsTrue(value);
        if (truth == deciding) return value;
        Py_DECREF(value);
        if (truth < 0) return NULL;
    }
}

static int and_truth(const Node *node, PyFrameObject *frame) { return first_truth(node, frame, 0); }
static int or_truth(const Node *node, PyFrameObject *frame) { return first_truth(node, frame, 1); }
static PyObject *and_value(const Node *node, PyFrameObject *frame) { return first_value(node, frame, 0); }
static PyObject *or_value(const Node *node, PyFrameObject *frame) { return first_value(node, frame, 1); }

static PyObject *choice_value(const Node *node, PyFrameObject *frame)
{
    int truth = truth_of(node->children[0], frame);
    return truth < 0 ? NULL : value_of(node->children[truth ? 1 : 2], frame);
}

/* Making trees */

typedef enum { NOTHING, TEXT, ANYTHING, COMPARISON_SIGN, BINARY_SIGN, UNARY_SIGN } Operand;

typedef struct {
    const char *name;
    Operand operand;
    Py_ssize_t least, most; /* children */
    PyObject *(*value)(const Node *, PyFrameObject *);
    int (*truth)(const Node *, PyFrameObject *);
} Kind;

static const Kind KINDS[] = {
    {"local", TEXT, 0, 0, local_value, truth_by_value},
    {"global", TEXT, 0, 0, global_value, truth_by_value},
    {"name", TEXT, 0, 0, name_value, truth_by_value},
    {"constant", ANYTHING, 0, 0, constant_value, truth_by_value},
    {"attribute", TEXT, 1, 1, attribute_value, truth_by_value},
    {"call", NOTHING, 1, MAX_CHILDREN, call_value, truth_by_value},
    {"compare", COMPARISON_SIGN, 2, 2, compare_value, compare_truth},
    {"contains", NOTHING, 2, 2, value_by_truth, contains_truth},
    {"is", NOTHING, 2, 2, value_by_truth, is_truth},
    {"binary", BINARY_SIGN, 2, 2, binary_value, truth_by_value},
    {"unary", UNARY_SIGN, 1, 1, unary_value, truth_by_value},
    {"not", NOTHING, 1, 1, value_by_truth, not_truth},
    {"and", NOTHING, 2, MAX_CHILDREN, and_value, and_truth},
    {"or", NOTHING, 2, MAX_CHILDREN, or_value, or_truth},
    {"choice", NOTHING, 3, 3, choice_value, truth_by_value}, /* the test, the value if it is true, the value if not */
};

static const struct { const char *sign; int comparison; } COMPARISONS[] = {
    {"<", Py_LT}, {"<=", Py_LE}, {"==", Py_EQ}, {"!=", Py_NE}, {">", Py_GT}, {">=", Py_GE},
};

static const struct { const char *sign; binaryfunc function; } BINARIES[] = {
    {"+", PyNumber_Add}, {"-", PyNumber_Subtract}, {"*", PyNumber_Multiply}, {"/", PyNumber_TrueDivide},
    {"//", PyNumber_FloorDivide}, {"%", PyNumber_Remainder}, {"&", PyNumber_And}, {"|", PyNumber_Or},
    {"^", PyNumber_Xor}, {"<<", PyNumber_Lshift}, {">>", PyNumber_Rshift}, {"@", PyNumber_MatrixMultiply},
    {"[]", PyObject_GetItem},
};

static const struct { const char *sign; unaryfunc function; } UNARIES[] = {
    {"-", PyNumber_Negative}, {"+", PyNumber_Positive}, {"~", PyNumber_Invert},
};

static int is_text(PyObject *object, const char *text)
{
    return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

static int take_operand(Node *node, const Kind *kind, PyObject *given)
{
    switch (kind->operand) {
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
        for (Py_ssize_t i = 0; i < LENGTH(COMPARISONS); i++)
            if (is_text(given, COMPARISONS[i].sign)) { node->comparison = COMPARISONS[i].comparison; return 0; }
        break;
    case BINARY_SIGN:
        for (Py_ssize_t i = 0; i < LENGTH(BINARIES); i++)
            if (is_text(given, BINARIES[i].sign)) { node->binary = BINARIES[i].function; return 0; }
        break;
    case UNARY_SIGN:
        for (Py_ssize_t i = 0; i < LENGTH(UNARIES); i++)
            if (is_text(given, UNARIES[i].sign)) { node->unary = UNARIES[i].function; return 0; }
        break;
    }
    PyErr_Format(PyExc_ValueError, "a node '%s' of a condition cannot have %R", kind->name, given);
    return -1;
}

static const Kind *kind_called(PyObject *name)
{
    for (Py_ssize_t i = 0; i < LENGTH(KINDS); i++)
        if (is_text(name, KINDS[i].name)) return &KINDS[i];
    PyErr_Format(PyExc_ValueError, "no node of a condition is called %R", name);
    return NULL;
}

/* Note where a local variable lies in frames of a code object, if it does not lie in a cell. */
static int take_place(Node *node, PyObject *code)
{
    PyObject *cells = PyObject_GetAttrString(code, "co_cellvars"), *names = PyObject_GetAttrString(code, "co_varnames");
    int is_cell = cells == NULL || names == NULL ? -1 : PySequence_Contains(cells, node->object);
    int is_variable = is_cell < 0 ? -1 : PySequence_Contains(names, node->object);
    if (is_variable > 0 && !is_cell) {
        node->code = code;
        node->index = PySequence_Index(names, node->object);
    }
    Py_XDECREF(cells);
    Py_XDECREF(names);
    return is_variable < 0 || node->index < 0 ? -1 : 0;
}

/* Note with which number a local variable is compared, if that is all. */
static void take_number(Node *node)
{
    const Node *left = node->children[0], *right = node->children[1];
    int overflow;
    if (left->code == NULL || right->value != constant_value || !Py_IS_TYPE(right->object, &PyLong_Type)) return;
    node->number = PyLong_AsLongAndOverflow(right->object, &overflow);
    node->code = overflow ? NULL : left->code;
    node->index = left->index;
}

static int take_children(Node *node, const Kind *kind, PyObject *tuple, PyObject *code, int depth)
{
    Py_ssize_t count = PyTuple_Size(tuple) - 2;
    if (count < kind->least || count > kind->most) {
        PyErr_Format(PyExc_ValueError, "a node '%s' of a condition cannot have %zd children", kind->name, count);
        return -1;
    }
    if (count == 0) return 0;
    node->children = PyMem_Calloc((size_t)count, sizeof(Node *));
    if (node->children == NULL) { PyErr_NoMemory(); return -1; }
    for (; node->count < count; node->count++) {
        Node *child = node_from_tuple(PyTuple_GetItem(tuple, node->count + 2), code, depth + 1);
        if (child == NULL) return -1;
        node->children[node->count] = child;
    }
    return 0;
}

Node *node_from_tuple(PyObject *tuple, PyObject *code, int depth)
{
    if (depth > MAX_DEPTH) {
        PyErr_Format(PyExc_ValueError, "a condition is nested deeper than %d", MAX_DEPTH);
        return NULL;
    }
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) < 2) {
        PyErr_Format(PyExc_ValueError, "a node of a condition is a tuple (kind, operand, *children), not %R", tuple);
        return NULL;
    }
    const Kind *kind = kind_called(PyTuple_GetItem(tuple, 0));
    if (kind == NULL) return NULL;
    Node *node = PyMem_Calloc(1, sizeof(Node));
    if (node == NULL) return (Node *)PyErr_NoMemory();
    node->value = kind->value;
    node->truth = kind->truth;
    if (take_operand(node, kind, PyTuple_GetItem(tuple, 1)) < 0 || take_children(node, kind, tuple, code, depth) < 0
        || (kind->value == local_value && take_place(node, code) < 0)) {
        node_free(node);
        return NULL;
    }
    if (node->value == compare_value) take_number(node);
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
