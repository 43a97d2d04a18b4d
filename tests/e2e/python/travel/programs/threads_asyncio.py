"""Threads beside asyncio."""

import asyncio
import contextvars
import threading
import time

s_events = []
local = threading.local()


def loop(lines):
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


def task(number):
    local.count = getattr(local, "count", 0) + 1
    if number % 5 == 0:
        time.sleep(0.0007 * (number % 4))
    if number % 13 == 12:
        raise ArithmeticError(number)
    return number, loop(number * 10), local.count, threading.current_thread().name


number = contextvars.ContextVar("number", default=0)


async def main():
    number.set(5)
    running = asyncio.get_running_loop()
    first = [asyncio.to_thread(lambda n: (n, number.get(), loop(500 * n)), n) for n in range(4)]
    second = [running.run_in_executor(None, task, n) for n in range(8)]
    third = asyncio.create_task(asyncio.sleep(0.002, "slept"))
    for found in asyncio.as_completed([*first, *second, third]):
        s_events.append(await found)


asyncio.run(main())
s_loop = loop(40000)
s_number = len(s_events)
s_end = s_events[-4:]
pass
