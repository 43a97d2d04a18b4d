"""Two threads that take two locks in different orders."""

import threading

left, right = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def transfer(first, second):
    with first:
        both.wait()
        with second:
            pass


threads = [
    threading.Thread(target=transfer, args=(left, right), name="worker-ab"),
    threading.Thread(target=transfer, args=(right, left), name="worker-ba"),
]
for thread in threads:
    thread.daemon = True
    thread.start()
print("ready", flush=True)
for thread in threads:
    thread.join()
