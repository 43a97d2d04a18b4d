"""Containers and numbers of other classes, long lists, and objects that each evaluation makes anew."""

import array
import collections
import decimal
import fractions


class Names(dict):
    pass


class Row(list):
    pass


class Level(int):
    pass


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x):
        self.x = x
        self.y = 0


class Shop:
    def __init__(self):
        self.rows = [1, 2]
        self.price = decimal.Decimal("1.5")

    @property
    def first(self):
        return fractions.Fraction(self.rows[0], 3)

    @property
    def pairs(self):
        return [(row, row + 1) for row in self.rows]


queue = collections.deque([1])
codes = array.array("i", [1, 2])
ordered = collections.OrderedDict(x=1)
counts = collections.Counter("ab")
names = Names(tea=1)
row = Row([1])
level = Level(3)
long = list(range(5000))
longer = list(range(2000))
many = {number: number for number in range(3000)}
point = Point(1)
shop = Shop()
price = decimal.Decimal(1)
letters = set("abc")
# watch: list(queue), codes[0], list(codes), ordered['x'], dict(counts), names['tea'], list(row), int(level), sum(long)
# watch: long[3000], long[10], long[-1], sum(longer), longer[-1], many[2500], sum(many.values()), point.x, point.y
# watch: str(shop.first), shop.rows, shop.pairs, str(shop.price), str(price), sorted(letters)
for number in range(3):
    price = price + 0
queue.append(2)
codes[0] = 7
ordered["x"] = 2
counts["a"] += 1
names["tea"] = 4
row.append(2)
level = Level(4)
long[3000] = 0
longer[-1] = 1
many[2500] = 1
point.y = 2
shop.rows[0] = 5
shop.price = shop.price + 1
letters.discard("b")
price = price * 1
for number in range(3):
    level = Level(4)
    shop.price = shop.price + 0
long[10] = long[10]
print("end")
