"""Locks that processes share: a replay does not touch those of the live program."""

import os
import threading
from _multiprocessing import SemLock

s_events = []
SEMAPHORE = 1


def named(value):
    """As multiprocessing makes them, but without its process that looks after the names."""
    return SemLock(SEMAPHORE, value, value, f"/dapkit-{os.urandom(8).hex()}", True)


lock, few = named(1), named(2)


def loop(lines):
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


def work(number):
    for step in range(50):
        with lock:
            s_events.append((number, step))
            loop(20)
        if few.acquire(True, 0.001):
            loop(10)
            few.release()
        got_it = lock.acquire(False)
        s_events.append(got_it)
        if got_it:
            lock.release()


for s_round in range(3):
    s_loop = loop(40000)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
s_free = lock.acquire(True, 0.01)
s_taken = lock.acquire(True, 0.01)
s_count = len(s_events)
s_end = s_events[-9:]
pass
