"""Threads print at the same time, and some are still there when the program ends."""

import sys
import threading
import time

s_seen = []


def loop(lines):
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


s_loop = loop(20000)


def talk(number):
    for step in range(30):
        print("thread", number, "step", step, file=sys.stderr if step % 2 else sys.stdout)
        s_seen.append((number, step, time.monotonic_ns()))
        time.sleep(0.0001 * number)


def wait_for_ever():
    threading.Event().wait()


def work_for_ever():
    while True:
        loop(100)
        time.sleep(0.001)


threads = [threading.Thread(target=talk, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
s_loop = loop(20000)

for function in (wait_for_ever, work_for_ever):
    threading.Thread(target=function, daemon=True).start()
for s_step in range(20):
    time.sleep(0.002)
    s_loop = loop(1000)
s_names = [thread.name for thread in threading.enumerate()]
s_count = threading.active_count()
s_last = s_seen[-3:]
pass
