"""Descriptors: pipes, duplicates, vectors, locks, events, what may be asked of them."""

import fcntl
import os
import tempfile
import termios
import time

s_read = []
s_asked = []


def use(number: int) -> None:
    ours, theirs = os.pipe()
    other = os.dup(theirs)
    os.write(other, f"{time.time_ns()}".encode())
    os.set_blocking(ours, False)
    s_asked.append((ours, theirs, other, os.get_blocking(ours), os.get_inheritable(other)))
    s_asked.append(fcntl.ioctl(ours, termios.FIONREAD, b"\0" * 4))
    s_read.append(os.read(ours, 100))
    try:
        os.read(ours, 1)
    except BlockingIOError as error:
        s_asked.append(str(error))
    with os.fdopen(theirs, "w") as writes, os.fdopen(ours) as reads:
        writes.write("line\n" * 3)
        writes.flush()
        s_read.append(reads.readline())
    os.close(other)
    with tempfile.TemporaryFile() as file:
        descriptor = file.fileno()
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        os.writev(descriptor, [b"one", b"two", str(number).encode()])
        buffers = [bytearray(2), bytearray(9)]
        s_read.append((os.preadv(descriptor, buffers, 0), buffers, os.pread(descriptor, 3, 2)))
        os.pwrite(descriptor, b"!", 1)
        os.ftruncate(descriptor, 5)
        s_read.append((os.lseek(descriptor, 0, os.SEEK_SET), os.read(descriptor, 10), os.isatty(descriptor)))
        s_asked.append((os.fstat(descriptor).st_mtime_ns, os.fstatvfs(descriptor).f_bsize))
        os.dup2(descriptor, descriptor + 1)
        os.close(descriptor + 1)
    event = os.eventfd(3)
    s_read.append(os.eventfd_read(event))
    os.close(event)
    memory = os.memfd_create("memory")
    s_read.append(os.write(memory, b"x" * number))
    os.close(memory)


end = time.monotonic() + 0.4
number = 0
while time.monotonic() < end:
    use(number)
    number += 1
pass
