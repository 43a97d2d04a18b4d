"""Facts and functions of the standard streams that Python does not have."""

import os
import stat
import sys

if sys.platform == "win32":
    import _winapi
    import msvcrt

    def _bytes_in_pipe(descriptor: int) -> int:
        return int(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), 0)[0])

else:

    def _bytes_in_pipe(descriptor: int) -> int:
        import fcntl
        import struct
        import termios

        (size,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0)))
        return int(size)


def has_waiting_input() -> bool:
    """Return whether there is something to be read from standard input, which is a pipe or a file."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            return os.lseek(0, 0, os.SEEK_CUR) < status.st_size
        return stat.S_ISFIFO(status.st_mode) and _bytes_in_pipe(0) > 0
    except OSError:  # closed
        return False


def flush_c_streams() -> None:
    """Write the data that waits in the buffers of C, which Python knows nothing of."""
    import ctypes

    if sys.platform == "win32":
        ctypes.CDLL("ucrtbase").fflush(None)
    else:
        ctypes.CDLL(None).fflush(None)
