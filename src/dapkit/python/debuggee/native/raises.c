/* Callbacks of RAISE, RERAISE and PY_UNWIND that let pass exceptions of which it is known that something catches them.

   Python decides about an exception once (exceptions/handlers.py), and has each place noted here that it came to: for
   this type, at this instruction of this code, the frame catches it, or does not. From then on the way of an exception
   is followed here. Wherever something is not known, or no longer true, Python is asked again.

   A note holds on to nothing of the program but names and tuples of classes: code and types are referred to weakly.
   The notes are shared by all threads, under `lock_state`. A reference that is borrowed with a GIL, and held until
   `let_go` without a GIL, is called lent here. */

#include "native.h"
#include <stdlib.h>
#include <string.h>

enum { PASSES, CATCHES, ENDS, UNSURE, VERDICTS }; /* as in exceptions/catch_cache.py */
enum { THOROUGH, REPORTED };                      /* in Callback.refs */
enum { UNWINDING = -1, RAISING = -2 }; /* instead of an instruction: the outcome of unwinding into code, or of its RAISE */
enum { DEEP = 1, LOCAL = 2 };          /* in Callback.target: older frames decide too; RAISE is watched by code object */

/* The names in a handler must have their earlier meaning. All references are borrowed from `tuple`. */
typedef struct {
    int is_local, is_weak;                 /* is it a local variable, is `expected` a weak reference */
    PyObject *name, *attribute, *expected; /* the attribute of the module found there, or NULL */
} Guard;

typedef struct {
    PyObject *tuple;
    Py_ssize_t count;
    Guard guards[];
} Guards;

typedef struct {
    const void *code, *type;
    long offset;
    int verdict;
    int swallows;       /* C code called by this frame may swallow exceptions from below it */
    PyObject *code_ref, *type_ref;
    PyObject *guards; /* a capsule of Guards, NULL if it depends on no names */
} Place;

static struct {
    Place *slots;
    size_t size, used; /* the size is a power of 2, and at least twice the used number */
} places;

/* The exception of this thread that was decided about last, and the frame that will catch it. */
static _Thread_local struct { const void *exception, *frame; } caught;

/* Code of which RAISE is of use, the latest. Other code at its address keeps RAISE on for longer, which does no harm. */
static const void *last_watched;

static void let_go(PyObject *lent)
{
    if (FREE_THREADED) Py_XDECREF(lent);
}

static size_t slot_of(const void *code, long offset, const void *type, const Place *slots, size_t size)
{
    size_t at = (((size_t)code >> 4) * 31 + (size_t)offset) * 31 + ((size_t)type >> 4);
    for (at ^= at >> 15;; at++) {
        const Place *place = &slots[at & (size - 1)];
        if (place->code == NULL || (place->code == code && place->offset == offset && place->type == type))
            return at & (size - 1);
    }
}

#ifndef Py_GIL_DISABLED
/* Where a weak reference keeps its target: `find_fields` makes sure of that. To ask the interpreter
   takes a tenth of the time of a callback. */
static PyObject **referent_of(PyObject *reference) { return (PyObject **)((char *)reference + sizeof(PyObject)); }
#endif

static int is_referent(PyObject *reference, const void *object)
{
#ifdef Py_GIL_DISABLED
    PyObject *referent = NULL;
    if (optional.weakref_get_ref(reference, &referent) < 0) PyErr_Clear();
    Py_XDECREF(referent); /* the caller has `object`, if it is that */
    return referent == object;
#else
    return *referent_of(reference) == object;
#endif
}

/* No reference is needed to objects that live as long as the interpreter, such as a class that C defines. */
static int refers_to(PyObject *reference, const void *object) { return reference == NULL || is_referent(reference, object); }

static void empty(Place *place)
{
    Py_CLEAR(place->code_ref);
    Py_CLEAR(place->type_ref);
    Py_CLEAR(place->guards);
}

static const Place *hold(const Place *place, Place *copy)
{
    *copy = *place;
    Py_XINCREF(copy->code_ref);
    Py_XINCREF(copy->type_ref);
    Py_XINCREF(copy->guards);
    return copy;
}

static void drop(Place *copy)
{
    if (FREE_THREADED) empty(copy);
}

/* Return the note of a place, NULL if it has no note. With a GIL, it is valid until code of the program may run; without a
   GIL, it is the copy, until that is dropped. */
static const Place *find(const void *code, long offset, const void *type, Place *copy)
{
    const Place *place = NULL;
    lock_state();
    if (places.size > 0) place = &places.slots[slot_of(code, offset, type, places.slots, places.size)];
    if (place != NULL && place->code == NULL) place = NULL;
    if (FREE_THREADED && place != NULL) place = hold(place, copy);
    unlock_state();
    if (place == NULL || (refers_to(place->code_ref, code) && refers_to(place->type_ref, type))) return place;
    drop(copy);
    return NULL;
}

/* The outcome of RAISE, or of unwinding into it, for some code; VERDICTS if that is not noted. */
static int verdict_of(const void *code, long offset)
{
    Place copy;
    const Place *place = find(code, offset, NULL, &copy);
    if (place == NULL) return VERDICTS;
    int verdict = place->verdict;
    drop(&copy);
    return verdict;
}

static void free_guards(PyObject *capsule)
{
    Guards *guards = PyCapsule_GetPointer(capsule, NULL);
    Py_DECREF(guards->tuple);
    PyMem_Free(guards);
}

/* Read tuples (is_local, name, attribute or None, is_weak, expected) into a capsule, NULL if the list is empty. */
static int read_guards(PyObject *tuple, PyObject **capsule)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    *capsule = NULL;
    if (count == 0) return 0;
    Guards *guards = PyMem_Calloc(1, sizeof(Guards) + (size_t)count * sizeof(Guard));
    if (guards == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    guards->tuple = Py_NewRef(tuple);
    guards->count = count;
    *capsule = PyCapsule_New(guards, NULL, free_guards);
    int failed = *capsule == NULL;
    if (failed) {
        Py_DECREF(tuple);
        PyMem_Free(guards);
    }
    for (Py_ssize_t i = 0; !failed && i < count; i++) {
        Guard *guard = &guards->guards[i];
        failed = !PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "pUOpO", &guard->is_local, &guard->name, &guard->attribute,
                                   &guard->is_weak, &guard->expected);
        if (guard->attribute == Py_None) guard->attribute = NULL;
    }
    if (failed) Py_CLEAR(*capsule);
    return failed ? -1 : 0;
}

/* Make room for one more; -1 if there is no memory. It is not Python's: a tracer of that may wait for other threads. */
static int grow(void)
{
    if (places.size > 2 * places.used + 2) return 0;
    size_t size = places.size == 0 ? 64 : 2 * places.size;
    Place *slots = calloc(size, sizeof(Place));
    if (slots == NULL) return -1;
    for (size_t i = 0; i < places.size; i++) {
        const Place *place = &places.slots[i];
        if (place->code != NULL) slots[slot_of(place->code, place->offset, place->type, slots, size)] = *place;
    }
    free(places.slots);
    places.slots = slots;
    places.size = size;
    return 0;
}

static PyObject *note_place(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code, *type, *names, *guards;
    long offset;
    int verdict, swallows;
    if (!PyArg_ParseTuple(args, "OlOipO!:note_place", &code, &offset, &type, &verdict, &swallows, &PyTuple_Type, &names)
        || require_functions("PyFrame_") < 0 || require_functions("PyWeakref_") < 0)
        return NULL;
    if (verdict < 0 || verdict >= VERDICTS) return PyErr_Format(PyExc_ValueError, "there is no verdict %d", verdict);
    PyObject *code_ref = PyWeakref_NewRef(code, NULL);
    int is_made = PyType_Check(type) && PyType_HasFeature((PyTypeObject *)type, Py_TPFLAGS_HEAPTYPE);
    PyObject *type_ref = code_ref == NULL || !is_made ? NULL : PyWeakref_NewRef(type, NULL);
    if (code_ref == NULL || (is_made && type_ref == NULL) || read_guards(names, &guards) < 0) {
        Py_XDECREF(code_ref);
        Py_XDECREF(type_ref);
        return NULL;
    }
    const void *key = type == Py_None ? NULL : type;
    const Place fresh = {code, key, offset, verdict, swallows, code_ref, type_ref, guards};
    Place old = fresh; /* references to release, once the lock is free */
    size_t used = 0;
    lock_state();
    if (grow() == 0) {
        Place *place = &places.slots[slot_of(code, offset, key, places.slots, places.size)];
        if (place->code == NULL) places.used++;
        used = places.used;
        old = *place;
        *place = fresh;
    }
    unlock_state();
    empty(&old);
    return used == 0 ? PyErr_NoMemory() : PyLong_FromSize_t(used);
}

static PyObject *forget_places(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    lock_state();
    Place *slots = places.slots;
    size_t size = places.size;
    memset(&places, 0, sizeof places);
    unlock_state();
    __atomic_store_n(&last_watched, NULL, __ATOMIC_RELAXED);
    caught.exception = NULL; /* in this thread; in others it is of use until the next RAISE */
    for (size_t i = 0; i < size; i++) empty(&slots[i]);
    free(slots);
    Py_RETURN_NONE;
}

/* Lent; a key of a class of the program may raise an exception when it is compared. */
static PyObject *entry_of(PyObject *dict, PyObject *name)
{
    if (!PyDict_Check(dict)) return NULL;
#ifdef Py_GIL_DISABLED
    return dict_item(dict, name);
#else
    return PyDict_GetItemWithError(dict, name);
#endif
}

static int is_same(const Guard *guard, PyObject *value)
{
    return guard->is_weak ? is_referent(guard->expected, value) : value == guard->expected;
}

static int is_expected(const Guard *guard, PyObject *value)
{
    if (value == NULL) return 0;
    if (guard->attribute == NULL) return is_same(guard, value);
    if (!PyObject_TypeCheck(value, &PyModule_Type)) return 0;
    Py_INCREF(value);
    PyObject *entry = entry_of(PyModule_GetDict(value), guard->attribute);
    Py_DECREF(value);
    int is_it = entry != NULL && is_same(guard, entry);
    let_go(entry);
    return is_it;
}

static int guard_holds(PyFrameObject *frame, const Guard *guard)
{
    PyObject *(*const GLOBALS[])(PyFrameObject *) = {optional.frame_get_globals, optional.frame_get_builtins};
    int holds = 0;
    if (guard->is_local) {
        PyObject *value = optional.frame_get_var(frame, guard->name);
        holds = is_expected(guard, value);
        Py_XDECREF(value);
        return holds;
    }
    for (int i = 0, looks = 1; looks && i < LENGTH(GLOBALS); i++) {
        PyObject *names = GLOBALS[i](frame), *value = entry_of(names, guard->name);
        looks = value == NULL && !PyErr_Occurred();
        holds = is_expected(guard, value);
        let_go(value);
        Py_DECREF(names);
    }
    return holds;
}

static int guards_hold(PyFrameObject *frame, PyObject *capsule)
{
    const Guards *guards = PyCapsule_GetPointer(capsule, NULL);
    int hold = 1;
    Py_INCREF(capsule); /* to look a name up may run code of the program, which may empty the table */
    for (Py_ssize_t i = 0; hold && i < guards->count; i++) hold = guard_holds(frame, &guards->guards[i]);
    Py_DECREF(capsule);
    if (!hold) PyErr_Clear();
    return hold;
}

/* Say whether it is known that something catches an exception that this frame is about to be left by. If not, `unknown`
   is the frame from which on that is not known, a new reference, where it is asked for. */
static int is_caught(PyFrameObject *frame, PyObject *code, long offset, PyObject *exception, int deep, PyObject **unknown)
{
    PyFrameObject *held = NULL;
    PyObject *held_code = NULL;
    int found = 0;
    for (int newest = 1;; newest = 0) {
        Place copy;
        const Place *place = find(code, offset, Py_TYPE(exception), &copy);
        if (place == NULL) break;
        int is_open = place->verdict == ENDS || place->verdict == UNSURE;
        found = !is_open && (place->verdict == CATCHES || (place->swallows && !newest));
        if (!is_open && place->guards != NULL && !guards_hold(frame, place->guards)) found = deep = 0;
        drop(&copy);
        if (is_open) break;
        if (found) {
            caught.exception = exception;
            caught.frame = frame;
        }
        if (found || !deep) break;
        PyFrameObject *back = optional.frame_get_back(frame);
        if (back == NULL) break;
        Py_XDECREF((PyObject *)held);
        frame = held = back;
        Py_XDECREF(held_code);
        code = held_code = (PyObject *)PyFrame_GetCode(frame);
        offset = optional.frame_get_lasti(frame);
    }
    if (unknown != NULL) *unknown = found ? NULL : Py_NewRef((PyObject *)frame);
    Py_XDECREF(held_code);
    Py_XDECREF((PyObject *)held);
    return found;
}

static PyObject *unknown_from(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *frame, *exception;
    long offset;
    if (!PyArg_ParseTuple(args, "OlO:unknown_from", &frame, &offset, &exception) || require_functions("PyFrame_") < 0)
        return NULL;
    PyObject *caller = (PyObject *)PyEval_GetFrame(); /* the stable ABI has no name for its type */
    if (caller == NULL || !Py_IS_TYPE(frame, Py_TYPE(caller)))
        return PyErr_Format(PyExc_TypeError, "unknown_from takes a frame, not %R", frame);
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *unknown;
    int found = is_caught((PyFrameObject *)frame, code, offset, exception, 1, &unknown);
    Py_DECREF(code);
    return found ? Py_NewRef(Py_None) : unknown;
}

static PyObject *note_caught(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "note_caught takes an exception and a frame");
        return NULL;
    }
    caught.exception = args[0];
    caught.frame = args[1];
    Py_RETURN_NONE;
}

enum { FRESH, PASSING, AGAIN };

#ifdef Py_GIL_DISABLED

static PyObject *next_at, *frame_at; /* tb_next, tb_frame */

/* Lent; None counts as no traceback. Other threads may set tb_next, so it is left to the interpreter to read it. */
static PyObject *field_of(PyObject *traceback, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(traceback, name);
    if (value == NULL) PyErr_Clear();
    if (value == Py_None) Py_CLEAR(value);
    return value;
}

int prepare_raises(void)
{
    next_at = PyUnicode_InternFromString("tb_next");
    frame_at = PyUnicode_InternFromString("tb_frame");
    return next_at == NULL || frame_at == NULL ? -1 : 0;
}

static int find_fields(void) { return 0; }

#else

static Py_ssize_t next_at, frame_at; /* where a traceback has tb_next and tb_frame */

/* Lent by the traceback; None counts as no traceback. */
static PyObject *field_of(PyObject *traceback, Py_ssize_t at)
{
    PyObject *value = *(PyObject **)((char *)traceback + at);
    return value == Py_None ? NULL : value;
}

int prepare_raises(void) { return 0; }

static int has_known_referent(PyObject *object)
{
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    int is_known = reference != NULL && *referent_of(reference) == object;
    Py_XDECREF(reference);
    return is_known;
}

/* To read an attribute of a traceback takes as long as all the rest. So look where it keeps tb_next and tb_frame. */
static int find_fields(void)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *type = (PyObject *)&PyTraceBack_Type;
    if (next_at > 0) return 0;
    if (frame == NULL || !has_known_referent(type)) return -1;
    PyObject *last = PyObject_CallFunction(type, "OOii", Py_None, frame, 0, 1);
    PyObject *first = last == NULL ? NULL : PyObject_CallFunction(type, "OOii", last, frame, 0, 1);
    PyObject *size = first == NULL ? NULL : PyObject_GetAttrString(type, "__basicsize__");
    Py_ssize_t end = size == NULL ? 0 : PyLong_AsSsize_t(size), next_place = 0, frame_place = 0, places_seen = 0;
    for (Py_ssize_t at = (Py_ssize_t)sizeof(PyObject); at + (Py_ssize_t)sizeof(PyObject *) <= end;
         at += (Py_ssize_t)sizeof(PyObject *)) {
        PyObject *value = *(PyObject **)((char *)first + at);
        if (value == last) next_place = at, places_seen++;
        if (value == frame) frame_place = at, places_seen++;
    }
    Py_XDECREF(size);
    Py_XDECREF(first);
    Py_XDECREF(last);
    if (PyErr_Occurred() || places_seen != 2 || next_place == 0 || frame_place == 0) return -1;
    next_at = next_place;
    frame_at = frame_place;
    return 0;
}

#endif

/* Say whether an exception is new, comes from a call that this frame made, or has been raised before. */
static int origin_of(PyObject *exception, PyFrameObject *frame)
{
    PyObject *traceback = PyException_GetTraceback(exception);
    if (traceback == NULL) return FRESH;
    int origin = AGAIN;
    PyObject *next = field_of(traceback, next_at), *inner = next == NULL ? NULL : field_of(next, frame_at);
    if (next == NULL) {
        origin = FRESH;
    } else if (inner != NULL && inner != (PyObject *)frame) {
        PyFrameObject *back = optional.frame_get_back((PyFrameObject *)inner);
        if (back == frame) origin = PASSING;
        Py_XDECREF((PyObject *)back);
    }
    let_go(inner);
    let_go(next);
    Py_DECREF(traceback);
    return origin;
}

/* Say whether an exception has come to a frame. A bare `raise` of a function that a handler calls has not brought it there. */
static int has_come_to(PyObject *exception, PyFrameObject *frame)
{
    PyObject *traceback = PyException_GetTraceback(exception);
    PyObject *newest = traceback == NULL ? NULL : field_of(traceback, frame_at);
    int has_come = newest == (PyObject *)frame;
    let_go(newest);
    Py_XDECREF(traceback);
    return has_come;
}

/* Exceptions that the program was stopped for are Python's business until they have gone. */
static int is_reported(PyObject *reported, PyObject *exception)
{
    if (PySet_Size(reported) == 0) return 0;
    PyObject *identity = PyLong_FromVoidPtr(exception);
    int found = identity == NULL ? -1 : PySet_Contains(reported, identity);
    Py_XDECREF(identity);
    PyErr_Clear();
    return found != 0;
}

static PyObject *ask(PyObject *object, PyObject *const *args)
{
    return call_with_room(callback_of(object)->refs[THOROUGH], args, 3, NULL);
}

static int lets_pass(Callback *self, PyFrameObject *frame, PyObject *const *args, int deep)
{
    long offset = PyLong_AsLong(args[1]);
    caught.exception = NULL;
    return !is_reported(self->refs[REPORTED], args[2]) && is_caught(frame, args[0], offset, args[2], deep, NULL);
}

static PyObject *answer_raise(PyObject *object, PyObject *const *args)
{
    Callback *self = callback_of(object);
    long long target = read_count(&self->target);
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL || !PyExceptionInstance_Check(args[2])) return ask(object, args);
    if (target & LOCAL && args[0] != __atomic_load_n(&last_watched, __ATOMIC_RELAXED)) {
        int verdict = verdict_of(args[0], RAISING);
        if (verdict == VERDICTS) return ask(object, args);
        if (verdict == PASSES) return Py_NewRef(disable);
        __atomic_store_n(&last_watched, args[0], __ATOMIC_RELAXED);
    }
    int origin = target & DEEP ? origin_of(args[2], frame) : AGAIN;
    /* One that passes was looked at where it was raised. */
    int passes = origin == PASSING || lets_pass(self, frame, args, origin == FRESH);
    int is_busy = count_down(&self->count); /* Python asks for that */
    return passes && !is_busy ? Py_NewRef(Py_None) : ask(object, args);
}

/* RAISE follows, in code that has been suspended since before it was watched by code object. */
static PyObject *answer_throw(PyObject *object, PyObject *const *args)
{
    int is_met = !(read_count(&callback_of(object)->target) & LOCAL) || verdict_of(args[0], RAISING) != VERDICTS;
    return is_met ? Py_NewRef(Py_None) : ask(object, args);
}

/* At the end of a `finally`, of a `with`, of handlers that did not fit; or by a bare `raise`. */
static PyObject *answer_reraise(PyObject *object, PyObject *const *args)
{
    Callback *self = callback_of(object);
    long long target = read_count(&self->target);
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL || !PyExceptionInstance_Check(args[2])) return ask(object, args);
    /* On its way to the frame that catches it; but where RAISE is not watched, a new one may be in its place. */
    if (caught.exception == args[2] && caught.frame != frame
        && (target & LOCAL ? origin_of(args[2], frame) == PASSING : has_come_to(args[2], frame)))
        Py_RETURN_NONE;
    return lets_pass(self, frame, args, target & DEEP) ? Py_NewRef(Py_None) : ask(object, args);
}

/* Say whether an event in this frame, or one in which the exception left another for it, has been looked at. */
static int was_looked_at(PyFrameObject *frame, PyObject *code, PyObject *exception)
{
    if (origin_of(exception, frame) == PASSING) return 1;
    int verdict = verdict_of(code, RAISING);
    return verdict != VERDICTS && verdict != PASSES;
}

static PyObject *answer_unwind(PyObject *object, PyObject *const *args)
{
    Callback *self = callback_of(object);
    PyFrameObject *frame = PyEval_GetFrame();
    if (caught.frame == frame) caught.exception = NULL;
    PyFrameObject *back = frame == NULL ? NULL : optional.frame_get_back(frame);
    if (back == NULL) return ask(object, args);
    PyObject *code = (PyObject *)PyFrame_GetCode(back);
    int passes = verdict_of(code, UNWINDING) == PASSES; /* it does not end the thread */
    Py_DECREF(code);
    Py_DECREF((PyObject *)back);
    if (passes && read_count(&self->target) & LOCAL)
        passes = PyExceptionInstance_Check(args[2])
                 && (was_looked_at(frame, args[0], args[2]) || lets_pass(self, frame, args, 1));
    return passes ? Py_NewRef(Py_None) : ask(object, args);
}

/* Return whether an exception passes wherever it comes from: the newest frame catches it, whatever names mean, or no filter
   asks for it. This needs no frame, and runs no code of the program. */
static int passes_at_once(Callback *self, PyObject *const *args)
{
    Place copy;
    if (read_count(&self->count) > 0 || PySet_Size(self->refs[REPORTED]) > 0) return 0;
    if (read_count(&self->target) & LOCAL && args[0] != __atomic_load_n(&last_watched, __ATOMIC_RELAXED)) return 0;
    const Place *place = find(args[0], PyLong_AsLong(args[1]), Py_TYPE(args[2]), &copy);
    if (place == NULL) return 0;
    int passes = place->verdict == CATCHES && place->guards == NULL;
    drop(&copy);
    if (passes) caught.exception = NULL;
    return passes;
}

/* The predicate, or a look at a name, runs code of Python, in which another thread may drop the callback. Without a GIL
   it may do so while this one waits for a lock. */
static PyObject *hold_and_answer(PyObject *object, PyObject *const *args, PyObject *(*answer)(PyObject *, PyObject *const *))
{
    Py_INCREF(object);
    PyObject *result = answer(object, args);
    Py_DECREF(object);
    return result;
}

static PyObject *serve_raise(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    if (check_call(given, names, 3, 3) < 0) return NULL;
    if (!FREE_THREADED && passes_at_once(callback_of(object), args)) Py_RETURN_NONE;
    return hold_and_answer(object, args, answer_raise);
}

static PyObject *serve_reraise(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    return check_call(given, names, 3, 3) < 0 ? NULL : hold_and_answer(object, args, answer_reraise);
}

static PyObject *serve_unwind(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    return check_call(given, names, 3, 3) < 0 ? NULL : hold_and_answer(object, args, answer_unwind);
}

static PyObject *serve_throw(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    return check_call(given, names, 3, 3) < 0 ? NULL : hold_and_answer(object, args, answer_throw);
}

static PyObject *raise_callback(PyObject *Py_UNUSED(module), PyObject *args)
{
    static const struct { const char *event; vectorcallfunc serve; } EVENTS[] = {
        {"RAISE", serve_raise}, {"RERAISE", serve_reraise}, {"PY_UNWIND", serve_unwind},
        {"PY_THROW", serve_throw},
    };
    PyObject *event, *thorough, *reported;
    if (!PyArg_ParseTuple(args, "UOO!:raise_callback", &event, &thorough, &PySet_Type, &reported)
        || require_functions("PyFrame_") < 0)
        return NULL;
    if (find_fields() < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "tracebacks or weak references are not as they were");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < LENGTH(EVENTS); i++) {
        if (PyUnicode_CompareWithASCIIString(event, EVENTS[i].event) != 0) continue;
        PyObject *made = new_callback(EVENTS[i].serve, 0);
        if (made == NULL) return NULL;
        callback_of(made)->refs[THOROUGH] = Py_NewRef(thorough);
        callback_of(made)->refs[REPORTED] = Py_NewRef(reported);
        return made;
    }
    return PyErr_Format(PyExc_ValueError, "there is no callback of %R", event);
}

PyMethodDef raise_methods[] = {
    {"note_place", note_place, METH_VARARGS, PyDoc_STR(
        "note_place(code, offset, type, verdict, swallows, guards, /)\n--\n\n"
        "Note what becomes of exceptions of a type at an instruction; return how many places are noted. The type is None,\n"
        "and the offset -1, to say what unwinding into that code means.")},
    {"forget_places", forget_places, METH_NOARGS, PyDoc_STR("forget_places()\n--\n\nForget all places.")},
    {"unknown_from", unknown_from, METH_VARARGS, PyDoc_STR(
        "unknown_from(frame, offset, exception, /)\n--\n\n"
        "Return the frame, this one or an older one, from which on the notes do not say what becomes of an exception;\n"
        "None if they say that something catches it.")},
    {"note_caught", (PyCFunction)(void (*)(void))note_caught, METH_FASTCALL, PyDoc_STR(
        "note_caught(exception, frame, /)\n--\n\n"
        "Note that a frame of this thread will catch the exception that was raised last: frames on its way are not asked.")},
    {"raise_callback", raise_callback, METH_VARARGS, PyDoc_STR(
        "raise_callback(event, thorough, reported, /)\n--\n\n"
        "Make the callback of RAISE, RERAISE or PY_UNWIND that calls thorough(code, offset, exception) unless it is known\n"
        "that something catches the exception; in older frames too if `target` is not 0. Those of which the identity is in\n"
        "the set `reported` are always handed on. That of PY_THROW calls it in code of which it is not noted whether RAISE is of use.")},
    {NULL, NULL, 0, NULL},
};
