"""Calls that take long: their line began many checkpoints before they return."""

import functools
import time
import types


def long(n):
    total = 0
    for i in range(n):
        time.sleep(0.03)
        total += i
    return total


def through(n):
    got = long(n)
    return got + 1


def shout(match):
    return str(long(3)) + match


class Keeper:
    def __init__(self):
        self.size = long(5)

    @property
    def doubled(self):
        return long(3) * 2

    @functools.cached_property
    def cached(self):
        return long(4)


def slowly(n):
    for i in range(n):
        long(3)
        yield i


space = types.SimpleNamespace(value=0)
table = {}
direct = long(6)
twice = through(6)
space.value = through(5)
table["key"] = long(6)
ordered = sorted([3, 1, 2], key=lambda x: (long(3), -x))
joined = "".join(map(shout, "ab"))
keeper = Keeper()
doubled = keeper.doubled
cached = keeper.cached
seen = list(slowly(4))
total = 0
for each in slowly(3):
    total += each
    late = each
attribute = max((long(3), n) for n in range(4))[1]
before = 1
before = long(6) + before
print("end")
# watch: space.value, table["key"], keeper.size
