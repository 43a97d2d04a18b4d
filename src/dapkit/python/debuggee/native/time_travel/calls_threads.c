/* Threads of the program: how they begin and end, and the interpreter's lock. How they take turns stands in scheduler.c. */

#include "scheduler.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_OF_THE_INTERPRETERS 16


static void end_of_thread(void)
{
    if (self == NULL || self == &threads[0] || self->state == ENDED || mode == OFF) return;
    inside = 0;
    pthread_mutex_lock(&turn_lock);
    self->state = ENDED;
    self->number = (pid_t)syscall(SYS_gettid);
    if (mode != OFF) {
        thread_count--;
        ending = self;
        wake(self);
        aim();
        pass_turn(self);
    }
    pthread_mutex_unlock(&turn_lock);
}

int history_ends_with_threads;

/* The program continues by itself, and its past ends here. */
static void end_history(const char *reason)
{
    if (mode == REPLAY) above.on_end();
    if (is_recording) {
        above.on_recording_over(reason);
    } else {
        log_head->ticks = ticks;
        snprintf(log_head->why, sizeof log_head->why, "%s", reason);
        mode = OFF;
        let_threads_go();
    }
    inside = 0;
}

/* After the C library's `fork` a new thread gets the stack of one that the copy does not have. The frames of the debugger's
   threads are there, and the interpreter follows them: new threads get stacks of their own. */
int has_reclaimed_stacks;

static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int begin_thread(pthread_t *thread, const pthread_attr_t *given, void *(*start)(void *), void *argument)
{
    if (!has_reclaimed_stacks) return real_pthread_create(thread, given, start, argument);
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0, guard = 0;
    pthread_attr_init(&attributes);
    if (given != NULL) memcpy(&attributes, given, sizeof attributes);
    pthread_attr_getstack(&attributes, &stack, &size);
    if ((uintptr_t)stack + size != 0) /* the caller's */
        return real_pthread_create(thread, given, start, argument);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    char *place = map_ours(guard + size);
    if (place == MAP_FAILED) return EAGAIN;
    mprotect(place, guard, PROT_NONE);
    pthread_attr_setstack(&attributes, place + guard, size);
    int error = real_pthread_create(thread, &attributes, start, argument);
    if (error != 0) munmap(place, guard + size);
    return error;
}

static void *execute(void *thread)
{
    self = thread;
    await_turn(0, NULL);
    inside = 1;
    void *result = self->start(self->argument);
    end_of_thread();
    return result;
}

/* The interpreter's count of its threads. In a copy it still includes the debugger's threads, which the copy does not have;
   an engine of its own starts others. */

static long begun_in_past; /* threads of the debugger */
static PyCFunction real_count;

static PyObject *hook_count(PyObject *module, PyObject *nothing)
{
    PyObject *counted = real_count(module, nothing);
    if (counted == NULL || begun_in_past == 0) return counted;
    long count = PyLong_AsLong(counted);
    Py_DECREF(counted);
    return PyLong_FromLong(count - begun_in_past);
}

int watch_thread_count(void)
{
    PyObject *module = PyImport_ImportModule("_thread");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, "_count");
    Py_XDECREF(module);
    if (function == NULL) return -1;
    PyMethodDef *method = *(PyMethodDef **)((char *)function + sizeof(PyObject));
    if (method->ml_meth == PyCFunction_GetFunction(function) && PyCFunction_GetFlags(function) == METH_NOARGS) {
        real_count = method->ml_meth;
        method->ml_meth = hook_count;
    }
    Py_DECREF(function);
    return 0;
}

static int hook_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (is_past && !inside) begun_in_past++;
    if (passes() || self == NULL) return begin_thread(thread, attributes, start, argument);
    if (history_ends_with_threads) {
        end_history("");
        return begin_thread(thread, attributes, start, argument);
    }
    Thread *made = NULL;
    pthread_mutex_lock(&turn_lock);
    for (int i = 1; made == NULL && i < MOST_THREADS; i++)
        if (threads[i].state == UNUSED) made = &threads[i];
    if (made != NULL) {
        memset(made, 0, sizeof *made);
        made->state = READY;
        made->start = start;
        made->argument = argument;
        sem_init(&made->turn, 0, 0);
        if (made >= &threads[highest_thread]) highest_thread = (int)(made - threads) + 1;
    }
    pthread_mutex_unlock(&turn_lock);
    int error = made == NULL ? EAGAIN : begin_thread(&made->thread, attributes, execute, made);
    if (error != 0) {
        if (made != NULL) made->state = UNUSED;
        return error;
    }
    *thread = made->thread;
    if (thread_count == 1) above.on_second_thread();
    thread_count++;
    aim();
    return 0;
}

/* Threads of libraries, which the interpreter does not know. OpenBLAS ends its threads before a copy is made, and they do
   nothing but compute. Others have work of their own, and a copy would not have them: history ends before the first. */

#define MOST_CALLERS 16

/* The library that wants a thread: the library of its language, through which it may ask, is not named. */
static const char *library_among(void *const *callers, int count)
{
    static const char *const IN_BETWEEN[] = {"libstdc++", "libc++", "libc.so", "_travel", "ld-linux"};
    const char *first = NULL;
    for (int i = 0; i < count; i++) {
        Dl_info found;
        if (dladdr(callers[i], &found) == 0 || found.dli_fname == NULL) continue;
        const char *name = strrchr(found.dli_fname, '/');
        name = name == NULL ? found.dli_fname : name + 1;
        int is_between = 0;
        for (Py_ssize_t j = 0; j < LENGTH(IN_BETWEEN); j++)
            is_between |= strncmp(name, IN_BETWEEN[j], strlen(IN_BETWEEN[j])) == 0;
        const char *installed = strstr(found.dli_fname, "-packages/"), *up; /* uvloop/loop.so: with its package */
        if (installed != NULL && !is_between) name = installed + strlen("-packages/");
        while ((up = strstr(name, "../")) != NULL) name = up + strlen("../");
        if (!is_between) return name;
        if (first == NULL) first = name;
    }
    return first == NULL ? "a library" : first;
}

static int hook_thread_of_library(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (!passes() && self != NULL) {
        void *callers[MOST_CALLERS] = {__builtin_return_address(0)};
        if (strstr(library_among(callers, 1), "openblas") == NULL) {
            char reason[sizeof log_head->why];
            if (mode == REPLAY) above.on_end();
            const char *library = library_among(callers, backtrace(callers, MOST_CALLERS));
            snprintf(reason, sizeof reason, is_recording ? "%.45s began a thread" : "%s", library);
            end_history(reason);
        }
    }
    return begin_thread(thread, attributes, start, argument);
}

const Hook library_thread_hooks[] = {
    {"pthread_create", hook_thread_of_library, (void **)&real_pthread_create},
    {NULL, NULL, NULL},
};

static Thread *thread_of(pthread_t thread)
{
    for (int i = 1; i < highest_thread; i++)
        if (threads[i].state != UNUSED && !threads[i].is_detached && pthread_equal(threads[i].thread, thread))
            return &threads[i];
    return NULL;
}

static int (*real_pthread_detach)(pthread_t);
static int hook_pthread_detach(pthread_t thread)
{
    Thread *found = passes() ? NULL : thread_of(thread);
    if (found == NULL) return real_pthread_detach(thread);
    found->is_detached = 1;
    if (found->state == ENDED && found != ending) {
        real_pthread_join(thread, NULL);
        found->state = UNUSED;
    }
    return 0;
}

static int hook_pthread_join(pthread_t thread, void **result)
{
    Thread *found = passes() || self == NULL ? NULL : thread_of(thread);
    if (found == NULL) return real_pthread_join(thread, result);
    while (found->state != ENDED && mode != OFF) wait_for_turn(found, 0, NULL);
    int error = real_pthread_join(thread, result);
    if (mode != OFF) found->state = UNUSED;
    return error;
}

static void (*real_pthread_exit)(void *);
static void hook_pthread_exit(void *result)
{
    end_of_thread();
    real_pthread_exit(result);
}

static int (*real_pthread_getcpuclockid)(pthread_t, clockid_t *);
static int hook_pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
    if (passes()) return real_pthread_getcpuclockid(thread, clock);
    Part part = {clock, sizeof *clock};
    if (mode == REPLAY) return (int)replay_call("pthread_getcpuclockid", 0, &part, 1);
    return (int)record_call("pthread_getcpuclockid", 0, real_pthread_getcpuclockid(thread, clock), &part, 1);
}

/* The interpreter's lock. The work of a thread while it holds the mutex of that lock is not the program's: how long it must
   wait depends on free threads. */

static __thread int held, was_inside;
static pthread_mutex_t *mutexes[MOST_OF_THE_INTERPRETERS];
static pthread_cond_t *conditions[MOST_OF_THE_INTERPRETERS];

static void remember(void **known, void *object)
{
    int i = 0;
    while (i < MOST_OF_THE_INTERPRETERS && known[i] != NULL && known[i] != object) i++;
    if (i < MOST_OF_THE_INTERPRETERS) known[i] = object;
}

static int (*real_pthread_mutex_lock)(pthread_mutex_t *);
static int hook_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (held++ == 0) {
        was_inside = inside;
        inside = 0;
    }
    if (self != NULL) remember((void **)mutexes, mutex);
    return real_pthread_mutex_lock(mutex);
}

static int (*real_pthread_mutex_unlock)(pthread_mutex_t *);
static int hook_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int result = real_pthread_mutex_unlock(mutex);
    if (held > 0 && --held == 0) inside = was_inside;
    return result;
}

static int (*real_pthread_cond_signal)(pthread_cond_t *);
static int hook_pthread_cond_signal(pthread_cond_t *condition)
{
    if (self != NULL && held) remember((void **)conditions, condition);
    return real_pthread_cond_signal(condition);
}

/* The interpreter waits so for the thread that asked it for its lock; in a copy there may be no such thread. */
static int (*real_pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
static int hook_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return is_past ? 0 : real_pthread_cond_wait(condition, mutex);
}

void repair_interpreter(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    for (int i = 0; i < MOST_OF_THE_INTERPRETERS; i++) {
        if (mutexes[i] != NULL) pthread_mutex_init(mutexes[i], NULL);
        if (conditions[i] != NULL) pthread_cond_init(conditions[i], &attributes);
    }
    pthread_condattr_destroy(&attributes);
}

const Hook interpreter_hooks[] = {
    {"pthread_create", hook_pthread_create, (void **)&real_pthread_create},
    {"pthread_detach", hook_pthread_detach, (void **)&real_pthread_detach},
    {"pthread_join", hook_pthread_join, (void **)&real_pthread_join},
    {"pthread_exit", hook_pthread_exit, (void **)&real_pthread_exit},
    {"pthread_getcpuclockid", hook_pthread_getcpuclockid, (void **)&real_pthread_getcpuclockid},
    {"pthread_mutex_lock", hook_pthread_mutex_lock, (void **)&real_pthread_mutex_lock},
    {"pthread_mutex_unlock", hook_pthread_mutex_unlock, (void **)&real_pthread_mutex_unlock},
    {"pthread_cond_signal", hook_pthread_cond_signal, (void **)&real_pthread_cond_signal},
    {"pthread_cond_wait", hook_pthread_cond_wait, (void **)&real_pthread_cond_wait},
    {NULL, NULL, NULL},
};
