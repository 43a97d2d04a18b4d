"""Code that the library or the program has generated: it is no user's own line."""

import collections
import dataclasses
import enum
import typing

Point = collections.namedtuple("Point", "x y")


class Named(typing.NamedTuple):
    left: int
    right: int = 2


@dataclasses.dataclass(order=True)
class Data:
    number: int
    items: list = dataclasses.field(default_factory=lambda: [1])

    def __post_init__(self):
        self.doubled = self.number * 2


class Colour(enum.Enum):
    RED = 1

    @classmethod
    def _missing_(cls, value):
        return cls.RED


exec("def generated(n):\n    inner = n + 1\n    return inner\n")
point = Point(1, 2)
moved = point._replace(x=5)
named = Named(3)
data = Data(4)
number = data.number
items = data.items
data.number = generated(7)
compared = Data(1) < Data(2)
equal = Data(1) == Data(1)
shown = repr(Data(3))
made = generated(5)
listed = [generated(i) for i in range(3)]
exec("by_exec = generated(8)")
missing = Colour(7)
colour = Colour["RED"].value
as_dict = dataclasses.asdict(data)
sorted_data = sorted([Data(2), Data(1)])[0].number
print("end")
# watch: point.x, moved.x, named.left, data.number, data.doubled, len(data.items)
