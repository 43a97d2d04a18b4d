"""Values that generators give and take."""

from contextlib import ExitStack, closing, suppress


def numbers(n):
    for i in range(n):
        doubled = i * 2
        yield doubled


def delegating():
    got = yield from numbers(2)
    yield "last"


def echo():
    received = None
    while True:
        received = yield received


def with_end():
    yield 1
    return "returned"


def collecting():
    result = yield from with_end()
    yield result


class Steps:
    def __init__(self):
        self.at = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        if self.at > 3:
            raise StopIteration
        return self.at


def note(word):
    log.append(word)


for number in numbers(3):
    last_number = number
for letter in delegating():
    pass
for step in Steps():
    seen_step = step
first = next(numbers(3))
exhausted = next(iter(Steps()), None)
default = next(numbers(0), "default")
partner = echo()
started = next(partner)
answer = partner.send("hello")
again = partner.send(answer + "!")
with suppress(ValueError):
    partner.throw(ValueError("out"))
returned = list(collecting())
expression = sum(n for n in numbers(4) if n)
pairs = [(a, b) for a in numbers(2) for b in numbers(2)]
mapping = {n: -n for n in numbers(3)}
unpacked, *others = numbers(3)
with closing(numbers(5)) as generator:
    inside = next(generator)
log = []
with ExitStack() as stack:
    stack.callback(note, "closed")
    log.append("opened")
found = 4 in numbers(3)
largest = max(numbers(4), key=lambda n: -n)
enumerated = list(enumerate(numbers(2)))
print("end")
# watch: len(log)
