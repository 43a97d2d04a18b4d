"""Values that come through code of the library, which calls the program's own."""

import contextlib
import functools
import heapq
import itertools
import json
import re
import statistics
import textwrap
from collections import Counter, OrderedDict, defaultdict
from concurrent.futures import Future


def key(x):
    return -x


def upper(match):
    found = match.group(0)
    return found.upper()


def as_text(value):
    return str(sorted(value))


def hook(members):
    return sorted(members)


@contextlib.contextmanager
def opened():
    made = 5
    yield made
    made = 6


class Manager:
    def __enter__(self):
        self.entered = True
        return "inside"

    def __exit__(self, *reason):
        self.left = True
        return False


def logged(function):
    @functools.wraps(function)
    def inner(*args):
        result = function(*args)
        return result

    return inner


@logged
def four():
    return 4


@functools.singledispatch
def kind(value):
    return "object"


@kind.register
def _(value: int):
    return "int"


class Sized:
    def __len__(self):
        return 7

    def __contains__(self, item):
        return item == 3

    def __getitem__(self, index):
        if index > 2:
            raise IndexError
        return index * 10

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __format__(self, how):
        return "sized"

    def __getattr__(self, name):
        if name == "missing":
            raise AttributeError(name)
        return name


class Described:
    def __get__(self, instance, owner=None):
        return 11

    def __set__(self, instance, value):
        instance.__dict__["kept"] = value + 1


class Owner:
    described = Described()


def finished(future):
    done.append(future.result())


smallest = heapq.nsmallest(2, [3, 1, 2], key=key)
ordered = sorted([2, 1], key=key)
replaced = re.sub("b", upper, "abc")
dumped = json.dumps({"x": {1, 2}}, default=as_text)
loaded = json.loads('{"a": [1, 2]}', object_hook=hook)
merged = [i for i in heapq.merge([3, 1], [2], key=key)]
with opened() as context:
    used = context
with Manager() as manager:
    managed = manager
four_now = four()
int_kind = kind(5)
mean = statistics.mean(map(key, [1, 2, 3]))
wrapped = textwrap.indent("a\nb", "> ", lambda line: line.startswith("a"))
grouped = [(k, list(v)) for k, v in itertools.groupby([1, -1, 2], key=abs)]
defaults = defaultdict(four)
defaulted = defaults["new"]
sized = Sized()
length = len(sized)
holds = 3 in sized
items = list(sized)
equal = sized == 1
formatted = f"{sized:x}"
dynamic = sized.whatever
absent = getattr(sized, "missing", "none")
asked = hasattr(sized, "missing")
owner = Owner()
described = owner.described
owner.described = 20
future = Future()
done = []
future.add_done_callback(finished)
outcome = future.set_result(4) or 7
counts = Counter(map(key, [1, 1, 2])).most_common(1)
accumulated = list(itertools.accumulate([1, 2, 3], lambda a, b: a + key(b)))
zipped = dict(zip("ab", map(key, [1, 2])))
anything = any(map(four_now.__eq__, [1, 4]))
ordered_keys = list(OrderedDict((str(key(n)), n) for n in (1, 2)))
print("end")
# watch: owner.kept, len(defaults)
