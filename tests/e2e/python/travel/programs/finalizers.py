"""Garbage: cycles with __del__, objects that come back to life, when the collector runs and what it finds."""

import gc
import random
import time

s_deleted = []
s_runs = []
s_revived = []


class Cyclic:
    def __init__(self, number):
        self.number = number
        self.itself = self
        self.ballast = [random.random() for _ in range(5)]

    def __del__(self):
        s_deleted.append((self.number, time.monotonic_ns()))
        if self.number % 500 == 0:
            s_revived.append(self)


def on_collection(phase, details):
    s_runs.append((phase, details["generation"], details["collected"], time.perf_counter_ns()))


gc.callbacks.append(on_collection)
begin = time.monotonic()
number = 0
while time.monotonic() < begin + 0.3 and number < 150_000:  # not more on a fast machine than on a slow one
    Cyclic(number)
    number += 1
gc.callbacks.remove(on_collection)
s_count = number, len(s_deleted), len(s_revived)
s_last = s_deleted[-5:], s_runs[-3:]
s_collected = gc.collect()
s_counts = gc.get_count()
