/* A replay process takes the place of the live program: the history after its moment is dropped, and it continues from
   there with the present state of the world.

       the live program, which is stopped ---its descriptors---> the replay process, which is live from then on

   The live program is ended by its parent afterwards. A descriptor that was open at that moment, and is the same one
   still, is had again; so is a file that was closed since, by its path. The position of each file is restored, except
   for standard output and error: printed text stays. */

#include "open_files.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE 200 /* the system passes 253 at most */

typedef struct {
    int number, flags; /* flags of the descriptor */
    uint64_t since;
} Given;

typedef union {
    struct cmsghdr head;
    char room[CMSG_SPACE(AT_ONCE * sizeof(int))];
} Control;

static PyObject *failed(void) { return PyErr_SetFromErrno(PyExc_OSError); }

static int send_some(int to, const Given *given, const int *descriptors, int count)
{
    Control control;
    struct iovec part = {(void *)given, (size_t)count * sizeof *given};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};
    memset(&control, 0, sizeof control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
    memcpy(CMSG_DATA(head), descriptors, (size_t)count * sizeof(int));
    ssize_t sent;
    while ((sent = sendmsg(to, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {}
    return sent < 0 ? -1 : 0;
}

/* Send the program's open files, in the live program, except numbers from one on, which are the debugger's. */
static PyObject *hand_over(PyObject *Py_UNUSED(module), PyObject *args)
{
    int to, below, count = 0, descriptors[AT_ONCE];
    Given given[AT_ONCE];
    if (!PyArg_ParseTuple(args, "ii", &to, &below)) return NULL;
    for (int number = 0; number < MOST_HELD && number < below; number++) {
        int flags = number == to ? -1 : fcntl(number, F_GETFD);
        if (flags < 0) continue;
        given[count] = (Given){number, flags, held[number].since};
        descriptors[count++] = number;
        if (count == AT_ONCE && send_some(to, given, descriptors, count) < 0) return failed();
        if (count == AT_ONCE) count = 0;
    }
    if (count > 0 && send_some(to, given, descriptors, count) < 0) return failed();
    Py_RETURN_NONE;
}

static Given taken[MOST_HELD];
static int place_of[MOST_HELD]; /* of each, above all that the program has; -1 for none */

/* How many came with a message; 0 at the end, -1 with errno set. */
static int take_some(int from, int lowest)
{
    Control control;
    Given given[AT_ONCE];
    int descriptors[AT_ONCE];
    struct iovec part = {given, sizeof given};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    while ((got = recvmsg(from, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head == NULL) return got < 0 ? -1 : 0;
    int count = (int)((size_t)got / sizeof *given), failed = 0;
    memcpy(descriptors, CMSG_DATA(head), (size_t)count * sizeof(int));
    for (int i = 0; i < count; i++) {
        int number = given[i].number;
        taken[number] = given[i];
        place_of[number] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, lowest);
        if (place_of[number] < 0) failed = errno;
        close(descriptors[i]);
    }
    errno = failed;
    return failed ? -1 : count;
}

static void close_taken(void)
{
    for (int number = 0; number < MOST_HELD; number++)
        if (place_of[number] >= 0) close(place_of[number]);
}

static int take_all(int from)
{
    struct rlimit usual, raised;
    int count;
    memset(place_of, -1, sizeof place_of);
    getrlimit(RLIMIT_NOFILE, &usual);
    raised = (struct rlimit){usual.rlim_max, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &raised);
    int lowest = usual.rlim_max > 2 * LOWEST_OF_OURS ? LOWEST_OF_OURS + MOST_OF_OURS : (int)usual.rlim_max / 2;
    while ((count = take_some(from, lowest)) > 0) {}
    int error = errno;
    setrlimit(RLIMIT_NOFILE, &usual);
    if (count < 0) close_taken();
    errno = error;
    return count;
}

/* The position of a file that was written to since: but printed text stays. */
static void go_to_place(int number)
{
    struct stat found;
    if (held[number].offset < 0 || number == 1 || number == 2) return;
    if (fstat(number, &found) == 0 && S_ISREG(found.st_mode)) lseek(number, held[number].offset, SEEK_SET);
}

/* Have a descriptor again that was open; 0 if it cannot be had. */
static int have_again(int number)
{
    int is_same = place_of[number] >= 0 && taken[number].since == held[number].since;
    int flags = is_same && taken[number].flags & FD_CLOEXEC ? O_CLOEXEC : 0;
    if (is_same) {
        if (dup3(place_of[number], number, flags) < 0) return 0;
    } else {
        close(number);
        int opened = held[number].path[0] ? open(held[number].path, held[number].flags | O_CLOEXEC) : -1;
        if (opened < 0) return 0;
        if (opened != number) {
            dup3(opened, number, O_CLOEXEC);
            close(opened);
        }
    }
    go_to_place(number);
    return 1;
}

static PyObject *why_not(void)
{
    const char *reason = !may_branch          ? "it was not launched so that it can"
                         : thread_count != 1  ? "there is more than one thread at that moment"
                         : has_shared_memory  ? "it has shared memory with files or processes by then"
                         : is_recorded        ? "a recording is executed again"
                         : mode != REPLAY     ? "this is not the past"
                                              : "";
    return PyUnicode_FromString(reason);
}

static PyObject *says_why_not(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing)) { return why_not(); }

/* Take the place of the live program, in a thread of the program. The numbers that could not be had again. */
static PyObject *branch(PyObject *Py_UNUSED(module), PyObject *args)
{
    int from, below;
    if (!PyArg_ParseTuple(args, "ii", &from, &below)) return NULL;
    PyObject *lost = PyList_New(0);
    if (lost == NULL) return NULL;
    int taken_all = take_all(from), error = errno;
    close(from);
    errno = error;
    if (taken_all < 0) {
        Py_DECREF(lost);
        return failed();
    }
    for (int number = 0; number < MOST_HELD && number < below; number++) {
        if (!is_held[number]) {
            if (number < 3) close(number);
            continue;
        }
        if (have_again(number)) continue;
        is_held[number] = 0;
        PyObject *told = PyLong_FromLong(number);
        if (told != NULL) PyList_Append(lost, told);
        Py_XDECREF(told);
    }
    close_taken();
    end_log_here();
    forget_later_collections();
    be_live();
    have_signals_again();
    go_on_live();
    return lost;
}

PyMethodDef branch_methods[] = {
    {"hand_over", hand_over, METH_VARARGS, NULL},
    {"why_no_branch", says_why_not, METH_NOARGS, NULL},
    {"branch", branch, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
