"""Queens on a board, flips of pancakes, primes and mazes: recursion, generators, lists and sets."""

import heapq
import itertools
import random
from functools import lru_cache


def queens(size, columns=()):
    if len(columns) == size:
        yield columns
        return
    for column in range(size):
        if all(column not in (other, other - gap, other + gap) for gap, other in enumerate(reversed(columns), 1)):
            yield from queens(size, (*columns, column))


def flips(size):
    most = 0
    for pancakes in itertools.permutations(range(1, size + 1)):
        stack, count = list(pancakes), 0
        while (first := stack[0]) != 1:
            stack[:first] = stack[:first][::-1]
            count += 1
        most = max(most, count)
    return most


@lru_cache(maxsize=100)
def partitions(total, largest):
    if total == 0:
        return 1
    return sum(partitions(total - part, part) for part in range(1, min(total, largest) + 1))


def primes():
    found = []
    for number in itertools.count(2):
        if all(number % prime for prime in itertools.takewhile(lambda prime: prime * prime <= number, found)):
            found.append(number)
            yield number


def way(walls, size):
    seen, heap = {(0, 0)}, [(0, 0, 0)]
    while heap:
        length, x, y = heapq.heappop(heap)
        if (x, y) == (size - 1, size - 1):
            return length
        for place in ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)):
            if min(place) >= 0 and max(place) < size and place not in walls and place not in seen:
                seen.add(place)
                heapq.heappush(heap, (length + 1, *place))
    return None


s_queens = [queen for queen in queens(6)]
s_flips = [flips(size) for size in range(2, 7)]
s_partitions = [partitions(total, total) for total in range(5, 40, 5)]
s_primes = list(itertools.islice(primes(), 300))[-3:]
s_ways = []
for s_round in range(6):
    cells = list(itertools.product(range(1, 11), repeat=2))
    s_ways.append(way(set(random.sample(cells, 30)), 12))
s_info = partitions.cache_info()
pass
