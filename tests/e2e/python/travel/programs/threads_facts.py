"""What threads are told of themselves, threads made by threads, and threads of the interpreter's own."""

import _thread
import faulthandler
import sys
import threading
import time

s_facts = []
s_order = []


def loop(lines):
    total = 0
    for step in range(lines):
        total += step * step % 7
    return total


def tell(depth, path):
    mine = threading.current_thread()
    s_facts.append((path, mine.name, threading.get_ident() == mine.ident, threading.get_native_id() == mine.native_id))
    s_facts.append((mine.native_id, time.thread_time_ns(), time.clock_gettime(time.pthread_getcpuclockid(mine.ident))))
    loop(200 * len(path))
    if depth > 0:
        made = [threading.Thread(target=tell, args=(depth - 1, (*path, n))) for n in range(2)]
        for thread in made:
            thread.start()
            s_order.append(path)
        if path[-1] == 0:
            for thread in made:
                thread.join(0.0001)
                s_order.append(thread.is_alive())
        for thread in made:
            thread.join()
    if path[-1] == 1:
        sys.exit(3)


s_interval = sys.getswitchinterval()
sys.setswitchinterval(1e-5)
threading.stack_size(1 << 20)
for s_round in range(3):
    s_loop = loop(30000)
    faulthandler.dump_traceback_later(60)
    thread = threading.Thread(target=tell, args=(3, (0,)))
    thread.start()
    thread.join()
    faulthandler.cancel_dump_traceback_later()
    gate = _thread.allocate_lock()
    gate.acquire()
    _thread.start_new_thread(lambda: (s_facts.append(loop(100)), gate.release()), ())
    s_waited = gate.acquire(True, 5)
s_loop = loop(50000)
s_active = threading.active_count()
s_number = len(s_facts)
s_end = s_facts[-4:]
pass
