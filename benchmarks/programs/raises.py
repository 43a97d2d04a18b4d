"""Exceptions that something catches, each in its own way: `raises.py COUNT REPEATS` prints processor seconds by name.

`through` leaves 200 frames, and is done the two-hundredth part as often.
"""

# ruff: noqa: SIM105 - the handlers are what is measured

import contextlib
import json
import sys
import time

DEPTH = 200


def fail():
    raise KeyError


def same(count):
    for _ in range(count):
        try:
            raise KeyError
        except KeyError:
            pass


def caller(count):
    for _ in range(count):
        try:
            fail()
        except KeyError:
            pass


class Silent:
    def __getattr__(self, name):
        raise AttributeError(name)

    def __getitem__(self, index):
        raise IndexError


def hasattr_(count):
    silent = Silent()
    for _ in range(count):
        hasattr(silent, "x")


def getattr_(count):
    silent = Silent()
    for _ in range(count):
        getattr(silent, "x", None)


def generator(count):
    def one():
        yield 1

    for _ in range(count):
        list(one())


def items(count):
    silent = Silent()
    for _ in range(count):
        list(silent)


def suppress(count):
    for _ in range(count):
        with contextlib.suppress(KeyError):
            raise KeyError


def down(depth):
    if depth:
        down(depth - 1)
    else:
        fail()


def through(count):
    for _ in range(count // DEPTH):
        try:
            down(DEPTH)
        except KeyError:
            pass


def timed(work, count):
    start = time.thread_time()
    work(count)
    return time.thread_time() - start


if __name__ == "__main__":
    count, repeats = map(int, sys.argv[1:])
    works = (same, caller, hasattr_, getattr_, generator, items, suppress, through)
    print(json.dumps({work.__name__: [timed(work, count) for _ in range(repeats)] for work in works}))
