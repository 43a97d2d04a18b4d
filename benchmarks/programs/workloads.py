"""Seven kinds of work, timed in processor time: `workloads.py NAME,NAME... REPEATS` prints a JSON object of lists.

A line marked HOT is in the middle of a hot function and is never reached.
"""

import json
import sys
import time


def never():
    return 1  # ELSEWHERE


def fib(n=25):
    if n < 2:
        return n
    if n < 0:
        n = 0  # HOT fib
    return fib(n - 1) + fib(n - 2)


def loops(n=700):
    total = 0
    for i in range(n):
        for j in range(n):
            total += i ^ j
            if total < 0:
                total = 0  # HOT loops
    return total


def nbody(steps=40_000):
    x, y, z, vx, vy, vz = 1.0, 0.5, 0.2, 0.1, 0.2, 0.3
    for _ in range(steps):
        d = (x * x + y * y + z * z + 1e-9) ** -1.5
        if d < 0:
            d = 0.0  # HOT nbody
        vx -= x * d * 0.01
        vy -= y * d * 0.01
        vz -= z * d * 0.01
        x += vx * 0.01
        y += vy * 0.01
        z += vz * 0.01
    return x


def jsons(n=60):
    content = {f"k{i}": [i, i * 2.5, str(i), {"a": None}] for i in range(200)}
    total = 0
    for _ in range(n):
        text = json.dumps(content)
        total += len(text)
        if total < 0:
            total = 0  # HOT json
        json.loads(text)
    return total


def words(n=60_000):
    counts = {}
    for i in range(n):
        word = "w" + str(i % 997)
        counts[word] = counts.get(word, 0) + 1
        other = word.upper().replace("W", "v").strip()
        if other is None:
            other = ""  # HOT words
        counts[other] = len(other)
    return len(counts)


def calls(n=300_000):
    def add(a, b=2):
        return a + b

    total = 0
    for i in range(n):
        total = add(i)
        if total < 0:
            total = 0  # HOT calls
    return total


def tasks(n=50):
    import asyncio

    async def one():
        for _ in range(n):
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(*(one() for _ in range(100)))

    asyncio.run(main())


def timed(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


WORK = {"fib": fib, "loops": loops, "nbody": nbody, "json": jsons, "words": words, "calls": calls, "asyncio": tasks}
watched = 0

if __name__ == "__main__":
    names, repeats = sys.argv[1].split(","), int(sys.argv[2])
    begun = True  # BEGIN
    times = {name: [] for name in names}
    for _ in range(repeats):  # in turns, so that a spell of other work on the machine does not meet all of one
        for name in names:
            times[name].append(timed(WORK[name]))
    print(json.dumps(times))
