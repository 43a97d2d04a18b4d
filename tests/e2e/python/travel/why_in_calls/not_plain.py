"""Data whose writes the interpreter does not report: slots, sets, closures, properties, values that are computed.

watch: slotted.x = made.x, tags = shared_tags, seen = seen_now[0], sum(rows) = sum(all_rows), held.size = thing.size
watch: kind.count = Kind.count, deque_[0] = queue[0]
"""

from collections import deque


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Kind:
    count = 0


class Thing:
    def __init__(self):
        self.items = []

    @property
    def size(self):
        return len(self.items)


def show(slotted, tags, rows, held, kind, deque_):
    seen = 0

    def see(number):
        nonlocal seen
        seen = seen_now[0] = number

    for number in range(300):
        see(number)
    slotted.x = 5
    tags.add("c")
    rows.append(4)
    held.items.append(1)
    kind.count += 1
    deque_.appendleft(9)
    see(7)
    print("end")


made = Slotted(1)
shared_tags = {"a"}
all_rows = [1]
thing = Thing()
queue = deque([1])
seen_now = [0]
show(made, shared_tags, all_rows, thing, Kind, queue)
