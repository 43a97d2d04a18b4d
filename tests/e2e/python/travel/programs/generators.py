"""Generators: send, throw, close, yield from, and some that are left to the collector of garbage."""

import itertools
import random
import time

s_values = []
s_ends = []
s_left = []


def walk(limit):
    position = random.random()
    try:
        while position < limit:
            try:
                position += (yield position) or time.perf_counter() % 0.1
            except KeyError as error:
                position += error.args[0]
    finally:
        s_ends.append(limit)
    return position


def both(limit):
    first = yield from walk(limit)
    second = yield from walk(limit + 1)
    return first + second


def left_open(number):
    try:
        yield number
        yield number + 1
    finally:
        s_left.append((number, random.random()))


begin = time.monotonic()
count = 0
while time.monotonic() < begin + 0.3 and count < 4_000:  # not more on a fast machine than on a slow one
    walker = both(3)
    value = next(walker)
    for i in itertools.count():
        try:
            value = walker.throw(KeyError(0.5)) if i % 7 == 6 else walker.send(random.random())
        except StopIteration as stop:
            s_values.append((i, stop.value))
            break
    one = left_open(count)
    next(one)
    walk(1).close()
    del one
    cycle = left_open(-count)
    next(cycle)
    holder = [cycle]
    holder.append(holder)
    count += 1
s_last = s_values[-3:], s_left[-5:], s_ends[-3:]
