"""Values that other threads make."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()
shared = {"count": 0}
inbox, outbox = queue.Queue(), queue.Queue()


def work(n):
    made = n * 2
    return made


def count():
    for _ in range(5):
        with lock:
            shared["count"] += 1


def serve():
    while (item := inbox.get()) is not None:
        outbox.put(work(item))


counters = [threading.Thread(target=count) for _ in range(2)]
for counter in counters:
    counter.start()
for counter in counters:
    counter.join()
server = threading.Thread(target=serve)
server.start()
inbox.put(4)
received = outbox.get()
inbox.put(None)
server.join()
with ThreadPoolExecutor(2) as pool:
    mapped = list(pool.map(work, [1, 2, 3]))
    submitted = pool.submit(work, 5).result()
alive = server.is_alive()
server = threading.Thread(target=serve)
server.start()
replies = []
for number in range(3):
    inbox.put(number)
    replies.append(outbox.get())
inbox.put(None)
server.join()
print("end")
# watch: shared["count"]
