"""Greenlets of gevent that pass work to each other."""

import gevent
from gevent.event import Event
from gevent.queue import Queue

s_log = []
work, done = Queue(), Event()


def worker(name):
    while True:
        number = work.get()
        if number is None:
            return
        gevent.sleep(0)
        s_log.append((name, number * 2))


def boss():
    for number in range(20):
        work.put(number)
        if number % 5 == 0:
            gevent.sleep(0.001)
    for _ in range(3):
        work.put(None)
    done.set()


workers = [gevent.spawn(worker, f"w{number}") for number in range(3)]
gevent.joinall([gevent.spawn(boss), *workers])
s_total = sum(number for _, number in s_log)
s_names = sorted({name for name, _ in s_log})
print(len(s_log), s_total, s_names, done.is_set())
