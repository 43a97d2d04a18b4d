"""Functions of the C library that are called by their names, and a library that connects by itself."""

import ctypes
import time
import uuid

libc = ctypes.CDLL(None, use_errno=True)
s_numbers = []
s_identifiers = []

begin = time.monotonic()
while len(s_numbers) < 3 or time.monotonic() < begin + 0.3:
    seed = libc.time(None)
    libc.srand(seed)
    spent = ctypes.create_string_buffer(16)
    libc.clock_gettime(1, spent)
    s_numbers.append((seed, libc.rand(), libc.getpid(), spent.raw))
    s_identifiers.append(uuid.uuid1())  # libuuid asks its daemon, at an address with bytes that nobody has set

made = libc.syscall(425, 4, ctypes.create_string_buffer(120))  # io_uring_setup: libraries do without
s_rings = (made, ctypes.get_errno())
