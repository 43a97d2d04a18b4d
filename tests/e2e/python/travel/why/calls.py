"""Values from calls, in all the places that a value can be put."""

import types
from functools import partial, reduce


def plus_one(n):
    doubled = n * 2
    return doubled - n + 1


def outer():
    inner_value = plus_one(10)
    copied = inner_value
    return copied


def put(place, name, n):
    place[name] = plus_one(n)


def set_global():
    global by_function
    by_function = plus_one(6)


def closure():
    kept = 0

    def count():
        nonlocal kept
        kept += plus_one(kept)
        return kept

    count()
    count()
    return count


simple = plus_one(3)
space = types.SimpleNamespace()
space.attribute = plus_one(4)
table = {}
table["key"] = plus_one(5)
put(table, "other", 7)
listed = [plus_one(i) for i in range(3)]
listed[1] = plus_one(8)
evaluated = eval("plus_one(9)")
nested = outer()
by_function = 0
set_global()
first, (second, *rest) = plus_one(1), [plus_one(2), plus_one(3), 5]
chained = aliased = plus_one(11)
simple += plus_one(1)
summed = sum(map(plus_one, range(4)))
reduced = reduce(lambda a, b: a + plus_one(b), [1, 2, 3])
bound = partial(plus_one, 12)()
counted = closure()()
conditional = plus_one(1) if plus_one(2) > 2 else 0
walrus = [kept := plus_one(13), kept]
text = f"{plus_one(14)} and {outer()}"
swapped, other = 1, 2
swapped, other = other, swapped
removed = [1, 2, 3]
del removed[0]
print("end")
# watch: space.attribute, table["key"], table["other"], listed[1], len(removed)
