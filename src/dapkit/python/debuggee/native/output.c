/* Where in the program's output a log message belongs.

   The adapter shares memory with the engine: for each pipe the number of bytes that it has read, and the number of
   messages that the engine has made. The bytes that it has read and the bytes in the pipe are all bytes ever written
   there, and that number only grows. So a pipe in which nothing was written since its last mark needs no other; and one
   with a mark to which nothing was added but the mark is known to have nothing behind it. While the adapter reads, the
   sum cannot be known: the pipe is marked then.

   Threads share the state of the pipes, under `lock_state`. An old sum does no harm: a pipe never comes to it again. */

#define _GNU_SOURCE
#include "native.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPES = 2, MESSAGES = PIPES, WORDS }; /* of the memory; `python/adapter/engine/marked_output.py` says the same */

enum { BEGINS = 32, DIGITS = 24 }; /* room for the beginning of a mark, and for the rest */

enum { IS_READING = 1 }; /* in the word of a pipe; the rest is the number of bytes, times two */

typedef struct {
    unsigned long long device, inode;
    long long end;  /* bytes written when nothing was behind the last mark; -1: not known */
    long long mark; /* the number of that mark; 0: the beginning */
} Pipe;

typedef struct {
    uint64_t *words;
    Pipe pipes[PIPES];
    char begins[BEGINS]; /* the beginning of a mark; its number and a NUL follow */
    Py_ssize_t begins_size;
} Marker;

/* Return all bytes ever written to the pipe, or -1. The kernel's lock of the pipe orders its bytes and the adapter's words.
   */
static long long written_to(const Marker *marker, int pipe)
{
    int waiting;
    uint64_t read = __atomic_load_n(&marker->words[pipe], __ATOMIC_SEQ_CST);
    if (read & IS_READING || ioctl(pipe + 1, FIONREAD, &waiting) < 0) return -1;
    if (__atomic_load_n(&marker->words[pipe], __ATOMIC_SEQ_CST) != read) return -1;
    return (long long)(read >> 1) + waiting;
}

static int is_ours(const Pipe *pipe, int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && status.st_dev == pipe->device && status.st_ino == pipe->inode;
}

/* Write a mark: 1, 0 if that cannot be, or -1 with an exception of a signal handler. It waits while the pipe is full,
   and the adapter may read on only when other threads of the debugger have done something. */
static int write_mark(int descriptor, const char *mark, int size)
{
    for (;;) {
        ssize_t written;
        int problem;
        Py_BEGIN_ALLOW_THREADS
        written = write(descriptor, mark, (size_t)size);
        problem = errno;
        Py_END_ALLOW_THREADS
        if (written >= 0) return 1;
        if (problem != EINTR) return 0; /* it is closed, or full and does not block */
        if (PyErr_CheckSignals() < 0) return -1;
    }
}

/* Return the number of the mark that the message is behind: an older one, or one of its own; 0 where the descriptor is
   another; -1 with an exception. Other threads may do the same meanwhile: then there is more behind the mark.
   If the descriptor is another and seems to stand where the pipe did, the message is behind the old mark all the same. */
static long long mark_before(Marker *marker, int index, long long number)
{
    Pipe *pipe = &marker->pipes[index];
    long long before = written_to(marker, index);
    lock_state();
    long long last = before >= 0 && before == pipe->end ? pipe->mark : -1;
    unlock_state();
    if (last >= 0) return last;
    if (!is_ours(pipe, index + 1)) return 0;
    char mark[BEGINS + DIGITS];
    memcpy(mark, marker->begins, (size_t)marker->begins_size);
    int size = (int)marker->begins_size;
    size += snprintf(mark + size, DIGITS, "%lld", number) + 1; /* with the NUL */
    int is_marked = write_mark(index + 1, mark, size);
    if (is_marked <= 0) return is_marked;
    long long after = written_to(marker, index);
    lock_state();
    /* A lower number than the number of a mark before it says nothing about the output between the two. */
    int is_last = before >= 0 && after == before + size && number > pipe->mark;
    pipe->end = is_last ? after : -1;
    if (number > pipe->mark) pipe->mark = number;
    unlock_state();
    return number;
}

static PyObject *serve_message(PyObject *object, PyObject *const *args, size_t given, PyObject *names)
{
    Callback *self = callback_of(object);
    Marker *marker = self->data;
    if (check_call(given, names, 3, 3) < 0) return NULL;
    long long number = count_one(&self->count), behind[PIPES];
    PyObject *message = NULL;
    Py_INCREF(object);
    for (int i = 0; i < PIPES; i++)
        if ((behind[i] = mark_before(marker, i, number)) < 0) goto done;
    message = Py_BuildValue("(OOLLL)", args[1], args[2], number, behind[0], behind[1]);
    if (message == NULL || PyList_Append(args[0], message) < 0) {
        Py_CLEAR(message);
        goto done;
    }
    /* Later output of the program waits for it. */
    lock_state();
    if (__atomic_load_n(&marker->words[MESSAGES], __ATOMIC_SEQ_CST) < (uint64_t)number)
        __atomic_store_n(&marker->words[MESSAGES], (uint64_t)number, __ATOMIC_SEQ_CST);
    unlock_state();
done:
    Py_DECREF(object);
    if (message == NULL) return NULL;
    Py_DECREF(message);
    return PyLong_FromSsize_t(PyList_Size(args[0]));
}

static void free_marker(void *data) { munmap(((Marker *)data)->words, WORDS * sizeof(uint64_t)); }

/* Return the adapter's memory, if the path still leads to it; else NULL with OSError. */
static uint64_t *shared_words(const char *path, unsigned long long device, unsigned long long inode)
{
    struct stat status;
    void *words = MAP_FAILED;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor >= 0) {
        if (fstat(descriptor, &status) < 0 || status.st_dev != device || status.st_ino != inode
            || (size_t)status.st_size < WORDS * sizeof(uint64_t))
            errno = ESTALE;
        else
            words = mmap(NULL, WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        int problem = errno;
        close(descriptor);
        errno = problem;
    }
    if (words != MAP_FAILED) return words;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    return NULL;
}

static PyObject *output_marker(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *path;
    PyObject *begins;
    unsigned long long device, inode;
    Marker made = {0};
    Pipe *out = &made.pipes[0], *err = &made.pipes[1];
    if (!PyArg_ParseTuple(args, "s(KK)(KK)(KK)S:output_marker", &path, &device, &inode, &out->device, &out->inode,
                          &err->device, &err->inode, &begins))
        return NULL;
    made.begins_size = PyBytes_Size(begins);
    if (made.begins_size > BEGINS) return PyErr_Format(PyExc_ValueError, "a mark begins with %d bytes at most", BEGINS);
    memcpy(made.begins, PyBytes_AsString(begins), (size_t)made.begins_size);
    PyObject *marker = new_callback(serve_message, sizeof(Marker));
    if (marker == NULL) return NULL;
    if ((made.words = shared_words(path, device, inode)) == NULL) {
        Py_DECREF(marker);
        return NULL;
    }
    *(Marker *)callback_of(marker)->data = made;
    callback_of(marker)->free_data = free_marker;
    return marker;
}

PyMethodDef output_methods[] = {
    {"output_marker", output_marker, METH_VARARGS, PyDoc_STR(
        "output_marker(path, memory, stdout, stderr, begins, /)\n--\n\n"
        "Make what numbers log messages, and marks the pipes that the descriptors 1 and 2 are where it has to.\n\n"
        "The path leads to the memory that the adapter shares; it and the pipes are identified by device and inode.\n"
        "A mark begins with these bytes; its number and a NUL follow.\n"
        "`marker(queue, text, place)` adds `(text, place, number, mark in stdout, mark in stderr)` to a list, and returns\n"
        "how many are there. The marks are the last ones before the message; 0 is the beginning, or no pipe.")},
    {NULL, NULL, 0, NULL},
};
