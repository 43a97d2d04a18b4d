"""Threads that race in phases, and between these one thread that computes for long: a recording counts no lines then."""

import threading
import time

s_lines, s_totals = [], []
lock = threading.Lock()


def numbers():
    number = 0
    while True:
        number += 1
        yield number


counter = numbers()


def compute(count):
    total = 0
    for number in range(count):
        total += number
        if total % 7 == 0:
            total ^= 1
    return total


def race(name):
    for _ in range(40):
        with lock:
            s_lines.append((name, next(counter)))
        compute(37)


for alone in (10, 30_000, 300, 30_000):
    threads = [threading.Thread(target=race, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    s_totals.append((compute(alone), time.monotonic(), compute(alone)))
pass
