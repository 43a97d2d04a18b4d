"""Variables of coroutines and generators that are suspended in between, and objects that they share.

watch: total = total, answer = answer, item = item, box.value = shared.value, box.log = shared.log, last = last, done = done
"""

import asyncio


class Box:
    def __init__(self):
        self.value = 0
        self.log = []


def numbers(count):
    for number in range(count):
        shared.value = number
        yield number


async def add(box, number):
    await asyncio.sleep(0)
    box.value += number
    box.log.append(number)
    return box.value


async def other(count):
    for number in range(count):
        total = number
        await asyncio.sleep(0)
    return total


async def show(box):
    done = False
    total = 0
    beside = asyncio.create_task(other(400))
    for item in numbers(300):
        total += item
        if item % 100 == 0:
            answer = await add(box, item)
    last = await add(box, 1)
    await beside
    done = True
    print("end")
    return total, answer, last, done


shared = Box()
asyncio.run(show(shared))
