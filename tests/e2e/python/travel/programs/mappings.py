"""Memory of files, and memory that would be shared."""

import mmap
import tempfile
import time

s_read = []

shared = mmap.mmap(-1, 8192)
end = time.monotonic() + 0.4
number = 0
with tempfile.TemporaryFile() as kept:
    kept.write(b"kept " * 3000)
    kept.flush()
    long_lived = mmap.mmap(kept.fileno(), 0)
    while time.monotonic() < end:
        with tempfile.TemporaryFile() as file:
            file.write(f"{time.time_ns()} ".encode() * 300)
            file.flush()
            with mmap.mmap(file.fileno(), 0) as memory:
                s_read.append((memory[5:12], memory.find(b" "), len(memory)))
                memory[0:3] = b"new"
                memory.flush()
                file.seek(0)
                s_read.append(file.read(12))
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
                s_read.append(memory[:20])
        long_lived[number] = (long_lived[number] + number) % 256
        shared[number % 8192] = (shared[number % 8192] + number) % 256
        s_read.append((long_lived[: number + 3][-5:], shared[: number % 8192 + 1][-5:]))
        number += 1
    s_shared = hash(shared[:])
    s_kept = hash(long_lived[:])
    long_lived.close()
pass
