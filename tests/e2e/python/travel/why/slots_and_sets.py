"""Values in slots and in sets, which no dict tells of: they are compared where lines begin."""

import dataclasses
import random
import time


class Point:
    __slots__ = ("x", "y", "inner", "__dict__")

    def __init__(self):
        self.x = 1
        self.y = 2


class Deeper(Point):
    __slots__ = ("z",)


@dataclasses.dataclass(slots=True)
class Row:
    name: str
    tags: set


# watch: point.x, point.y, point.inner.x, point.free, deeper.z, deeper.x, row.name, row.tags, rows[1].name
# watch: small, large, grown, emptied, refilled, swapped, replaced, point.inner.y
point, deeper = Point(), Deeper()
deeper.z = 1
point.inner = Point()
row = Row("first", {"a"})
rows = [Row("one", set()), Row("two", set())]
small, large, grown = {1}, set(range(300)), {0}
emptied, refilled, swapped, replaced = {1, 2, 3}, {1}, {2}, {3}


def pause():
    """Let a checkpoint be made."""
    time.sleep(0.06)


pause()
point.y = 20
del point.x
point.x = 5
small.add(2)
large.discard(17)
pause()
deeper.z = point.x
point.inner = Point()
large.add(1_000)
row.tags.add("b")
for number in range(100):
    grown.add(number)
rows[1].name = "other"
pause()
point.inner.y = 7
point.free = "in a dict"
small.discard(2), small.add(3)
refilled.clear(), refilled.add(2)
swapped ^= {2, 9}
replaced = {3}
replaced |= {8}
row.name = "last"
while emptied:
    emptied.pop()
random.seed(1)
pause()
deeper.x = deeper.x
small.add(3)
large.discard(2_000)
pause()
print("end")
