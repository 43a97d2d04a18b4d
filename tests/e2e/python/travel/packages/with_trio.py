"""Tasks of trio: a channel, a deadline, and errors in a group."""

import trio

s_log = []


async def produce(channel):
    async with channel:
        for number in range(10):
            await channel.send(number)


async def consume(channel, name):
    async with channel:
        async for number in channel:
            s_log.append((name, number))
            await trio.lowlevel.checkpoint()


async def main():
    async with trio.open_nursery() as nursery:
        sender, receiver = trio.open_memory_channel(0)
        nursery.start_soon(produce, sender)
        nursery.start_soon(consume, receiver.clone(), "a")
        nursery.start_soon(consume, receiver, "b")
    with trio.move_on_after(0.01) as scope:
        await trio.sleep_forever()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
    except* ValueError as errors:
        count = len(errors.exceptions)
    return scope.cancelled_caught, count


async def fail():
    raise ValueError("wrong")


s_result = trio.run(main)
s_sum = sum(number for _, number in s_log)
print(s_result, s_sum, len(s_log))
