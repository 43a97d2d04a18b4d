/* The garbage collector, which must run in replay when it did in live: it runs finalizers of the program.

   When it runs, depends on how many objects were made. Code of the debugger makes objects, and so does code of the
   program that is instrumented in another way. So the debugger's are not counted, and each collection of the live
   program is recorded: its clock, and the counts at the beginning of that line. In replay nothing is collected at other
   lines; at that line the counts are made the same, and if no collection came of that, it is done at its end.

   CPython 3.12 to 3.15 have a threshold and a count for each generation, one after the other in the interpreter's state.
   Where that is, is found out by thresholds that nothing else has. */

#include "time_travel.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_SIZE 65536
#define DISTANCE 24 /* between generations: two pointers and two numbers */
#define ROOM ((size_t)1 << 32)
#define CHUNK ((size_t)1 << 20)
#define NEVER (-(1 << 30)) /* a count from which no threshold is reached */

typedef struct {
    uint64_t when; /* the clock; in a recording, the place of the note after the one before it */
    int counts[3], generation;
} Collection;

static const int SIGNS[] = {1000003, 20011, 30011};
#define GENERATIONS LENGTH(SIGNS)

static int *counts[GENERATIONS]; /* NULL where they were not found */
static int no_count;
const int *young_count = &no_count; /* the youngest generation's */
int young_at_tick;                 /* when this line began; the other counts change only by collections */
PyObject *call_tracing;
static PyObject *set_threshold, *collect, *visible;
static Collection *collections; /* shared with the copies */
static size_t collections_room, place;
static int collections_file = -1;

/* In the thread that collects: its state, and the frame in which the collection has begun; NULL if none has. A thread
   reads clocks also while it waits for the GIL, and may not ask for its state then. */
static __thread struct {
    const PyThreadState *thread;
    const void *frame;
} collecting __attribute__((tls_model("initial-exec")));

static PyObject *set_to(const int *thresholds)
{
    return PyObject_CallFunction(set_threshold, "iii", thresholds[0], thresholds[1], thresholds[2]);
}

static void find_counts(void)
{
    static unsigned char state[STATE_SIZE];
    const char *begin = (const char *)PyInterpreterState_Get();
    size_t size = read_safely(state, begin, sizeof state);
    int found[2];
    for (size_t i = 0; i + DISTANCE + sizeof found <= size; i += 4) {
        memcpy(&found[0], state + i, sizeof found[0]);
        memcpy(&found[1], state + i + DISTANCE, sizeof found[1]);
        if (found[0] != SIGNS[0] || found[1] != SIGNS[1]) continue;
        for (int k = 0; k < GENERATIONS; k++) counts[k] = (int *)(begin + i + (size_t)k * DISTANCE + sizeof(int));
        young_count = counts[0];
        return;
    }
}

static int make_room(void)
{
    if ((place + 1) * sizeof *collections <= collections_room) return 0;
    if (collections_room + CHUNK > ROOM || ftruncate(collections_file, (off_t)(collections_room + CHUNK)) < 0) return -1;
    collections_room += CHUNK;
    return 0;
}

static int map_collections(int file)
{
    if (file < 0) return -1;
    collections = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (collections == MAP_FAILED) return -1;
    collections_file = out_of_the_way(file);
    return 0;
}

int record_collections(const char *path)
{
    return map_collections(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 ? -1 : make_room();
}

uint64_t count_collections(void) { return place; }

int record_collections_of_fork(const char *path)
{
    const Collection *before = collections;
    size_t size = place * sizeof *collections;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || pwrite(file, before, size, 0) != (ssize_t)size) return -1;
    munmap(collections, ROOM);
    close(collections_file);
    collections_room = size;
    return map_collections(file) < 0 ? -1 : make_room();
}

int read_collections(const char *path) { return map_collections(open(path, O_RDWR | O_CLOEXEC)); }

static int make_collections(void)
{
    if (is_recorded) return 0; /* there are such */
    return map_collections(memfd_create("dapkit-collections", MFD_CLOEXEC)) < 0 ? -1 : make_room();
}

/* A collection that the program asks for needs no note: it does so in replay as well. The function that `gc.collect` calls
   is replaced inside the interpreter, so that the program sees no difference. */
static int is_asked_for;
static _PyCFunctionFastWithKeywords real_collect;

static PyObject *hook_collect(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    int before = is_asked_for;
    is_asked_for = 1;
    PyObject *result = real_collect(module, args, count, names);
    is_asked_for = before;
    return result;
}

static void watch_collect(PyObject *function)
{
    PyMethodDef *method = *(PyMethodDef **)((char *)function + sizeof(PyObject));
    int is_as_expected = (void *)method->ml_meth == (void *)PyCFunction_GetFunction(function) &&
                         PyCFunction_GetFlags(function) == (METH_FASTCALL | METH_KEYWORDS);
    if (!is_as_expected) return;
    real_collect = (_PyCFunctionFastWithKeywords)(void (*)(void))method->ml_meth;
    method->ml_meth = (PyCFunction)(void (*)(void))hook_collect;
}

static uint64_t now_is(void) { return is_recorded ? log_place : ticks; }

static const Collection *next_collection(void)
{
    return place < log_head->collections ? &collections[place] : NULL;
}

static void begin_collection(int generation)
{
    if (is_asked_for) return;
    if (mode == LIVE && make_room() == 0) {
        collections[place] = (Collection){now_is(), {young_at_tick, *counts[1], *counts[2]}, generation};
        log_head->collections = ++place;
    }
    else if (mode == REPLAY && next_collection() != NULL && next_collection()->when == now_is())
        place++;
}

static void end_collection(void)
{
    const Collection *next = next_collection();
    if (mode == REPLAY && (next == NULL || next->when != now_is())) *counts[0] = NEVER;
}

/* In the list of the interpreter, in place of the object that the program sees in `gc.callbacks`. */
static PyObject *on_collection(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *phase, *info;
    if (!PyArg_ParseTuple(args, "OO", &phase, &info)) return NULL;
    int begins = PyUnicode_CompareWithASCIIString(phase, "start") == 0;
    if (!begins) collecting.frame = NULL;
    if (begins && counts[0] != NULL) {
        PyObject *generation = PyDict_GetItemString(info, "generation"); /* borrowed */
        begin_collection(generation == NULL ? 0 : (int)PyLong_AsLong(generation));
    }
    for (Py_ssize_t i = 0; i < PyList_Size(visible); i++) {
        PyObject *callback = Py_NewRef(PyList_GetItem(visible, i)), *result = PyObject_CallObject(callback, args);
        if (result == NULL) PyErr_WriteUnraisable(callback);
        Py_XDECREF(result);
        Py_DECREF(callback);
    }
    if (!begins && counts[0] != NULL) end_collection();
    if (begins) {
        collecting.thread = PyThreadState_Get();
        collecting.frame = frame_of_thread(collecting.thread);
    }
    Py_RETURN_NONE;
}

/* From 3.15 on the interpreter reads a clock at the beginning and the end of each collection. The program has not
   called it: its finalizers have frames of their own. */
int is_time_of_collection(void)
{
    return collecting.frame != NULL && frame_of_thread(collecting.thread) == collecting.frame;
}

static PyMethodDef on_collection_method = {"on_collection", on_collection, METH_VARARGS, NULL};

static int take_callbacks(PyObject *module)
{
    PyObject *list = PyObject_GetAttrString(module, "callbacks");
    visible = list == NULL ? NULL : PyList_GetSlice(list, 0, PyList_Size(list));
    PyObject *ours = PyCFunction_New(&on_collection_method, NULL);
    int failed = visible == NULL || ours == NULL || PyObject_SetAttrString(module, "callbacks", visible) < 0 ||
                 PyList_SetSlice(list, 0, PyList_Size(list), NULL) < 0 || PyList_Append(list, ours) < 0;
    Py_XDECREF(ours);
    Py_XDECREF(list);
    return failed ? -1 : 0;
}

int find_collector(void)
{
    PyObject *module = PyImport_ImportModule("gc");
    PyObject *before = module == NULL ? NULL : PyObject_CallMethod(module, "get_threshold", NULL);
    set_threshold = module == NULL ? NULL : PyObject_GetAttrString(module, "set_threshold");
    collect = module == NULL ? NULL : PyObject_GetAttrString(module, "collect");
    call_tracing = Py_XNewRef(PySys_GetObject("call_tracing"));
    int thresholds[3], failed = before == NULL || set_threshold == NULL || collect == NULL || call_tracing == NULL ||
                                !PyArg_ParseTuple(before, "iii", &thresholds[0], &thresholds[1], &thresholds[2]);
    Py_XDECREF(before);
    if (!failed) {
        int was_enabled = PyGC_Disable();
        PyObject *set = set_to(SIGNS);
        if (set != NULL) find_counts();
        Py_XDECREF(set);
        set = set == NULL ? NULL : set_to(thresholds);
        failed = set == NULL;
        Py_XDECREF(set);
        if (was_enabled) PyGC_Enable();
    }
    if (!failed) watch_collect(collect);
    if (!failed && counts[0] != NULL)
        failed = make_collections() < 0 ? (PyErr_SetFromErrno(PyExc_OSError), 1) : take_callbacks(module) < 0;
    Py_XDECREF(module);
    return failed ? -1 : 0;
}

Counters hold_counters(void)
{
    Counters held = {.was_enabled = PyGC_Disable()};
    for (int i = 0; i < GENERATIONS; i++)
        if (counts[i] != NULL) held.counts[i] = *counts[i];
    return held;
}

void release_counters(const Counters *held)
{
    for (int i = 0; i < GENERATIONS; i++)
        if (counts[i] != NULL) *counts[i] = held->counts[i];
    if (held->was_enabled) PyGC_Enable();
}

void forget_later_collections(void)
{
    struct stat found;
    if (fstat(collections_file, &found) == 0) collections_room = (size_t)found.st_size;
    log_head->collections = place;
}

/* The live program's count of that time is not known. */
void count_as_live(void)
{
    for (int i = 0; i < GENERATIONS; i++)
        if (counts[i] != NULL && *counts[i] < 0) *counts[i] = 0;
}

static int collect_now(int which)
{
    *counts[0] = NEVER;
    PyObject *generation = PyLong_FromLong(which), *args = PyTuple_Pack(1, generation);
    PyObject *given[] = {collect, args};
    PyObject *result = args == NULL ? NULL : PyObject_Vectorcall(call_tracing, given, 2, NULL);
    Py_XDECREF(generation);
    Py_XDECREF(args);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* In replay, before a line is counted: collections that the live program had made by then are made. */
int collect_due(void)
{
    if (counts[0] == NULL) return 0;
    const Collection *due;
    while ((due = next_collection()) != NULL && due->when == ticks) {
        place++;
        if (collect_now(due->generation) < 0) return -1;
    }
    return 0;
}

/* The same in a recording, before the next note is taken: objects that the interpreter had kept for later were others than in
   the recorded program, and so fewer were counted. Its callbacks and finalizers may have notes of their own. */
void collect_due_before_note(void)
{
    const Collection *due = counts[0] == NULL ? NULL : next_collection();
    if (due == NULL || due->when != log_place) return;
    int error = errno;
    place++; /* first: to take the lock is a call, too */
    PyGILState_STATE state = PyGILState_Ensure(); /* the call may have released the lock of the interpreter */
    PyObject *raised = PyErr_GetRaisedException();
    if (collect_now(due->generation) < 0) PyErr_Clear();
    PyErr_SetRaisedException(raised);
    PyGILState_Release(state);
    errno = error;
}

/* In replay, when a line begins: have the collector run in it if it did in live, and only then. If the count was too high
   before that line, the interpreter was about to collect: it is, too, when something has been made with such a count. */
int aim_collector(void)
{
    if (counts[0] == NULL) return 0;
    const Collection *next = next_collection();
    if (next == NULL || next->when != ticks) {
        if (*counts[0] >= 0) *counts[0] = NEVER;
        return 0;
    }
    for (int i = 0; i < GENERATIONS; i++) *counts[i] = next->counts[i];
    const int *threshold = counts[0] - 1;
    if (*counts[0] <= *threshold) return 0;
    PyObject *made = PySet_New(NULL); /* the interpreter keeps none of them for later */
    Py_XDECREF(made);
    return made == NULL ? -1 : 0;
}

/* The same in a recording, after each note. */
void aim_collector_at_note(void)
{
    if (counts[0] == NULL) return;
    const Collection *next;
    while ((next = next_collection()) != NULL && next->when < log_place) place++;
    if (next == NULL || next->when != log_place) {
        if (*counts[0] >= 0) *counts[0] = NEVER;
        return;
    }
    for (int i = 0; i < GENERATIONS; i++) *counts[i] = next->counts[i];
    const int *threshold = counts[0] - 1;
    if (*counts[0] > *threshold) *counts[0] = *threshold; /* the next allocation is one too many */
}
