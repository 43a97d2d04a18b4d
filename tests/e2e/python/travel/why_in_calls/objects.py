"""Attributes and items of objects that a method was given, or that others have made and changed before.

watch: self.total = shop.total, self.rows = shop.rows, self.rows[0] = shop.rows[0], self.rows[-1] = shop.rows[-1]
watch: self.prices['tea'] = shop.prices['tea'], self.prices[key] = shop.prices['cake'], self.owner.name = shop.owner.name
watch: other.total = second.total, label = label, best = best, mine = mine, mine[1] = mine[1], pair[1].name = ada.name
watch: point.x = shop.point.x, self.point = shop.point
"""


class Person:
    def __init__(self, name):
        self.name = name


class Point:
    def __init__(self, x):
        self.x = x


class Shop:
    def __init__(self, owner):
        self.owner = owner
        self.total = 0
        self.rows = []
        self.prices = {"tea": 3}
        self.point = None

    def add(self, number):
        self.total += number
        self.rows.append(number)

    def raise_prices(self, by):
        for name in self.prices:
            self.prices[name] += by

    def move(self, point):
        self.point = point
        point.x += 1

    def show(self, other, key):
        label = "none"
        mine = [1, 2, 3]
        for number in range(4):
            mine[1] = number * 10
        best = max(mine)
        if best > 1:
            label = "some"
        pair = (1, ada)
        point = self.point
        print("end")
        return label, pair, point, other, key


def work(count):
    total = 0
    for number in range(count):
        total += number
    return total


ada = Person("ada")
shop = Shop(ada)
second = Shop(Person("bob"))
shop.add(5)
work(20_000)
shop.add(7)
second.add(8)
shop.prices["cake"] = 9
shop.raise_prices(2)
ada.name = "Ada"
work(20_000)
shop.rows[0] = 55
shop.move(Point(4))
shop.show(second, "cake")
