/* When each frame has begun its latest line: a table by address, in a memory that the program's objects do not share.

   A frame object that the program does not have would be one object more for the garbage collector, which then runs at
   other moments. So the interpreter's own frame is looked up instead: in CPython 3.12 to 3.15 a frame object has a
   pointer to it, and the state of the thread too, directly or by one pointer more. Where in there is found out. */

#include "time_travel.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define POINTER_IN_OBJECT 24 /* behind the head of the object and `f_back` */
#define STATE_SIZE 1024

typedef struct {
    const void *frame; /* of the interpreter; NULL if it does not exist */
    const void *code;  /* that it executes: addresses of frames are used again */
    uint64_t ticks;    /* 0: it has begun, but no line yet */
    uint64_t first;    /* line of the frame; 0: it had begun before, or no line yet */
    int has_begun;     /* since we look */
} Step;

static Step *steps;
static size_t room, used;
static int offset = -1, is_indirect;

size_t read_safely(void *place, const void *from, size_t size)
{
    struct iovec here = {place, size}, there = {(void *)from, size};
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

const void *frame_of_object(PyObject *frame) { return *(void **)((char *)frame + POINTER_IN_OBJECT); }

/* Learn where the thread's state has its frame; called by a function in Python. */
int find_current_frame(void)
{
    PyObject *object = (PyObject *)PyEval_GetFrame();
    if (object == NULL) return -1;
    const void *frame = frame_of_object(object), *state[STATE_SIZE / sizeof(void *)], *behind;
    size_t count = read_safely(state, PyThreadState_Get(), sizeof state) / sizeof *state;
    for (int indirect = 0; indirect < 2; indirect++)
        for (size_t i = 0; i < count; i++) {
            if (!indirect) behind = state[i];
            else if (state[i] == NULL || read_safely(&behind, state[i], sizeof behind) < sizeof behind) continue;
            if (behind != frame) continue;
            offset = (int)(i * sizeof(void *));
            is_indirect = indirect;
            return 0;
        }
    return -1;
}

/* NULL where the thread executes no Python, or where it is not known where its state has the frame. */
const void *frame_of_thread(const PyThreadState *state)
{
    if (offset < 0) return NULL;
    const void *found = *(void *const *)((const char *)state + offset);
    return is_indirect ? *(void *const *)found : found;
}

const void *current_frame(void)
{
    return offset < 0 ? frame_of_object((PyObject *)PyEval_GetFrame()) : frame_of_thread(PyThreadState_Get());
}

static size_t place_of(const void *frame)
{
    size_t place = ((uintptr_t)frame >> 3) * 0x9E3779B97F4A7C15u & (room - 1);
    while (steps[place].frame != NULL && steps[place].frame != frame) place = (place + 1) & (room - 1);
    return place;
}

static int make_room(void)
{
    size_t wanted = room == 0 ? 1024 : room * 2;
    Step *before = steps;
    size_t count = room;
    Step *made = map_ours(wanted * sizeof *made);
    if (made == MAP_FAILED) return -1;
    steps = made;
    room = wanted;
    for (size_t i = 0; i < count; i++)
        if (before[i].frame != NULL) steps[place_of(before[i].frame)] = before[i];
    if (before != NULL) munmap(before, count * sizeof *before);
    return 0;
}

void note_step(const void *code, uint64_t when)
{
    if (used * 2 >= room && make_room() < 0) return;
    const void *frame = current_frame();
    Step *step = &steps[place_of(frame)];
    if (step->frame == NULL) used++;
    int is_known = step->frame == frame && step->code == code && when != 0;
    uint64_t first = is_known ? step->first : 0;
    int has_begun = is_known ? step->has_begun : when == 0;
    *step = (Step){frame, code, when, has_begun && first == 0 ? when : first, has_begun};
}

static const Step *known_step(PyObject *frame)
{
    if (room == 0) return NULL;
    const void *wanted = frame_of_object(frame);
    const Step *step = &steps[place_of(wanted)];
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
    int is_known = step->frame == wanted && step->code == code;
    Py_DECREF(code);
    return is_known ? step : NULL;
}

int64_t step_of(PyObject *frame)
{
    const Step *step = known_step(frame);
    return step == NULL ? -1 : (int64_t)step->ticks;
}

int64_t first_step_of(PyObject *frame)
{
    const Step *step = known_step(frame);
    return step == NULL || !step->has_begun ? -1 : (int64_t)step->first;
}

uint64_t identity_of(PyObject *frame) { return (uint64_t)(uintptr_t)frame_of_object(frame); }

static const Step *step_at(uint64_t identity)
{
    const void *wanted = (const void *)(uintptr_t)identity;
    const Step *step = room == 0 ? NULL : &steps[place_of(wanted)];
    return step == NULL || step->frame != wanted ? NULL : step;
}

int64_t step_of_identity(uint64_t identity)
{
    const Step *step = step_at(identity);
    return step == NULL ? -1 : (int64_t)step->ticks;
}

int64_t first_step_of_identity(uint64_t identity)
{
    const Step *step = step_at(identity);
    return step == NULL || !step->has_begun ? -1 : (int64_t)step->first;
}

void forget_steps(void)
{
    if (room != 0) memset(steps, 0, room * sizeof *steps);
    used = 0;
}
