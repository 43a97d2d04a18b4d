/* Declarations that the parts of `_travel` share: the boundary between the program and the outside, the clock, and
   checkpoints.

   A program is deterministic apart from its inputs, and it gets these through functions of the C library. The
   slots by which loaded objects call those functions are set to functions of ours (`slots.c`), which note each result
   (`log.c`) while the program lives, and answer from the notes when it is executed once more from a checkpoint. Nothing
   above the C library knows: objects of Python are made by the same code, in the same order, at the same addresses.

   Only calls by threads of the program count, and only while they execute the program: `inside`. */

#ifndef DAPKIT_TRAVEL_H
#define DAPKIT_TRAVEL_H

#define _GNU_SOURCE
#define Py_LIMITED_API 0x030c0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define LENGTH(array) ((Py_ssize_t)(sizeof(array) / sizeof((array)[0])))

typedef enum {
    OFF,    /* calls pass: the program has not begun or has ended, or this is a child of it */
    LIVE,   /* calls are made and noted */
    REPLAY, /* calls are answered from the notes; nothing outside is touched */
} Mode;

/* state.c */

extern Mode mode;
extern __thread int inside __attribute__((tls_model("initial-exec"))); /* this thread executes the program */
extern __thread int is_read_only; /* it executes the client's request at a moment of the past, and may change nothing */

/* Whether a call is not the program's, or not to be noted. */
static inline int passes(void) { return !inside || mode == OFF; }

/* An expression at a moment of the past cannot change anything outside. */
static inline int refuses(void)
{
    if (!is_read_only) return 0;
    errno = EROFS;
    return 1;
}

extern int is_past;            /* this process is no more the live program */
extern int copies;             /* that the live program has had made */
extern int has_arrived;        /* the engine of a replay takes part */
extern int may_branch;         /* such a process may take the place of the live program (branch.c) */
extern uint64_t goal;          /* of this replay */
extern char replay_kind[16];   /* its purpose */
int is_kind(const char *kind); /* whether it has this purpose */

extern int is_recording;       /* this process writes the notes of a recording */
extern int is_recorded;        /* they are of a recording: made with no clock, until the program has had threads */
extern int is_forked;          /* it is a child, or executes one again: calls pass until the interpreter has noticed that */
extern int has_threads;        /* the program has more than one, or has asked for nothing since it had */
extern uint64_t threads_since; /* the clock as of which that one is counted which notes have then, */
extern uint64_t rested_at;     /* and this is that one else */

extern uint64_t log_place;         /* where this process is in the log */
extern uint64_t ticks;             /* the clock: lines of the program that were begun */
extern uint64_t bytes_written;     /* by the program to its standard output and error, up to where this process is */
extern uint64_t clock_target;      /* where the clock is looked at next */
extern uint64_t clock_usual_until; /* a line before this clock is counted, and nothing else is to be done there */
void be_due(void);                 /* have the clock looked at, at the next line */
void look_at_each_line(void);      /* where more is to be done than to count it: in the past, or if it is noted */

extern uint64_t recorded_time; /* of a recording: microseconds since 1970, as the recorded program has seen them */
void program_time(int64_t seconds, int64_t nanoseconds);

uint64_t now(void);                 /* nanoseconds, from the system itself */
#define LOWEST_OF_OURS 4000         /* descriptors of the debugger are moved there, */
#define MOST_OF_OURS 96             /* and these are so many at most */
void *map_ours(size_t size);        /* memory apart from the program's; MAP_FAILED */
int out_of_the_way(int descriptor); /* its duplicate where no program looks for one, or itself */

/* Functions of higher parts, for lower ones; `module.c` has the table. */
typedef struct {
    void (*on_libraries)(void);
    void (*on_divergence)(const char *call, const char *noted, uint64_t when);
    void (*on_end)(void);
    PyObject *(*on_goal)(void);
    int (*on_copy_due)(void);
    uint64_t (*signals_due)(void);
    int (*has_signals)(void);
    void (*on_signals)(uint64_t signals);
    void (*on_tick)(void);
    int (*on_handlers_due)(void);
    void (*on_second_thread)(void);
    void (*on_note)(void);
    void (*on_fork)(void);
    void (*on_signal_taken)(void);
    void (*on_output)(int descriptor, const void *place, int64_t size);
    void (*on_recording_over)(const char *reason);
    void (*on_exit)(int code);
} Above;
extern const Above above;

/* recording.c: notes in a file, of a program that is not debugged; and the program that is executed again by them */

extern PyMethodDef recording_methods[];

/* Whether this process is executed again by the notes of a recording, and has not been copied from the one that is. */
int is_executed_again(void);
void begin_threads(void);                                       /* before there is more than one */
void after_note(void);
void rest_for_fork(void);                                       /* it has no thread of ours then */
void print_again(int descriptor, const void *place, int64_t size); /* the recorded program's output */
void say_end_of_recording(const char *how);                     /* does not return */
void end_recording(const char *reason);                         /* the program keeps running without */
void note_exit(int code);                                       /* the process ends now */
void delay_signal(void);                                        /* a handler has taken one; the clock may not run */

/* slots.c */

typedef struct {
    const char *name;
    void *hook;
    void **real;
} Hook;

int find_real_functions(void); /* -1 with an exception set */

void set_slots(void); /* of all objects that are loaded by now */

/* Each table ends with a NULL name. */
extern const Hook object_hooks[], time_hooks[], file_hooks[], descriptor_hooks[], terminal_hooks[], mapping_hooks[],
    stream_hooks[], process_hooks[], signal_hooks[], user_hooks[], socket_hooks[], waiting_hooks[], name_hooks[],
    semaphore_hooks[], library_thread_hooks[];
/* Only for the object that is the interpreter; they come first there. */
extern const Hook interpreter_hooks[], interpreter_semaphore_hooks[];

/* objects.c */

int is_object_memory(const void *block); /* where the program's objects lie; all of it can be read */
uint32_t *number_of_object(const void *object); /* 0 when the object is made; NULL for objects elsewhere */
void place_objects(void); /* of the program */
void take_freed_aside(void); /* before a copy is made */
/* This thread does work of the debugger that is repeated each time the program is executed, live or in a replay. */
extern __thread int is_done_again __attribute__((tls_model("initial-exec")));
void empty_lists(void);   /* before it begins */
void lists_of_debugger(void);
void lists_of_program(void);

/* objects_at.c */

int is_object_at(uintptr_t place, uintptr_t type); /* with its type at an address; of the program, and alive */
extern PyMethodDef object_methods[];

/* lock_clock.c */

void find_time_of_lock(void); /* after the slots were set */
int is_time_of_lock(const void *const *frame, const void *returns_to); /* of a hook that is asked for the time */

/* calls_openssl.c */

void take_random_numbers(const char *library); /* of a libcrypto that is loaded */

/* heap.c: around a call of the C library that allocates memory which a replay does not. Only for calls of the program. */

extern const Hook heap_hooks[];
int make_heap(void);
void begin_aside(void);
void end_aside(void);

/* log.c: the notes, which the process and its checkpoints share */

typedef struct {
    void *place;
    size_t size; /* room in replay; the size in live */
} Part;

/* The clock as the notes have it. */
static inline uint64_t clock_of_notes(void)
{
    if (!is_recorded) return ticks;
    return has_threads ? ticks - threads_since : rested_at;
}

int make_log(void);
int record_log(const char *path, uint64_t most); /* in a file, of so many bytes at most */
int record_log_of_fork(const char *path); /* from here on, in a child */
int read_log(const char *path);
void end_log_here(void);            /* later records are dropped */
/* Record a call: its arguments (a hash), its result, errno if that is negative, and the memory that it has filled. */
int64_t record_call(const char *call, uint64_t key, int64_t result, const Part *parts, int count);

/* Answer a call from the notes; does not return if the next note is of another. */
int64_t replay_call(const char *call, uint64_t key, Part *parts, int count);

/* The tick at which a signal was delivered, if that is the next note; UINT64_MAX else. */
uint64_t tick_of_signal(void);
int signal_is_due(void);

/* Whether the next record is of this call: for calls that are recorded only if their result was unexpected. */
int next_is(const char *call, uint64_t key);

/* The replay has diverged from the recorded process: does not return. */
void diverged_here(const char *call);

/* A part of the next note that is of unknown size: borrowed from the log, valid until the process ends. */
int64_t replay_call_whole(const char *call, uint64_t key, const void **place, size_t *size);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_text(const char *text);
uint64_t hash_written(uint64_t seed, const void *place, size_t size); /* of a program's output */
static inline uint64_t hash_number(uint64_t seed, uint64_t number) { return (seed ^ number) * 0x9E3779B97F4A7C15u; }
static inline uint64_t hash_three(int64_t a, int64_t b, int64_t c)
{
    return hash_number(hash_number(hash_number(0, (uint64_t)a), (uint64_t)b), (uint64_t)c);
}

#define MOST_NAMES 1024
#define NAME_SIZE 32

typedef struct {
    uint64_t end;      /* where the next note comes, in bytes from the beginning of the log */
    uint64_t exit;     /* of a recorded process: 1 + its exit code, if it has ended by itself; or EXECUTED */
    uint64_t collections; /* how many were noted (collector.c) */
    uint64_t ticks;    /* the clock of the live program when it last stopped, or ended */
    char why[NAME_SIZE * 2]; /* its recording ended before, or the library whose thread has ended the history */
    uint64_t names;
    char name[MOST_NAMES][NAME_SIZE]; /* of calls: notes have their numbers */
} LogHead;

#define EXECUTED UINT64_MAX /* another program has taken its place */

extern LogHead *log_head;

/* steps.c: when each frame has begun its latest line, in a replay that looks for where to step back to */

int find_current_frame(void);
const void *current_frame(void);
const void *frame_of_object(PyObject *frame);
const void *frame_of_thread(const PyThreadState *state);
void note_step(const void *code, uint64_t when); /* of the frame that is being executed */
int64_t step_of(PyObject *frame); /* -1: it had begun before, 0: it has begun no line */
int64_t first_step_of(PyObject *frame); /* the same, of its first line */
uint64_t identity_of(PyObject *frame);  /* where the interpreter has it: the same in all copies, suspended or not */
int64_t step_of_identity(uint64_t identity);
int64_t first_step_of_identity(uint64_t identity);
void forget_steps(void);
size_t read_safely(void *place, const void *from, size_t size); /* how much of it there is */

/* hashes.c: of objects in a recording */

int number_hashes(void);

/* frame_traces.c: objects that the debugger leaves in a frame */

void find_traces(void); /* called by a function in Python */
void remove_traces(void); /* from the frame that the thread executes */

/* collector.c */

typedef struct {
    int was_enabled, counts[3];
} Counters;

int find_collector(void); /* -1 with an exception set */
int is_time_of_collection(void); /* said of the calling thread */
extern PyObject *call_tracing; /* `sys.call_tracing`: calls a function as if no callback were being called */
Counters hold_counters(void);
void release_counters(const Counters *held);
extern const int *young_count;
extern int young_at_tick;
int collect_due(void); /* -1 with an exception set */
int aim_collector(void);
void forget_later_collections(void);
void count_as_live(void); /* in a process that has shown the past, when its first line begins */
int record_collections(const char *path);
int record_collections_of_fork(const char *path);
uint64_t count_collections(void); /* up to where this process is */
int read_collections(const char *path);
void aim_collector_at_note(void);
void collect_due_before_note(void);

/* branch.c */

extern PyMethodDef branch_methods[];

/* calls_mappings.c: memory that the program shares with others, which a copy must have for itself */

int shares_memory(void);
extern int has_shared_memory; /* this process has a copy of such memory, for itself */
int shares_too_much(void);      /* for a copy */
void own_shared_memory(void); /* in a copy */

/* calls_signals.c: a bit for each; called by the code that records and replays calls, and by the clock */

void take_over_signals(void);   /* whose handlers are set already */
void keep_signals_away(void);   /* in a copy */
void have_signals_again(void);  /* in a process that shows the past no more */
uint64_t signals_taken(void);   /* that are to be delivered now */
int is_signal_pending(void);
void deliver(uint64_t signals); /* call the handlers of the program */
void deliver_at_tick(void);
int call_handlers(void);        /* of those that were delivered, in Python; -1 with an exception set */

/* checkpoints.c */

void be_live(void);      /* it does */
int begin_checkpoints(const char *path, const char *token, PyObject *arrive);
PyObject *arrive(void);        /* do its work */
void diverged(const char *call, const char *noted, uint64_t when);
void reached_end(void);
void program_returned(void); /* the same, where nothing is left to do but the interpreter's end */
extern PyMethodDef checkpoint_methods[];
int checkpoint(void); /* 1 in a process that replays from it, -1 if there can be none now */

/* clock.c */

extern PyMethodDef clock_methods[];
PyObject *on_line(PyObject *self, PyObject *const *args, size_t given, PyObject *names);
void begin_clock(uint64_t nanoseconds); /* between copies */
void go_on_live(void);                  /* in a process that has shown the past */
extern int has_stood;                   /* the program continues from a stop now */
int go_on_from_stop(const void *code);  /* at its position; 1 in a replay from there, -1 with an exception */
void aim(void);                         /* the number of threads has changed */

/* counted.c */

extern PyMethodDef counted_methods[];
extern int is_tracking; /* the lines of frames are noted (steps.c) */
int is_counted(PyObject *code);
int begin_counting(int tool, PyObject *counts, PyObject *set_local_events);
int begin_tracking(PyObject *called_at_return, PyObject *called_at_resume); /* or NULL */

/* throws.c */

extern PyMethodDef throw_methods[];

/* writes.c */

extern PyMethodDef write_methods[];
extern int must_look_at_writes;
void watch_births(uintptr_t place, uintptr_t type); /* of objects of a type at an address, from here on; 0: of none */
int look_at_writes(PyObject *code, PyObject *line); /* that begins; -1 with an exception set */

/* contexts.c */

extern PyMethodDef context_methods[];
PyObject *make_on_line(void);

/* engine_context.c */

PyObject *call_in_engine_context(PyObject *function, PyObject *const *args, size_t given, PyObject *names); /* nothing is noted */
int find_handlers(void);    /* -1 with an exception set */
int let_handlers_run(void); /* of signals that were delivered, as part of the program; -1 with their exception */
PyObject *call_after_handlers(vectorcallfunc call, PyObject *function, PyObject *const *args, size_t given, PyObject *names);

/* scheduler.c: one thread of the program at a time has the turn, and executes it */

extern int thread_count; /* threads of the program that have not ended */
extern int has_reclaimed_stacks;      /* the C library has forked this process, or one that it was copied from */
extern int history_ends_with_threads; /* it is to end where there would be more than one */

/* Around a call that may block; the thread must have let go of the interpreter, or it keeps its turn:

       if (before_blocking()) {
           result = real_X(...);
           after_blocking();
           return record_call("X", ...);
       }
       return replay_call("X", ...);

   The call is made only where `before_blocking` says so. Others execute the program meanwhile. errno is kept. */
int before_blocking(void);
void after_blocking(void);

/* The result of such a call. */
#define BLOCKING(call)                                                                                                 \
    ({                                                                                                                 \
        __typeof__(call) result_of_call = (call);                                                                      \
        after_blocking();                                                                                              \
        result_of_call;                                                                                                \
    })

void register_main_thread(void);
int has_interpreter(void); /* this thread has the interpreter's lock */
int be_only_thread(void);  /* in a child; 0 if the threads of the program are not known */
int watch_thread_count(void);  /* -1 with an exception set */
void yield_turn(void);         /* with the interpreter's lock; others may execute the program before it returns */
void let_threads_go(void);     /* after mode was set to OFF: no more turns */
void lock_turns(void);         /* around the making of a copy */
void unlock_turns(void);
void repair_interpreter(void); /* in a copy: the next steps of threads that it does not have */

#pragma GCC visibility pop

#endif
