/* The last write to some dicts, lists, sets and slots, and to a variable of a call. A process that is executed from a
   checkpoint learns of writes to a dict from the interpreter, and compares the memory of the others at each line; so
   nothing of Python has to be called there. A variable is written to by some lines of its function.

   The containers are not kept alive: finalizers of the program are to run when they did. */

#include "time_travel.h"
#include <string.h>

#define MOST_WATCHED 16
#define MOST_ITEMS (1 << 17) /* of all lists; `write_watch.py` has no more of them watched */
#define MOST_ENTRIES 1024    /* of the table of a set; `write_watch.py` has no larger one watched */
#define MOST_LINES 256  /* that bind a variable */

/* Of the C API since CPython 3.12, but not of the limited one. */
enum { DICT_ADDED, DICT_MODIFIED, DICT_DELETED, DICT_CLONED, DICT_CLEARED, DICT_DEALLOCATED };
#pragma GCC visibility push(default)
extern int PyDict_AddWatcher(int (*)(int event, PyObject *dict, PyObject *key, PyObject *value));
extern int PyDict_Watch(int watcher, PyObject *dict);
extern int PyDict_Unwatch(int watcher, PyObject *dict);
#pragma GCC visibility pop

typedef struct {
    PyObject *dict; /* NULL: it has gone */
    PyObject *key;  /* NULL: any key */
    int is_link;    /* on the way to the value: other containers are to be watched where it changes */
} WatchedDict;

typedef struct {
    void *key;
    Py_hash_t hash;
} SetEntry;

/* This and `Set` are as CPython 3.12 to 3.15 have them; `write_watch.py` compares the sizes. */
typedef struct {
    PyObject head;
    Py_ssize_t size;
    PyObject **items;
    Py_ssize_t room;
} List;

typedef struct {
    PyObject head;
    Py_ssize_t fill, used, mask;
    SetEntry *table;
    Py_hash_t hash;
    Py_ssize_t finger; /* where the next item is taken: the order of the others is as it was */
    SetEntry first_table[8];
    PyObject *weak_references;
} Set;

/* The value in a slot. Within a line another number or text may come to lie where one was. */
typedef struct {
    PyObject *value;
    uint64_t body[2]; /* the first digits of a number, the length of a text */
} Slot;

/* A list, a set, or an object with a value in a slot, as a cell is, too. */
typedef struct {
    PyObject *object;
    Py_ssize_t offset; /* of a slot; 0 else */
    Py_ssize_t index;  /* of the item of a list; -1: all matter */
    union {
        Slot slot;
        PyObject *item;
        struct {
            Py_ssize_t size;
            PyObject **items; /* in `list_items` */
        } list;
        struct {
            Set self;
            SetEntry entries[MOST_ENTRIES];
        } set;
    } before;
} WatchedObject;

/* The object that the first container is in, or is. It may be made later, and another may come to lie where it was. */
static struct {
    uintptr_t address, type; /* 0: the first container is of a module */
    int is_there;
} root;

static struct {
    const void *frame, *code; /* NULL: no variable */
    long lines[MOST_LINES];
    Py_ssize_t line_count;
    int is_pending; /* such a line is the last that has begun in that frame */
} variable;

static WatchedDict dicts[MOST_WATCHED];
static WatchedObject objects[MOST_WATCHED];
static PyObject *list_items[MOST_ITEMS];
static Py_ssize_t list_item_count;
static int dict_count, object_count, watcher = -1, links_have_changed;
static uint64_t last_write;
static PyObject *watch_again;
int must_look_at_writes;

static int is_plain(PyObject *value)
{
    PyTypeObject *kind = Py_TYPE(value);
    return kind == &PyLong_Type || kind == &PyUnicode_Type || kind == &PyFloat_Type || kind == &PyBytes_Type ||
           kind == &PyBool_Type;
}

/* Said of plain values: no code of the program is executed. */
static int are_equal(PyObject *one, PyObject *other)
{
    PyObject *error = PyErr_GetRaisedException();
    int equal = PyObject_RichCompareBool(one, other, Py_EQ);
    PyErr_Clear();
    PyErr_SetRaisedException(error);
    return equal == 1;
}

static int are_same(PyObject *one, PyObject *other)
{
    if (one == NULL || other == NULL || one == other) return one == other;
    return Py_TYPE(one) == Py_TYPE(other) && is_plain(one) && are_equal(one, other);
}

/* Whether a write may change the value; where that is not known, it may. */
static int concerns(const WatchedDict *one, int event, PyObject *dict, PyObject *key, PyObject *value)
{
    if (one->dict != dict) return 0;
    if (event > DICT_DELETED || !is_plain(key)) return 1;
    if (one->key != NULL && !are_equal(one->key, key)) return 0;
    if (event != DICT_MODIFIED) return 1;
    PyObject *error = PyErr_GetRaisedException();
    PyObject *before = PyDict_GetItemWithError(dict, key);
    PyErr_SetRaisedException(error);
    return !are_same(before, value);
}

/* Called before the dict is changed. */
static int on_write(int event, PyObject *dict, PyObject *key, PyObject *value)
{
    for (int i = 0; i < dict_count; i++) {
        WatchedDict *one = &dicts[i];
        int is_written = inside && concerns(one, event, dict, key, value);
        if (one->dict == dict && event == DICT_DEALLOCATED) {
            one->dict = NULL;
            if (root.address != 0) links_have_changed = must_look_at_writes = 1; /* another root may follow */
        }
        if (!is_written) continue;
        last_write = ticks;
        if (one->is_link) links_have_changed = must_look_at_writes = 1;
    }
    return 0;
}

static Slot slot_of(const WatchedObject *one)
{
    Slot slot = {NULL, {0, 0}};
    memcpy(&slot.value, (char *)one->object + one->offset, sizeof slot.value);
    if (slot.value != NULL && is_plain(slot.value)) {
        int is_number = PyLong_Check(slot.value) || PyFloat_CheckExact(slot.value);
        memcpy(slot.body, (char *)slot.value + sizeof(PyObject), is_number ? sizeof slot.body : sizeof slot.body[0]);
    }
    return slot;
}

static int has_list_changed(const List *list, Py_ssize_t size, PyObject *const *items)
{
    return list->size != size || (size > 0 && memcmp(list->items, items, (size_t)size * sizeof *items) != 0);
}

/* How many entries of its table are compared, where that is not in the set itself. One that has grown has changed. */
static Py_ssize_t count_entries(const Set *set)
{
    return set->table == set->first_table || set->mask >= MOST_ENTRIES ? 0 : set->mask + 1;
}

static int has_set_changed(const Set *set, const Set *before, const SetEntry *entries)
{
    return set->fill != before->fill || set->used != before->used || set->mask != before->mask ||
           set->table != before->table ||
           memcmp(set->first_table, before->first_table, sizeof set->first_table) != 0 ||
           memcmp(set->table, entries, (size_t)count_entries(set) * sizeof *entries) != 0;
}

static PyObject *item_of(PyObject *list, Py_ssize_t index)
{
    return index < PyList_Size(list) ? PyList_GetItem(list, index) : NULL;
}

static int has_changed(const WatchedObject *one)
{
    if (one->index >= 0) return item_of(one->object, one->index) != one->before.item;
    if (one->offset != 0) {
        const Slot now = slot_of(one);
        return memcmp(&now, &one->before.slot, sizeof now) != 0;
    }
    if (PyList_CheckExact(one->object))
        return has_list_changed((const List *)one->object, one->before.list.size, one->before.list.items);
    return has_set_changed((const Set *)one->object, &one->before.set.self, one->before.set.entries);
}

/* Where a line begins: the one before has changed an object that is not as it was. An object that has gone was in a container
   that has changed, which is looked at first. */
static void look_at_objects(void)
{
    for (int i = 0; i < object_count && !links_have_changed; i++) {
        if (!has_changed(&objects[i])) continue;
        last_write = ticks - 1;
        links_have_changed = 1;
    }
}

/* Where a line begins: the one before has made the object, or ended it. */
static void look_at_root(void)
{
    if (root.address == 0 || is_object_at(root.address, root.type) == root.is_there) return;
    if (!root.is_there) last_write = ticks - 1; /* it may have been made with the value */
    root.is_there = !root.is_there;
    links_have_changed = watch_again != NULL;
}

void watch_births(uintptr_t place, uintptr_t type)
{
    root.address = place;
    root.type = type;
    root.is_there = place != 0 && is_object_at(place, type);
    must_look_at_writes = place != 0;
    last_write = 0; /* this copy may be one of a process that has watched */
}

static int binds(long line)
{
    for (Py_ssize_t i = 0; i < variable.line_count; i++)
        if (variable.lines[i] == line) return 1;
    return 0;
}

static void look_at_variable(PyObject *code, PyObject *line)
{
    if ((PyObject *)variable.code != code || current_frame() != variable.frame) return;
    if (variable.is_pending) last_write = ticks - 1;
    variable.is_pending = binds(PyLong_AsLong(line));
}

int look_at_writes(PyObject *code, PyObject *line)
{
    look_at_variable(code, line);
    look_at_root();
    look_at_objects();
    if (!links_have_changed) return 0;
    PyObject *done = call_in_engine_context(watch_again, NULL, 0, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static void forget_containers(void)
{
    for (int i = 0; i < dict_count; i++) {
        if (dicts[i].dict != NULL) PyDict_Unwatch(watcher, dicts[i].dict);
        Py_XDECREF(dicts[i].key);
    }
    dict_count = object_count = 0;
    list_item_count = 0;
}

static int watch_dict(PyObject *dict, PyObject *key, int is_link)
{
    if (PyDict_Watch(watcher, dict) < 0) return -1;
    dicts[dict_count++] = (WatchedDict){dict, key == Py_None ? NULL : Py_NewRef(key), is_link};
    return 0;
}

static void watch_object(PyObject *object, Py_ssize_t offset, Py_ssize_t index)
{
    WatchedObject *one = &objects[object_count++];
    one->object = object;
    one->offset = offset;
    one->index = index;
    if (index >= 0) {
        one->before.item = item_of(object, index);
    } else if (offset != 0) {
        one->before.slot = slot_of(one);
    } else if (PyList_CheckExact(object)) {
        const List *list = (const List *)object;
        one->before.list.size = list->size;
        one->before.list.items = list_items + list_item_count;
        if (list->size > 0) memcpy(one->before.list.items, list->items, (size_t)list->size * sizeof *list->items);
        list_item_count += list->size;
    } else {
        const Set *set = (const Set *)object;
        one->before.set.self = *set;
        memcpy(one->before.set.entries, set->table, (size_t)count_entries(set) * sizeof *set->table);
    }
}

static int watch_container(PyObject *described)
{
    PyObject *container, *key;
    int is_link;
    if (!PyArg_ParseTuple(described, "OOp", &container, &key, &is_link)) return -1;
    if (PyDict_Check(container)) return watch_dict(container, key, is_link);
    int is_list = PyList_CheckExact(container), has_offset = !is_list && !Py_IS_TYPE(container, &PySet_Type);
    Py_ssize_t number = key == Py_None ? -1 : PyLong_AsSsize_t(key);
    if (number < 0 && key != Py_None) return -1;
    if (is_list && number < 0 && PyList_Size(container) > MOST_ITEMS - list_item_count) {
        PyErr_SetString(PyExc_ValueError, "too many items to watch");
        return -1;
    }
    watch_object(container, has_offset ? number : 0, is_list ? number : -1);
    return 0;
}

typedef struct {
    PyObject head;
    PyTypeObject *type;
    PyObject *name, *qualified_name;
    PyMemberDef *member;
} MemberDescriptor;

/* Where an object has the value of a slot, for the descriptor in its class; -1 if it is another kind of member. */
static PyObject *slot_offset(PyObject *Py_UNUSED(module), PyObject *descriptor)
{
    const PyMemberDef *member = NULL;
    if (Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) member = ((MemberDescriptor *)descriptor)->member;
    int is_slot = member != NULL && member->type == Py_T_OBJECT_EX && member->offset > 0;
    return PyLong_FromSsize_t(is_slot ? member->offset : -1);
}

/* Watch these containers instead of those before, each with a key, an index or None, or with the offset of a slot, and
   whether it is a link; the first is in the object at an address, with its type at another, unless that is 0. */
static PyObject *watch_writes(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *containers, *again;
    unsigned long long address, type;
    if (!PyArg_ParseTuple(args, "O!OKK", &PyList_Type, &containers, &again, &address, &type)) return NULL;
    if (watcher < 0 && (watcher = PyDict_AddWatcher(on_write)) < 0) return NULL;
    Py_INCREF(again);
    Py_XDECREF(watch_again);
    watch_again = again;
    forget_containers();
    if (PyList_Size(containers) > MOST_WATCHED) {
        PyErr_SetString(PyExc_ValueError, "too many containers to watch");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(containers); i++)
        if (watch_container(PyList_GetItem(containers, i)) < 0) return NULL;
    root.address = (uintptr_t)address;
    root.type = (uintptr_t)type;
    root.is_there = root.address != 0 && is_object_at(root.address, root.type);
    links_have_changed = 0;
    must_look_at_writes = object_count > 0 || variable.frame != NULL || (root.address != 0 && !root.is_there);
    Py_RETURN_NONE;
}

/* Watch the variable of a call that these lines of its code bind. */
static PyObject *watch_variable(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *lines;
    unsigned long long frame, code;
    if (!PyArg_ParseTuple(args, "KKO!", &frame, &code, &PyList_Type, &lines)) return NULL;
    if ((variable.line_count = PyList_Size(lines)) > MOST_LINES) {
        PyErr_SetString(PyExc_ValueError, "too many lines to watch");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < variable.line_count; i++) variable.lines[i] = PyLong_AsLong(PyList_GetItem(lines, i));
    variable.frame = (const void *)(uintptr_t)frame;
    variable.code = (const void *)(uintptr_t)code;
    must_look_at_writes = 1;
    if (PyErr_Occurred() || (!is_tracking && begin_tracking(NULL, NULL) < 0)) return NULL;
    Py_RETURN_NONE;
}

/* Whether the last line of that call that has begun is one of them. */
static PyObject *is_variable_pending(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyBool_FromLong(variable.is_pending);
}

/* The clock of the line that has changed one of them last, before the one that begins; 0 if no line has. */
static PyObject *clock_of_write(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    look_at_root();
    if (!links_have_changed) look_at_objects();
    return PyLong_FromUnsignedLongLong(last_write);
}

PyMethodDef write_methods[] = {
    {"watch_writes", watch_writes, METH_VARARGS, NULL},
    {"watch_variable", watch_variable, METH_VARARGS, NULL},
    {"slot_offset", slot_offset, METH_O, NULL},
    {"is_variable_pending", is_variable_pending, METH_NOARGS, NULL},
    {"last_write", clock_of_write, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
