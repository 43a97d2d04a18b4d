"""Values that tasks make, while others run between."""

import asyncio
import contextlib

results = {}
order = []


async def fetch(name, n):
    await asyncio.sleep(0)
    made = n * 2
    await asyncio.sleep(0)
    return made


async def worker(queue):
    while (item := await queue.get()) is not None:
        results[item] = await fetch("worker", item)
        order.append(item)


async def ticks(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


class Session:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return "session"

    async def __aexit__(self, *reason):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def opened():
    await asyncio.sleep(0)
    yield "resource"


async def background(future):
    noise = 0
    for _ in range(3):
        noise += 1
        await asyncio.sleep(0)
    future.set_result(noise)


async def main():
    global direct, gathered, finished, ticked, entered, resource, collected, timed, raced, shielded, last_tick
    direct = await fetch("direct", 1)
    gathered = await asyncio.gather(fetch("a", 2), fetch("b", 3))
    future = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(background(future))
    finished = await future
    async for last_tick in ticks(3):
        ticked = last_tick
    async with Session() as entered:
        pass
    async with opened() as resource:
        pass
    collected = [n async for n in ticks(2)]
    queue = asyncio.Queue()
    workers = [asyncio.create_task(worker(queue)) for _ in range(2)]
    for item in (5, 6, 7, None, None):
        await queue.put(item)
    await asyncio.gather(*workers)
    timed = await asyncio.wait_for(fetch("timed", 8), timeout=60)
    done, _ = await asyncio.wait([asyncio.create_task(fetch("raced", 9))])
    raced = done.pop().result()
    shielded = await asyncio.shield(fetch("shielded", 10))
    await task


asyncio.run(main())
after = asyncio.run(fetch("after", 4))
print("end")
# watch: results[5], results[7], len(order)
