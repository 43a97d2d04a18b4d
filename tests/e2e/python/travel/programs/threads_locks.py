"""Threads that wait for each other by each kind of lock, with and without time limits."""

import threading
import time

s_events = []


def loop(lines):
    """Single-threaded work, so that checkpoints come."""
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


def in_threads(function, count):
    threads = [threading.Thread(target=function, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


s_total = 0
lock, recursive = threading.Lock(), threading.RLock()


def with_locks(number):
    global s_total
    for step in range(300):
        with lock:
            value = s_total
            value += 1
            s_total = value
        with recursive:
            with recursive:
                s_events.append(("recursive", number, step))
        if not lock.acquire(timeout=0.0001):
            s_events.append(("too long", number, step))
        else:
            loop(20)
            lock.release()
        if lock.acquire(blocking=False):
            lock.release()
        else:
            s_events.append(("taken", number, step))


in_threads(with_locks, 4)
s_loop = loop(20000)

condition, s_box = threading.Condition(), []


def with_condition(number):
    for step in range(100):
        with condition:
            if number % 2:
                s_box.append((number, step))
                condition.notify()
            elif not condition.wait_for(lambda: s_box, timeout=0.002):
                s_events.append(("empty", number, step))
            else:
                s_events.append(s_box.pop())
        loop(number * 3)


in_threads(with_condition, 4)
s_loop = loop(20000)

event, ready = threading.Event(), threading.Event()


def with_event(number):
    for step in range(5):
        s_events.append((number, event.wait(0.001 * (number + 1)), step))
        if number == 3 and step == 2:
            event.set()
    ready.set()


in_threads(with_event, 4)
s_events.append(ready.wait(1))
s_events.append(threading.Event().wait(0.003))
s_loop = loop(20000)

few = threading.BoundedSemaphore(2)
s_most = s_now = 0


def with_semaphore(number):
    global s_most, s_now
    for step in range(50):
        with few:
            s_now += 1
            s_most = max(s_most, s_now)
            loop(30)
            if step % 10 == 0:
                time.sleep(0.0005)
            s_now -= 1
        if few.acquire(timeout=0.0002):
            few.release()
        else:
            s_events.append(("full", number, step))


in_threads(with_semaphore, 5)

barrier = threading.Barrier(4)


def with_barrier(number):
    for step in range(10):
        time.sleep(0.0002 * number)
        s_events.append((barrier.wait(), number, step))
    if number < 2:
        try:
            barrier.wait(0.003)
        except threading.BrokenBarrierError:
            s_events.append(("broken", number))


in_threads(with_barrier, 4)
s_loop = loop(50000)
s_count = len(s_events)
s_hash = sum(len(str(e)) * n for n, e in enumerate(s_events))
s_end = s_events[-5:]
pass
