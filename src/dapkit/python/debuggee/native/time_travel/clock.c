/* The clock: how many lines of the program's own code were begun. This file decides the work at a line: a checkpoint of the
   live program, the goal of a replay, a signal, the turn of another thread. */

#include "time_travel.h"

#define SWITCH_EVERY 1000 /* lines, after which another thread has the turn */

static uint64_t wanted; /* where the clock is looked at anyway; `clock_target` is earlier where threads switch */
static uint64_t interval, checked, step = 1000, last;
static int is_due = 1, is_disturbed, has_shown_past;
int has_stood;

#define DISTURBED 10 /* how much sooner the next copy is made then */

#define NEAR 2000     /* lines before its goal, where a replay leaves a copy of itself, */
#define DISTANT 20000 /* if it has come from so far */

static uint64_t leaves_copy_at; /* 0: nowhere */
static PyObject *look_at_line;  /* called at each, NULL for nothing */

static int makes_copies(void) { return !is_past && !is_recording && mode != OFF; }

static uint64_t switched_at = UINT64_MAX;

/* After which tick another thread has the turn: that depends on the clock alone, and so is the same in live and replay. */
static uint64_t next_switch(void)
{
    if (thread_count <= 1) return UINT64_MAX;
    uint64_t begun = clock_of_notes() % SWITCH_EVERY;
    return begun == 0 && switched_at != ticks ? ticks : ticks + SWITCH_EVERY - begun;
}

void aim(void)
{
    uint64_t next = thread_count > 1 ? next_switch() + 1 : UINT64_MAX;
    if (makes_copies() && thread_count == 1 && is_due) wanted = 0;
    clock_target = next < wanted ? next : wanted;
    clock_usual_until = is_past || is_recorded || is_tracking || look_at_line != NULL ? 0 : clock_target;
    if (mode == LIVE && above.has_signals()) be_due();
    if (mode == REPLAY && tick_of_signal() < clock_target) clock_target = tick_of_signal();
}

/* Look at the clock when the next thing is due in a replay: a signal, a copy of it, or its goal. */
static void aim_replay(void)
{
    wanted = goal;
    if (leaves_copy_at != 0 && leaves_copy_at < wanted) wanted = leaves_copy_at;
    aim();
}

/* One that is to look from its goal on has another goal then. */
static int looks_on_the_way(void) { return is_kind("scan") || is_kind("watch") || (is_kind("look") && has_arrived); }

static int notes_steps(void) { return is_kind("steps") || is_kind("frame"); }

static PyObject *begin_replay(void)
{
    forget_steps();
    has_arrived = 0;
    leaves_copy_at = 0;
    if (looks_on_the_way()) {
        PyObject *begun = above.on_goal();
        aim_replay();
        return begun;
    }
    if (ticks >= goal) return above.on_goal();
    if (notes_steps() && !is_tracking) {
        Counters held = hold_counters();
        int failed = begin_tracking(NULL, NULL);
        release_counters(&held);
        if (failed) return NULL;
    }
    if (goal - ticks > DISTANT) leaves_copy_at = goal - NEAR;
    aim_replay();
    Py_RETURN_NONE;
}

static PyObject *look_in_past(void)
{
    if (ticks >= goal) {
        wanted = UINT64_MAX;
        if (has_arrived && !looks_on_the_way()) above.on_end();
        return above.on_goal();
    }
    int is_near = leaves_copy_at != 0 && ticks >= leaves_copy_at;
    if (is_near) leaves_copy_at = 0;
    aim_replay();
    if (is_near && above.on_copy_due() == 1) return begin_replay();
    Py_RETURN_NONE;
}

/* 1 in a process that is executed again from the copy. */
static int make_copy(void)
{
    uint64_t time = now();
    if (has_shown_past) {
        count_as_live();
        has_shown_past = 0;
    }
    int made = above.on_copy_due();
    if (made < 0) is_due = 1; /* soon, as after a stop it is not by its time */
    if (made == 0) {
        is_due = is_disturbed = has_stood = 0;
        last = now();
        if (interval < 20 * (last - time)) interval = 20 * (last - time);
    }
    return made == 1;
}

/* Changes made to the stopped program are in no earlier checkpoint, and a replay from one does not see them.
   So there is one of where it continues. */
int go_on_from_stop(const void *code)
{
    int is_again = 0;
    while (has_stood) { /* more than once in a process that takes the place of the live program */
        has_stood = 0;
        if (!makes_copies() || !make_copy()) break;
        is_again = 1;
        PyObject *begun = begin_replay();
        if (begun == NULL) return -1;
        Py_DECREF(begun);
        if (is_tracking) note_step(code, ticks);
    }
    return is_again;
}

static PyObject *look_live(void)
{
    uint64_t time = now();
    if (time - last >= (is_disturbed ? interval / DISTURBED : interval)) is_due = 1;
    if (is_due && make_copy()) return begin_replay();
    uint64_t passed = time - checked;
    if (passed < 500000 && step < 1u << 20) step *= 2;
    if (passed > 2000000 && step > 64) step /= 2;
    checked = time;
    wanted = ticks + step;
    Py_RETURN_NONE;
}

static PyObject *look_at_clock(void)
{
    PyObject *result;
    if (makes_copies() && ticks >= wanted) result = look_live();
    else if (is_past && mode == REPLAY && ticks >= wanted) result = look_in_past();
    else result = Py_NewRef(Py_None);
    if (mode == OFF || is_recording) wanted = UINT64_MAX;
    aim();
    return result;
}

/* The due work comes before the line begins. Another thread that has its turn counts lines, and this one is to begin at the
   clock that the engine's callback for it sees, which comes next. Handlers of signals would be executed by that callback.
   */
static int do_what_is_due(void)
{
    if (is_past && !is_recorded && collect_due() < 0) return -1;
    if (next_switch() == ticks && !passes()) {
        switched_at = ticks;
        yield_turn();
    }
    above.on_tick();
    return above.on_handlers_due();
}

static __attribute__((noinline)) PyObject *on_unusual_line(PyObject *const *args)
{
    if (ticks + 1 >= clock_target && do_what_is_due() < 0) return NULL;
    if (is_past && !is_recorded && collect_due() < 0) return NULL;
    if (!is_past && !is_recorded) young_at_tick = *young_count;
    ticks++;
    if (is_past && !is_recorded && aim_collector() < 0) return NULL;
    if (ticks >= clock_target) {
        PyObject *looked = look_at_clock();
        if (looked == NULL) return NULL;
        Py_DECREF(looked);
        if (has_stood && go_on_from_stop(args[0]) < 0) return NULL;
    }
    if (is_tracking) note_step(args[0], ticks);
    if (must_look_at_writes && look_at_writes(args[0], args[1]) < 0) return NULL;
    if (look_at_line != NULL) return call_in_engine_context(look_at_line, NULL, 0, NULL);
    Py_RETURN_NONE;
}

/* Each line of a program that runs forwards comes here, so one comparison stands for all that is rare. */
PyObject *on_line(PyObject *Py_UNUSED(self), PyObject *const *args, size_t Py_UNUSED(given), PyObject *Py_UNUSED(names))
{
    if (!inside) Py_RETURN_NONE;
    uint64_t next = ticks + 1;
    if (__builtin_expect(next >= clock_usual_until, 0)) return on_unusual_line(args);
    young_at_tick = *young_count;
    ticks = next;
    Py_RETURN_NONE;
}

/* Functions for Python */

static PyObject *stand(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (!is_past) {
        log_head->ticks = ticks;
        is_due = has_stood = 1; /* changes that the engine made at the stop are in no earlier checkpoint */
        wanted = 0;
        aim();
    }
    return PyLong_FromUnsignedLongLong(ticks);
}

/* Another thread of the debugger has run: it may have left objects at addresses of the program's next objects. That is in
   no earlier copy. */
static PyObject *disturbed(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (!is_past) {
        is_disturbed = 1;
        wanted = 0;
        aim();
    }
    Py_RETURN_NONE;
}

static PyObject *count_copies(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyLong_FromLong(copies);
}

static PyObject *count_written(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLongLong(bytes_written);
}

/* Whether the history of the live program has ended before it. */
static PyObject *is_over(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyBool_FromLong(mode == OFF);
}

/* The library whose thread has ended it, if it was not a second thread of the program. */
static PyObject *ended_by(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyUnicode_DecodeFSDefault(mode == OFF ? log_head->why : "");
}

static PyObject *is_copy(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing)) { return PyBool_FromLong(is_past); }

/* To the last stop of the live program, or to a clock before it; 0 for none. */
static PyObject *go_on_to_end(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned long long end;
    if (!PyArg_ParseTuple(args, "K", &end)) return NULL;
    goal = end != 0 && end < log_head->ticks ? end : log_head->ticks;
    aim_replay();
    Py_RETURN_NONE;
}

static PyObject *look_at_lines(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *look, *leave, *resume;
    if (!PyArg_ParseTuple(args, "OOO", &look, &leave, &resume) || begin_tracking(leave, resume) < 0) return NULL;
    look_at_line = Py_NewRef(look);
    look_at_each_line();
    Py_RETURN_NONE;
}

static PyObject *clock_now(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLongLong(ticks);
}

static PyObject *last_tick(PyObject *Py_UNUSED(module), PyObject *frame)
{
    return PyLong_FromLongLong(step_of(frame));
}

static PyObject *first_tick(PyObject *Py_UNUSED(module), PyObject *frame)
{
    return PyLong_FromLongLong(first_step_of(frame));
}

static PyObject *identity(PyObject *Py_UNUSED(module), PyObject *frame)
{
    return PyLong_FromUnsignedLongLong(identity_of(frame));
}

/* The frame on a stack that has an identity, from its innermost on; None if no frame has it. */
static PyObject *frame_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *frame;
    unsigned long long wanted;
    if (!PyArg_ParseTuple(args, "OK", &frame, &wanted)) return NULL;
    for (Py_INCREF(frame); frame != NULL && identity_of(frame) != wanted;) {
        PyObject *outer = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = outer == Py_None ? (Py_DECREF(outer), Py_NewRef(Py_None)) : outer;
        if (frame == Py_None) return frame;
    }
    return frame;
}

static PyObject *is_of_program(PyObject *Py_UNUSED(module), PyObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
    int found = is_counted((PyObject *)code);
    Py_DECREF(code);
    return PyBool_FromLong(found);
}

static PyObject *last_tick_of(PyObject *Py_UNUSED(module), PyObject *identity)
{
    unsigned long long wanted = PyLong_AsUnsignedLongLong(identity);
    if (PyErr_Occurred()) return NULL;
    return PyLong_FromLongLong(step_of_identity(wanted));
}

static PyObject *first_tick_of(PyObject *Py_UNUSED(module), PyObject *identity)
{
    unsigned long long wanted = PyLong_AsUnsignedLongLong(identity);
    if (PyErr_Occurred()) return NULL;
    return PyLong_FromLongLong(first_step_of_identity(wanted));
}

void begin_clock(uint64_t nanoseconds)
{
    interval = nanoseconds;
    last = checked = now();
}

void go_on_live(void)
{
    leaves_copy_at = 0;
    has_shown_past = has_stood = is_due = 1;
    wanted = 0;
    last = checked = now();
    aim();
}

PyMethodDef clock_methods[] = {
    {"stand", stand, METH_NOARGS, NULL},
    {"disturbed", disturbed, METH_NOARGS, NULL},
    {"count_written", count_written, METH_NOARGS, NULL},
    {"count_copies", count_copies, METH_NOARGS, NULL},
    {"is_over", is_over, METH_NOARGS, NULL},
    {"ended_by", ended_by, METH_NOARGS, NULL},
    {"is_copy", is_copy, METH_NOARGS, NULL},
    {"go_on_to_end", go_on_to_end, METH_VARARGS, NULL},
    {"look_at_lines", look_at_lines, METH_VARARGS, NULL},
    {"clock", clock_now, METH_NOARGS, NULL},
    {"last_tick", last_tick, METH_O, NULL},
    {"first_tick", first_tick, METH_O, NULL},
    {"identity", identity, METH_O, NULL},
    {"frame_of", frame_of, METH_VARARGS, NULL},
    {"is_of_program", is_of_program, METH_O, NULL},
    {"last_tick_of", last_tick_of, METH_O, NULL},
    {"first_tick_of", first_tick_of, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
