"""A pool that hangs: its only worker waits for work that it would have to do itself."""

from concurrent.futures import ThreadPoolExecutor

POOL = ThreadPoolExecutor(1)


def price(name):
    return len(name) * 3


def order(names):
    parts = [POOL.submit(price, name) for name in names]
    return sum(part.result() for part in parts)


print("ready", flush=True)
print(POOL.submit(order, ["tea", "milk"]).result())
