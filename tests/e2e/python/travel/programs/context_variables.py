"""Context variables in functions, copies of contexts and asyncio tasks."""

import asyncio
import contextvars
import random
import time

variable = contextvars.ContextVar("variable", default=None)
other = contextvars.ContextVar("other")
s_seen = []
s_contexts = []


def inside(value):
    token = variable.set(value)
    other.set(time.monotonic_ns())
    s_seen.append((variable.get(), other.get()))
    variable.reset(token)
    return variable.get()


async def task(number):
    variable.set((number, random.random()))
    await asyncio.sleep(random.random() / 1000)
    s_seen.append(variable.get())


async def main():
    await asyncio.gather(*(task(number) for number in range(10)))


begin = time.monotonic()
while time.monotonic() < begin + 0.3:
    context = contextvars.copy_context()
    context.run(inside, random.random())
    s_contexts.append((len(context), list(context.values()), hash(variable)))
    asyncio.run(main())
s_last = s_seen[-5:], s_contexts[-2:]
