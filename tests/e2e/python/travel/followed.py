import asyncio
import functools
import json


class Item:
    def __init__(self, name, price, *, unit="EUR"):
        self.name = name
        self.price = price
        self.unit = unit

    @property
    def cost(self):
        return self.price * 2

    @classmethod
    def free(cls, name):
        return cls(name, 0)


def parsed(text):
    data = json.loads(text)
    price = data["price"]
    return Item(data["name"], price)


def price_of(item, factor=2, *rest):
    if item is None:
        return
    return item.price


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@traced
def wrapped(amount):
    return amount


def key_of(item):
    return -item.price


def down(depth, result):
    if depth:
        return down(depth - 1, result)
    return result


def both(first, second):
    return first


def numbers():
    yield 7


async def later(value):
    await asyncio.sleep(0)
    return value


def locked(value):
    with open("/dev/null"):
        return value


def finished(value):
    try:
        return value
    finally:
        rows = []
        rows.append(value)


def pick(other, value):
    return value


def closed(amount):
    def change():
        nonlocal amount
        amount = amount + 1

    change()
    return amount


def use(given, default=5, *others, **more):
    mark = given
    print("inside")
    return mark


async def main():
    tea = parsed('{"name": "tea", "price": 4}')
    free = Item.free("air")
    price = price_of(tea)
    best = max([tea, free], key=key_of)
    through = wrapped(price)
    deep = down(3, price)
    nested = both(both(price, 1), both(2, 3))
    for number in numbers():
        pass
    awaited = await later(price)
    nothing = price_of(None)
    cost = tea.cost
    unit = tea.unit
    zero = free.price
    small = price if price < 9 else 9
    one, two = price, best
    part, _ = divmod(price, 3)
    rows = []
    rows.append(price)
    rows[0] += 1
    last = rows[-1]
    table = {"a": price}
    entry = table["a"]
    with open("/dev/null") as file:
        pass
    size = len(rows)
    again = use(price, *rows)
    value = 8
    value = pick(value, 9)
    held = locked(value)
    ended = finished(value)
    some, other = Item("some", 1), Item("other", 2)
    some.left, other.left = 1, 2
    left = other.left
    table.setdefault("b", price)
    kept = table.setdefault("c", price)
    enclosed = closed(price)
    first = absolute = abs(price)
    kind = str
    print("end")


asyncio.run(main())
