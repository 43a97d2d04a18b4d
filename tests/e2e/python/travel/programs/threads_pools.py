"""Pools of threads, data of one thread each, and timers."""

import concurrent.futures
import threading
import time

s_events = []
local = threading.local()


def loop(lines):
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


def task(number):
    local.count = getattr(local, "count", 0) + 1
    if number % 5 == 0:
        time.sleep(0.0007 * (number % 4))
    if number % 13 == 12:
        raise ArithmeticError(number)
    return number, loop(number * 10), local.count, threading.current_thread().name


for s_round in range(2):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        s_mapped = list(pool.map(task, range(12)))
        s_done = []
        for future in concurrent.futures.as_completed([pool.submit(task, n) for n in range(40)]):
            try:
                s_done.append(future.result())
            except ArithmeticError as error:
                s_done.append(repr(error))
        slow = pool.submit(time.sleep, 0.01)
        try:
            slow.result(timeout=0.002)
        except TimeoutError:
            s_events.append("too long")
        s_waited = concurrent.futures.wait([slow])
        s_states = [len(s_waited.done), len(s_waited.not_done)]
    s_waited = None
    s_loop = loop(40000)


s_timers = []
timers = [threading.Timer(0.003 - 0.001 * n, s_timers.append, (n,)) for n in range(3)]
timers.append(threading.Timer(10, s_timers.append, ("never",)))
for timer in timers:
    timer.start()
timers[-1].cancel()
for timer in timers:
    timer.join()
s_loop = loop(40000)

s_number = len(s_events)
s_end = s_events[-4:]
pass
