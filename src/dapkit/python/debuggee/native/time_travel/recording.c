/* Recordings: the inputs of a program, kept in a file; and the replay of the program from that file, in a new process.

   The program is not debugged while it is recorded, and nothing counts its lines: there is no clock, and each note stands
   for the time when it was made. So threads change only where one waits, and signals are delivered after notes. While
   there is a second thread the lines are counted, as in a program with time travel, and notes have that clock; it rests
   from the first note on that is made when there is only one thread again. A signal for which there is no such moment
   ends the recording, never the program.

   For an engine, the replaying process has the role of the live program: it has a clock, and checkpoints are made of
   it. Its objects have other addresses than the objects of the recorded program. */

#include "time_travel.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 100000000u       /* nanoseconds of processor time that a signal waits for a note, */
#define MOST_PATIENCE 5000000000u /* and of any time */
#define LOOK_EVERY 10000000u

#define MOST_IDLE 50000 /* lines that are reported while the clock rests, before that is turned off: to turn it on is slow */

static PyObject *at_threads; /* called before there is a second thread: has the lines counted from there on */
static PyObject *counted_start, *disabled;
static int is_counting;      /* it was called, and lines are reported */
static uint64_t idle;        /* lines that were reported while the clock rests */
static PyObject *at_end;     /* called when the recording has been executed again */
static int printed_to[3] = {-1, -1, -1};

int is_executed_again(void) { return is_recorded && !is_recording && !is_past; }

/* Without an error: the callee has handled its own. */
static void call(PyObject *function, PyObject *argument)
{
    PyObject *result = call_in_engine_context(function, &argument, argument == NULL ? 0 : 1, NULL);
    if (result == NULL) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
}

void begin_threads(void)
{
    if (!is_recorded || has_threads) return;
    threads_since = ticks - rested_at;
    has_threads = 1;
    idle = 0;
    if (!is_recording || is_counting) return;
    is_counting = 1;
    call(at_threads, NULL);
}

static void rest_if_alone(void)
{
    if (!has_threads || thread_count > 1) return;
    rested_at = clock_of_notes();
    has_threads = 0;
}

/* Called by sys.monitoring: which is not asked for a line, or for a start, again before `at_threads` was called. */

static PyObject *on_recorded_line(PyObject *self, PyObject *const *args, Py_ssize_t given)
{
    if (has_threads || !inside) return on_line(self, args, (size_t)given, NULL);
    if (++idle < MOST_IDLE) Py_RETURN_NONE;
    is_counting = 0;
    return Py_NewRef(disabled);
}

static PyObject *on_recorded_start(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t given)
{
    return is_counting ? PyObject_Vectorcall(counted_start, args, (size_t)given, NULL) : Py_NewRef(disabled);
}

void print_again(int descriptor, const void *place, int64_t size)
{
    if (!is_executed_again() || (descriptor != 1 && descriptor != 2) || size <= 0) return;
    int error = errno;
    for (int64_t done = 0; done < size;) {
        ssize_t written = write(printed_to[descriptor], (const char *)place + done, (size_t)(size - done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        done += written;
    }
    errno = error;
}

/* Called with the interpreter's lock, where the recorded program went on or ended. */
void say_end_of_recording(const char *how)
{
    log_head->ticks = ticks;
    PyObject *text = PyUnicode_DecodeFSDefault(how);
    if (text != NULL) call(at_end, text);
    PyEval_SaveThread();
    for (;;) pause(); /* the engine still answers */
}

void end_recording(const char *reason)
{
    mode = OFF;
    if (is_recording && log_head->why[0] == 0) strncpy(log_head->why, reason, sizeof log_head->why - 1);
    let_threads_go();
}

/* Signals wait for a note. Whether one has come is looked after by a thread of ours, which is woken up by handlers: they
   may do no more than that. It rests while the interpreter forks, which counts the threads afterwards. */

#define NOTES_OF_COUNT 4 /* the fork, and the opening, reading and closing of a file */

static sem_t taken_signals;
static pthread_t signal_thread;
static int looks_after_signals, rests_for; /* so many notes */

/* Called by the interpreter between two instructions, in the main thread. */
static int give_up(void *Py_UNUSED(nothing))
{
    if (!is_signal_pending()) return 0;
    end_recording("a signal came while nothing was asked of the system");
    deliver(signals_taken());
    return 0;
}

static uint64_t processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *look_after_signals(void *Py_UNUSED(nothing))
{
    struct timespec moment = {0, LOOK_EVERY};
    for (;;) {
        while (sem_wait(&taken_signals) < 0) {}
        if (!looks_after_signals) return NULL;
        uint64_t used = processor_time(), began = now();
        while (looks_after_signals && is_signal_pending() && processor_time() - used < PATIENCE && now() - began < MOST_PATIENCE)
            nanosleep(&moment, NULL);
        if (is_signal_pending() && !has_threads) Py_AddPendingCall(give_up, NULL);
    }
    return NULL;
}

static int begin_to_look_after_signals(void)
{
    sigset_t all, before;
    looks_after_signals = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&signal_thread, NULL, look_after_signals, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0 ? 0 : -1;
}

void delay_signal(void) { sem_post(&taken_signals); }

void rest_for_fork(void)
{
    if (!is_recording || !looks_after_signals) return;
    looks_after_signals = 0;
    rests_for = NOTES_OF_COUNT;
    sem_post(&taken_signals);
    pthread_join(signal_thread, NULL);
    if (is_signal_pending()) sem_post(&taken_signals);
}

void after_note(void)
{
    rest_if_alone();
    if (rests_for > 0 && --rests_for == 0) begin_to_look_after_signals();
}

/* Children of a fork: the notes of one are its parent's up to the fork, and then its own, in a file of its own. */

static PyObject *at_exit; /* called before it ends by itself, if it can be */

void note_exit(int code)
{
    if (!is_recording) return;
    log_head->exit = 1 + ((unsigned)code & 0xff);
    if (at_exit == NULL || !has_interpreter()) return;
    PyObject *raised = PyErr_GetRaisedException(); /* as in a child that could not execute a program */
    call(at_exit, NULL);
    PyErr_SetRaisedException(raised);
}

/* Functions for Python */

static PyObject *failed(const char *path) { return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path); }

static PyObject *record(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *notes, *collections;
    unsigned long long most;
    int tool, is_child;
    PyObject *threads, *start, *counts, *set_events;
    if (!PyArg_ParseTuple(args, "ssKpOOiOO", &notes, &collections, &most, &is_child, &threads, &start, &tool, &counts,
                          &set_events))
        return NULL;
    if (!is_child && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return PyErr_SetFromErrno(PyExc_OSError);
    is_recording = is_recorded = 1;
    at_threads = Py_NewRef(threads);
    counted_start = Py_NewRef(start);
    disabled = PyObject_GetAttrString(PySys_GetObject("monitoring"), "DISABLE");
    if (disabled == NULL) return NULL;
    begin_counting(tool, counts, set_events);
    if (record_log(notes, most) < 0) return failed(notes);
    if (record_collections(collections) < 0) return failed(collections);
    sem_init(&taken_signals, 0, 0);
    if (make_heap() < 0 || begin_to_look_after_signals() < 0) return PyErr_SetFromErrno(PyExc_OSError);
    if (find_collector() < 0 || find_handlers() < 0 || find_real_functions() < 0) return NULL;
    find_current_frame();
    set_slots();
    find_time_of_lock();
    take_over_signals();
    Py_RETURN_NONE;
}

/* The place in the notes where this process was forked, if it was just now; else None. */
static PyObject *forked_at(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (!is_forked) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(log_place);
}

static PyObject *record_fork(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *notes, *collected;
    PyObject *exits;
    if (!PyArg_ParseTuple(args, "ssO", &notes, &collected, &exits)) return NULL;
    is_forked = 0;
    if (record_collections_of_fork(collected) < 0) return failed(collected);
    if (record_log_of_fork(notes) < 0) return failed(notes);
    rests_for = 0;
    if (begin_to_look_after_signals() < 0) return PyErr_SetFromErrno(PyExc_OSError);
    at_exit = Py_NewRef(exits);
    mode = LIVE;
    aim();
    record_call("fork", 0, 0, NULL, 0);
    Py_RETURN_NONE;
}

static PyObject *continue_in_fork(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    if (is_forked) {
        is_forked = 0;
        mode = REPLAY;
        aim();
    }
    Py_RETURN_NONE;
}

static PyObject *note_exit_code(PyObject *Py_UNUSED(module), PyObject *number)
{
    long code = PyLong_AsLong(number);
    if (code == -1 && PyErr_Occurred()) return NULL;
    if (is_recording) log_head->exit = 1 + ((unsigned long)code & 0xff);
    Py_RETURN_NONE;
}

static PyObject *replay(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *notes, *collections;
    PyObject *end;
    if (!PyArg_ParseTuple(args, "ssKiiO", &notes, &collections, &recorded_time, &printed_to[1], &printed_to[2], &end)) return NULL;
    is_recorded = 1;
    at_end = Py_NewRef(end);
    if (read_log(notes) < 0) return failed(notes);
    if (read_collections(collections) < 0) return failed(collections);
    Py_RETURN_NONE;
}

static PyObject *time_of_program(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    return PyLong_FromUnsignedLongLong(recorded_time);
}

PyMethodDef recording_methods[] = {
    {"record", record, METH_VARARGS, NULL},
    {"replay", replay, METH_VARARGS, NULL},
    {"forked_at", forked_at, METH_NOARGS, NULL},
    {"record_fork", record_fork, METH_VARARGS, NULL},
    {"continue_in_fork", continue_in_fork, METH_NOARGS, NULL},
    {"note_exit_code", note_exit_code, METH_O, NULL},
    {"on_recorded_line", (PyCFunction)(void (*)(void))on_recorded_line, METH_FASTCALL, NULL},
    {"on_recorded_start", (PyCFunction)(void (*)(void))on_recorded_start, METH_FASTCALL, NULL},
    {"time_of_program", time_of_program, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
