"""Threads that hand things to each other by queues, with time limits; and what happens in a thread that raises."""

import queue
import threading
import time

s_events = []
s_errors = []
threading.excepthook = lambda args: s_errors.append((args.exc_type.__name__, str(args.exc_value)))


def loop(lines):
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


tasks, results, simple = queue.Queue(maxsize=3), queue.SimpleQueue(), queue.PriorityQueue()


def work(number):
    while True:
        try:
            task = tasks.get(timeout=0.002)
        except queue.Empty:
            s_events.append(("idle", number))
            continue
        if task is None:
            tasks.task_done()
            raise ValueError(f"{number} is done")
        results.put((number, task, loop(task % 50), object()))
        simple.put((task % 7, task, number))
        if task % 40 == 0:
            time.sleep(0.001)
        tasks.task_done()


for s_round in range(3):
    s_threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in s_threads:
        thread.start()
    for s_task in range(150):
        try:
            tasks.put(s_task, timeout=0.0005)
        except queue.Full:
            s_events.append(("full", s_task))
            tasks.put(s_task)
        if s_task == 70:
            time.sleep(0.005)
    for thread in s_threads:
        tasks.put(None)
    tasks.join()
    for thread in s_threads:
        thread.join()
    s_loop = loop(30000)

s_results = []
while True:
    try:
        s_results.append(results.get(timeout=0.001))
    except queue.Empty:
        break
s_who = "".join(str(r[0]) for r in s_results)
s_ids = [id(r[3]) for r in s_results][::50]
s_order = []
while not simple.empty():
    s_order.append(simple.get_nowait())
s_last = s_order[-5:]
s_number = len(s_events)
pass
