"""An await that is forgotten: a coroutine takes the place of a number."""

import asyncio


async def price(name):
    await asyncio.sleep(0)
    return {"tea": 4}[name]


async def order(name, amount):
    cost = price(name)
    return {"name": name, "amount": amount, "cost": cost}


async def main():
    placed = await order("tea", 3)
    print(placed["amount"] * placed["cost"])


asyncio.run(main())
