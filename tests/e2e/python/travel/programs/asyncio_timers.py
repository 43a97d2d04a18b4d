"""asyncio: timers, gather, a queue, time-outs, cancellation, task groups."""

import asyncio
import random
import time

s_order = []
s_times = []
s_ended = []


async def sleeper(number):
    for i in range(10):
        await asyncio.sleep(random.random() / 50)
        s_order.append((number, i))
    return number


async def producer(queue):
    for i in range(30):
        await queue.put((i, time.perf_counter_ns()))
        await asyncio.sleep(0.001)
    await queue.put(None)


async def consumer(queue):
    while (item := await queue.get()) is not None:
        s_times.append(item)


async def fails():
    await asyncio.sleep(0.02)
    raise ValueError("in a task")


async def main():
    queue = asyncio.Queue()
    results = await asyncio.gather(*(sleeper(i) for i in range(10)), producer(queue), consumer(queue))
    s_ended.append(results)
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(1)
    except TimeoutError as error:
        s_ended.append(repr(error))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(sleeper("cancelled"))
    except* ValueError as errors:
        s_ended.append([str(each) for each in errors.exceptions])
    done, pending = await asyncio.wait([asyncio.create_task(sleeper(i)) for i in range(3)], timeout=0.03)
    s_ended.append((len(done), len(pending), id(pending)))


asyncio.run(main())
s_last = s_order[-10:]
