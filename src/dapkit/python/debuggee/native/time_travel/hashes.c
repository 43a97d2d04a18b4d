/* Hashes that are numbers. The interpreter makes the hash of an object from its address if the class defines no hash, and
   so the order of a set of such objects, such as the threads of a pool, follows from addresses. When a recording is
   executed again, an object can have another address: the collector runs a moment earlier, or the interpreter makes an
   object for itself. So in the recorded program, and when it is executed again, such hashes are numbers instead, in the
   order in which the program first asks for them.

   If the debugger asks for a hash first, it gives a number from another range, so that the numbers of the program stay
   as they were. Objects from before the program keep the hash that they had: there are dicts that have them as keys. */

#include "time_travel.h"
#include <string.h>

#define WORDS_OF_TYPE 64
#define WORDS_OF_WRAPPER 10
#define FIRST_OF_DEBUGGER ((uint32_t)1 << 31)

static hashfunc usual_hash; /* of `object` */
static size_t hash_at;      /* where a type has it, in bytes */
static uint32_t last_number, last_of_debugger = FIRST_OF_DEBUGGER;

static Py_hash_t hash_object(PyObject *object)
{
    uint32_t *number = number_of_object(object);
    if (number == NULL) return usual_hash(object);
    if (*number == 0) *number = inside ? ++last_number : ++last_of_debugger;
    return (Py_hash_t)*number;
}

/* Where in an object the function is, in bytes; 0 if the object does not have it. */
static size_t place_in(PyObject *object, hashfunc function, size_t words)
{
    hashfunc found[WORDS_OF_TYPE];
    size_t count = read_safely(found, object, words * sizeof *found) / sizeof *found;
    for (size_t i = 0; i < count; i++)
        if (found[i] == function) return i * sizeof *found;
    return 0;
}

static int replace_in(PyObject *type)
{
    hashfunc *hash = (hashfunc *)((char *)type + hash_at);
    if (*hash == usual_hash) *hash = hash_object;
    PyObject *subclasses = PyObject_CallMethod((PyObject *)&PyType_Type, "__subclasses__", "O", type);
    Py_ssize_t count = subclasses == NULL ? -1 : PyList_Size(subclasses), i = 0;
    while (i < count && replace_in(PyList_GetItem(subclasses, i)) == 0) i++;
    Py_XDECREF(subclasses);
    return i == count ? 0 : -1;
}

/* Of the types that there are: those that come inherit it. `object.__hash__` has a place of its own. */
int number_hashes(void)
{
    PyObject *base = (PyObject *)&PyBaseObject_Type, *wrapper = PyObject_GetAttrString(base, "__hash__");
    usual_hash = (hashfunc)PyType_GetSlot(&PyBaseObject_Type, Py_tp_hash);
    hash_at = place_in(base, usual_hash, WORDS_OF_TYPE);
    size_t in_wrapper = wrapper == NULL ? 0 : place_in(wrapper, usual_hash, WORDS_OF_WRAPPER);
    Py_XDECREF(wrapper); /* the type keeps it */
    if (hash_at == 0 || in_wrapper == 0) return wrapper == NULL ? -1 : 0;
    *(hashfunc *)((char *)wrapper + in_wrapper) = hash_object;
    return replace_in(base);
}
