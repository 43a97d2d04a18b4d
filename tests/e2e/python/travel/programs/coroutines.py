"""Coroutines driven by hand and by asyncio: async generators, async context managers, what is left unfinished."""

import asyncio
import contextlib
import random
import time

s_steps = []
s_closed = []
s_random = []


class Pause:
    def __await__(self):
        got = yield time.monotonic_ns()
        return got


async def by_hand(number):
    try:
        for i in range(5):
            s_steps.append((number, i, await Pause()))
    finally:
        s_closed.append(number)


async def numbers(count):
    try:
        for i in range(count):
            await asyncio.sleep(0)
            yield i, random.random()
    finally:
        s_closed.append(("numbers", count))


@contextlib.asynccontextmanager
async def guarded(name):
    s_steps.append(("enter", name))
    try:
        yield name
    except ValueError as error:
        s_steps.append(("handled", str(error)))
    finally:
        s_steps.append(("leave", name))


async def main():
    s_random.append([value async for value in numbers(4)])
    async for number, _ in numbers(10):
        if number == 3:
            break
    async with guarded("one"):
        await asyncio.sleep(0.001)
        raise ValueError("inside")


begin = time.monotonic()
while time.monotonic() < begin + 0.3:
    driven = [by_hand(i) for i in range(4)]
    asked = [coroutine.send(None) for coroutine in driven]
    random.shuffle(driven)
    for coroutine in driven[:3]:
        with contextlib.suppress(StopIteration):
            while True:
                coroutine.send(random.randrange(100))
    driven[3].close()
    asyncio.run(main())
s_last = s_steps[-5:], s_random[-1:], s_closed[-8:]
