/* Checkpoints: copies of the live process that wait, and the processes that are executed again from them.

       live program ---copy---> checkpoint, waits ---fork---> replay, executes up to a goal, and stands there
            \---copy---> checkpoint, later ...

   A copy is not a child of the program, which may wait for its children and never hears of it. It closes the program's
   files, so that the ends of pipes and connections come as they would, and connects to the adapter. Its messages are
   lines of words:

       checkpoint TOKEN NUMBER PID CLOCK TIME OUTPUT
                                                  sent by a checkpoint when it begins to wait: its number in the live
                                                  program (0: of a replay), its microseconds since 1970, and the size of
                                                  that program's output so far
       KIND TOKEN GOAL FRAME                      received by it: start a process that replays to that clock, `replay`,
                                                  `scan`, `steps`, `frame` or `watch` (see time_travel/replay.py)
       ended PID STATUS                           sent by it when such a process has ended, with the status of `wait`
       begun TOKEN PID CLOCK                      sent by such a process, on a connection of its own
       arrived CLOCK                              sent by it at its goal (`scan`: at once); the engine's conversation follows,
                                                  or the messages of `watch`
       steps CLOCK FRAME                          sent instead at its goal, for `steps` and `frame`
       diverged CLOCK CALL NOTED WHEN PLACE       sent instead before it ends: the program made another call
       end CLOCK                                  sent instead before it ends: the log has no further record

   A replay process ends with its connection. */

#include "open_files.h"
#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK ((size_t)1 << 16)
#define LINE_SIZE 2048

static struct sockaddr_un address;
static char token[128];
static int control = -1; /* of a replay process */
static unsigned long long wanted_frame; /* the identity of that which `steps` and `frame` are about; 0 for none */
static PyObject *arrive_in_python;

static void say(const char *line)
{
    size_t size = strlen(line);
    while (size > 0) {
        ssize_t sent = send(control, line, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(0);
        line += sent;
        size -= (size_t)sent;
    }
}

static void connect_to_adapter(void)
{
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address) < 0) _exit(0);
    control = out_of_the_way(end);
}

static void ignore(int Py_UNUSED(number)) {}

/* In a copy: wait until there is something to hear; return which of the processes that it has begun have ended. */
static void wait_to_hear(void)
{
    struct pollfd polled = {control, POLLIN, 0};
    sigset_t others;
    sigfillset(&others);
    sigdelset(&others, SIGCHLD);
    do {
        int status;
        char line[LINE_SIZE];
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
            snprintf(line, sizeof line, "ended %d %d\n", (int)ended, status);
            say(line);
        }
    } while (ppoll(&polled, 1, NULL, &others) < 0 && errno == EINTR);
}

/* Wait for a line; ends the process with the connection. */
static void hear(char *line)
{
    size_t size = 0;
    wait_to_hear();
    while (size < LINE_SIZE - 1) {
        ssize_t got = recv(control, line + size, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) _exit(0);
        if (line[size] == '\n') break;
        size++;
    }
    line[size] = 0;
}

static void close_all(void)
{
    if (close_range(0, ~0u, 0) < 0)
        for (int descriptor = 0; descriptor < 65536; descriptor++) close(descriptor);
    int nothing = open("/dev/null", O_RDWR);
    for (int descriptor = nothing + 1; nothing >= 0 && descriptor < 3; descriptor++) dup2(nothing, descriptor);
}

static long threads_at_begin; /* the debugger's */
static int libraries_have_threads;

static long count_threads(void)
{
    struct stat folder;
    return stat("/proc/self/task", &folder) < 0 ? 0 : (long)folder.st_nlink - 2;
}

/* The C library's `fork` tidies up in the copy: it gives the heaps and stacks of other threads to those that come next,
   which in the live program get new ones, so that objects would lie elsewhere. The system's own changes nothing. But if
   libraries have threads (OpenBLAS), they must know of it: they end them before, and make them again when needed. */
static pid_t fork_unchanged(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

static uint64_t copied_at, copied_output; /* microseconds since 1970, and bytes that were written by then */

/* A process that may continue in place of the live program is a child of its parent, as are the copies. */
static pid_t fork_replay(void)
{
    if (may_branch) return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    return fork_unchanged();
}

/* The C library keeps the number of a thread, to send signals to it: a process that was made without it has another. */
static pid_t kept_number;

static void keep_own_number(void)
{
    int *word = (int *)pthread_self(), *end = word + 512;
    while (word < end && *word != kept_number) word++;
    kept_number = (pid_t)syscall(SYS_gettid);
    if (word < end) *word = kept_number;
}

/* In a copy: wait, and return in each process that is to replay. */
static void be_checkpoint(void)
{
    keep_signals_away();
    if (!may_branch) signal(SIGCHLD, ignore); /* replays are its children */
    else if (!is_past) hold_what_is_open();
    int number = is_past ? 0 : copies; /* 0: of a replay */
    is_past = 1;
    look_at_each_line();
    mode = REPLAY;
    repair_interpreter();
    close_all();
    connect_to_adapter();
    char line[LINE_SIZE], name[LINE_SIZE];
    snprintf(line, sizeof line, "checkpoint %s %d %d %llu %llu %llu\n", token, number, getpid(),
             (unsigned long long)ticks, (unsigned long long)copied_at, (unsigned long long)copied_output);
    say(line);
    for (;;) {
        unsigned long long wanted;
        hear(line);
        unsigned long long place = 0, type = 0;
        if (sscanf(line, "%15s %2047s %llu %llu %llu %llu", replay_kind, name, &wanted, &wanted_frame, &place, &type) < 4)
            _exit(0);
        if (fork_replay() != 0) continue;
        keep_own_number();
        goal = wanted;
        watch_births((uintptr_t)place, (uintptr_t)type);
        close(control);
        connect_to_adapter();
        snprintf(line, sizeof line, "begun %.1024s %d %llu\n", name, getpid(), (unsigned long long)ticks);
        say(line);
        return;
    }
}

static void *place_of_copy[5];
static pid_t copied;

static int copy_process(void *Py_UNUSED(nothing))
{
    int ends[2] = {-1, -1};
    if (shares_memory() && pipe2(ends, O_CLOEXEC) < 0) return 0;
    pid_t copy = libraries_have_threads ? fork() : fork_unchanged();
    if (copy == 0) {
        has_reclaimed_stacks |= libraries_have_threads;
        own_shared_memory();
        close(ends[1]);
        __builtin_longjmp(place_of_copy, 1);
    }
    copied = copy;
    if (ends[0] < 0) return 0;
    char none;
    close(ends[1]);
    while (read(ends[0], &none, 1) < 0 && errno == EINTR) {} /* until the copy has the shared memory, or has ended */
    close(ends[0]);
    return 0;
}

/* The debugger's own thread is not in a copy: a lock that it held, or a table that it was changing, would stay so there. So
   copies are made while it waits, which it does with this lock free. */
static PyObject *take_lock, *free_lock;

#define TRIES 1000
static const struct timespec BETWEEN_TRIES = {0, 100000};

/* Return whether the lock has been taken. It is asked for without waiting, which would execute handlers of signals. Long
   work of that thread delays the program once, and not at each attempt. */
static int take_work(void)
{
    static int most_tries = TRIES;
    PyObject *no[] = {Py_False};
    for (int tries = 0; tries < most_tries; tries++) {
        PyObject *taken = call_in_engine_context(take_lock, no, 1, NULL);
        Py_XDECREF(taken);
        if (taken == NULL) PyErr_Clear();
        if (taken == Py_True) {
            most_tries = TRIES;
            return 1;
        }
        Py_BEGIN_ALLOW_THREADS
        nanosleep(&BETWEEN_TRIES, NULL);
        Py_END_ALLOW_THREADS
    }
    most_tries = 1;
    return 0;
}

static void free_work(void)
{
    PyObject *done = call_in_engine_context(free_lock, NULL, 0, NULL);
    Py_XDECREF(done);
    if (done == NULL) PyErr_Clear();
}

/* Make copies only while this lock is free. */
static PyObject *copy_while_free(PyObject *Py_UNUSED(module), PyObject *lock)
{
    PyObject *take = PyObject_GetAttrString(lock, "acquire"), *release = PyObject_GetAttrString(lock, "release");
    Py_XDECREF(take_lock);
    Py_XDECREF(free_lock);
    take_lock = take;
    free_lock = release;
    if (take == NULL || release == NULL) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef checkpoint_methods[] = {
    {"copy_while_free", copy_while_free, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

/* Make a copy of this process that has no parent to wait for it; returns 1 in a process that replays from it, -1 if it
   cannot be made now. */
__attribute__((noinline)) int checkpoint(void)
{
    static char stack[STACK] __attribute__((aligned(16)));
    if (__builtin_setjmp(place_of_copy)) {
        unlock_turns();
        be_checkpoint();
        return 1;
    }
    if (thread_count > 1 || shares_too_much()) return -1; /* it would have only the thread that makes it */
    int error = errno, takes_work = !is_past && take_lock != NULL;
    if (takes_work && !take_work()) return -1;
    if (!is_past) take_freed_aside();
    libraries_have_threads = count_threads() > thread_count + threads_at_begin;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    copied_at = is_recorded ? recorded_time : (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
    copied_output = bytes_written;
    copied = 0;
    copies++;
    lock_turns();
    pid_t between = clone(copy_process, stack + STACK, CLONE_VM | CLONE_VFORK, NULL);
    if (between > 0) waitpid(between, NULL, __WCLONE);
    unlock_turns();
    if (takes_work) free_work();
    if (copied <= 0) copies--;
    errno = error;
    return copied > 0 ? 0 : -1;
}

void be_live(void)
{
    is_past = 0;
    has_arrived = 0;
    goal = 0;
    replay_kind[0] = 0;
    mode = LIVE;
    threads_at_begin = count_threads() - thread_count;
}

/* A replay's message about its end */

static PyObject *call_arrive(const char *how)
{
    PyObject *given[] = {PyUnicode_FromString(how), PyLong_FromLong(control),
                         PyLong_FromUnsignedLongLong(wanted_frame)};
    PyObject *result = given[0] && given[1] && given[2] ? call_in_engine_context(arrive_in_python, given, 3, NULL) : NULL;
    for (int i = 0; i < 3; i++) Py_XDECREF(given[i]);
    return result;
}

static void say_place(char *line, size_t size)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyCodeObject *code = frame == NULL ? NULL : PyFrame_GetCode(frame);
    PyObject *name = code == NULL ? NULL : PyObject_GetAttrString((PyObject *)code, "co_filename");
    PyObject *encoded = name == NULL ? NULL : PyUnicode_EncodeFSDefault(name);
    if (encoded != NULL) snprintf(line, size, "%s:%d", PyBytes_AsString(encoded), PyFrame_GetLineNumber(frame));
    PyErr_Clear();
}

static void end_here(const char *how, const char *call, const char *noted, uint64_t when)
{
    char line[LINE_SIZE * 2], place[LINE_SIZE] = "";
    int is_again = is_executed_again();
    inside = 0;
    PyGILState_STATE state = PyGILState_Ensure();
    say_place(place, sizeof place);
    snprintf(line, sizeof line, "%s %llu %s %s %llu %s\n", how, (unsigned long long)ticks, call, noted,
             (unsigned long long)when, place);
    if (is_again) {
        line[strlen(line) - 1] = 0;
        say_end_of_recording(line);
    }
    if (has_arrived) {
        line[strlen(line) - 1] = 0;
        call_arrive(line);
    }
    else
        say(line);
    PyGILState_Release(state);
    _exit(0);
}

void diverged(const char *call, const char *noted, uint64_t when) { end_here("diverged", call, noted, when); }

void reached_end(void) { end_here("end", "-", "-", 0); }

void program_returned(void) { end_here("end", "returned", "-", 0); }

PyObject *arrive(void)
{
    char line[64];
    snprintf(line, sizeof line, "arrived %llu\n", (unsigned long long)ticks);
    int says_itself = is_kind("steps") || is_kind("frame") || is_kind("watch") || is_kind("look") ||
                       is_kind("birth");
    if (!has_arrived && !says_itself) say(line);
    has_arrived = 1;
    return call_arrive(replay_kind);
}

int begin_checkpoints(const char *path, const char *name, PyObject *arrive)
{
    if (strlen(path) >= sizeof address.sun_path || strlen(name) >= sizeof token) {
        PyErr_SetString(PyExc_ValueError, "the socket's path or the token is too long");
        return -1;
    }
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path);
    strcpy(token, name);
    arrive_in_python = Py_NewRef(arrive);
    kept_number = (pid_t)syscall(SYS_gettid);
    threads_at_begin = count_threads() - 1;
    return 0;
}
