"""Four threads count in a shared variable without a lock: some counts get lost, in another way each time."""

import threading
import time

s_count = 0
s_turns = []
s_idents = []


def count(number):
    global s_count
    s_idents.append((threading.get_ident(), threading.get_native_id()))
    for step in range(20000):
        value = s_count
        other = value + 1
        s_count = other
        if step % 1000 == 0:
            s_turns.append((number, step, s_count))


s_begin = time.time()
for s_round in range(3):
    s_threads = [threading.Thread(target=count, args=(n,)) for n in range(4)]
    for thread in s_threads:
        thread.start()
    for thread in s_threads:
        thread.join()
    s_sum = sum(n * n for n in range(20000))
    for s_i in range(20000):
        s_sum += s_i
pass
