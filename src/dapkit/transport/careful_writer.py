"""Writing to a blocking descriptor that cannot be opened again, without waiting for its reader."""

import errno
import os
import select

from dapkit.transport.descriptors import DescriptorWriter


def careful_writer(fd: int) -> DescriptorWriter:
    """Return a writer for a blocking descriptor: as much as a pipe takes for certain once it is ready."""
    ready = select.poll()
    ready.register(fd, select.POLLOUT)

    def write(data: memoryview) -> int:
        if not ready.poll(0):
            raise BlockingIOError(errno.EAGAIN, "not ready")
        return os.write(fd, data[: select.PIPE_BUF])

    return DescriptorWriter(fd, write=write, close=lambda: os.close(fd))
