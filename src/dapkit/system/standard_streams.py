"""Facts and functions of the standard streams that Python does not have."""

import os
import stat
import sys

if sys.platform == "win32":
    import _winapi
    import errno
    import io
    import msvcrt
    from collections.abc import Buffer

    class _PipeEnd(io.FileIO):
        """A pipe whose reader may go away, which Windows reports as an invalid argument."""

        def write(self, data: Buffer) -> int:
            try:
                return super().write(data)
            except OSError as error:
                if error.errno == errno.EINVAL:
                    raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from error
                raise

    def notice_broken_output() -> None:
        """Let writes to standard output raise BrokenPipeError where its reader has gone, as on other systems."""
        output = sys.stdout
        if isinstance(output, io.TextIOWrapper) and stat.S_ISFIFO(os.fstat(output.fileno()).st_mode):
            end = io.BufferedWriter(_PipeEnd(output.fileno(), "wb", closefd=False))
            sys.stdout = io.TextIOWrapper(end, output.encoding, output.errors, line_buffering=output.line_buffering)

    def has_lost_reader() -> bool:
        """Return whether standard output is a pipe whose reader has gone, without writing to it."""
        try:
            _winapi.WriteFile(msvcrt.get_osfhandle(sys.stdout.fileno()), b"")
        except BrokenPipeError:
            return True
        except OSError:  # it is closed, or is something else
            return False
        return False

    def _bytes_in_pipe(descriptor: int) -> int:
        return int(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), 0)[0])

else:

    def notice_broken_output() -> None:
        """Do nothing: the system raises BrokenPipeError by itself."""

    def has_lost_reader() -> bool:
        """Return whether standard output is a pipe whose reader has gone, without writing to it."""
        import select

        poll = select.poll()
        poll.register(sys.stdout, 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))

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
