"""Producers and consumers: a buffer with two conditions, workers that fail now and then, and results in the order of work."""

import collections
import hashlib
import random
import threading
import time

s_log = []
s_results = {}
s_failures = []


class Buffer:
    def __init__(self, size):
        self.size = size
        self.items = collections.deque()
        self.lock = threading.Lock()
        self.not_full = threading.Condition(self.lock)
        self.not_empty = threading.Condition(self.lock)
        self.closed = False

    def put(self, item):
        with self.not_full:
            while len(self.items) >= self.size:
                self.not_full.wait()
            self.items.append(item)
            self.not_empty.notify()

    def get(self):
        with self.not_empty:
            while not self.items:
                if self.closed:
                    return None
                self.not_empty.wait(0.01)
            item = self.items.popleft()
            self.not_full.notify()
            return item

    def close(self):
        with self.lock:
            self.closed = True
            self.not_empty.notify_all()


def produce(name, buffer, count):
    for number in range(count):
        item = name, number, random.randrange(1000)
        buffer.put(item)
        if number % 20 == 0:
            time.sleep(0.0005)
    s_log.append(("done", name))


def work(item):
    name, number, seed = item
    if seed % 50 == 0:
        raise LookupError(f"{name} {number}")
    digest = hashlib.md5(str(seed).encode()).hexdigest()
    total = 0
    for digit in digest:
        total = total * 3 % 1009 + int(digit, 16)
    return total


def consume(buffer, name):
    done = 0
    while (item := buffer.get()) is not None:
        try:
            s_results[item[:2]] = name, work(item)
        except LookupError as error:
            s_failures.append(str(error))
        done += 1
    s_log.append((name, done))


for s_round in range(3):
    shared = Buffer(5)
    producers = [threading.Thread(target=produce, args=(f"p{n}", shared, 60)) for n in range(3)]
    consumers = [threading.Thread(target=consume, args=(shared, f"c{n}")) for n in range(2)]
    for thread in producers + consumers:
        thread.start()
    for thread in producers:
        thread.join()
    shared.close()
    for thread in consumers:
        thread.join()
    print(s_round, len(s_results), len(s_failures), flush=True)
s_total = sum(total for _, total in s_results.values())
s_order = list(s_results)[:20]
pass
