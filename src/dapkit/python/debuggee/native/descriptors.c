/* Numbers for descriptors of the debugger above those that the program may count on, and whether they are still ours. */

#include "native.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* The soft limit is raised for a moment: numbers above it are not closed by a program that closes "all" descriptors. */
static PyObject *duplicate_above_limit(PyObject *Py_UNUSED(module), PyObject *args)
{
    int number, most, kept, made = -1;
    struct rlimit usual, raised;
    if (!PyArg_ParseTuple(args, "iii:duplicate_above_limit", &number, &most, &kept)) return NULL;
    lock_state();
    if (getrlimit(RLIMIT_NOFILE, &usual) == 0 && usual.rlim_cur <= (rlim_t)most && usual.rlim_max >= usual.rlim_cur + kept) {
        raised = usual;
        raised.rlim_cur += kept;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            made = fcntl(number, F_DUPFD_CLOEXEC, (int)usual.rlim_cur);
            setrlimit(RLIMIT_NOFILE, &usual);
        }
    }
    unlock_state();
    return PyLong_FromLong(made);
}

/* os.fstat lets go of the GIL, and waits for it as long as each thread of the program may have it. */
static PyObject *file_identity(PyObject *Py_UNUSED(module), PyObject *number)
{
    struct stat status;
    int descriptor = PyObject_AsFileDescriptor(number);
    if (descriptor < 0) return NULL;
    if (fstat(descriptor, &status) < 0) return PyErr_SetFromErrno(PyExc_OSError);
    return Py_BuildValue("KK", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
}

PyMethodDef descriptor_methods[] = {
    {"duplicate_above_limit", duplicate_above_limit, METH_VARARGS, PyDoc_STR(
        "duplicate_above_limit(descriptor, most, kept, /)\n--\n\n"
        "Duplicate a descriptor to one of the `kept` numbers from the soft limit on, if that is `most` at most, and below\n"
        "the hard limit. No child inherits it. -1 where that is not possible.")},
    {"file_identity", file_identity, METH_O, PyDoc_STR(
        "file_identity(descriptor, /)\n--\n\nReturn device and inode of what a descriptor stands for, or raise OSError.")},
    {NULL, NULL, 0, NULL},
};
