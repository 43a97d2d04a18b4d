"""What hangs on where objects lie: ids, hashes of objects and texts, the order of sets."""

import random
import time

s_ids = []
s_orders = []
s_hashes = []
s_large = []


class Plain:
    pass


begin = time.monotonic()
kept = []
while time.monotonic() < begin + 0.3:
    objects = [Plain() for _ in range(20)]
    s_orders.append([objects.index(each) for each in set(objects)])
    s_ids.append([id(each) for each in objects[:3]])
    s_hashes.append((hash("text %d" % len(s_ids)), hash(objects[0]), hash(object())))
    words = {str(random.randrange(1000)) for _ in range(10)}
    s_orders.append(list(words))
    kept.append(bytes(random.randrange(300, 100_000)))
    s_large.append([id(kept[-1]), id(tuple(range(100))), hex(id(10**2000))])
    if len(kept) > 30:
        del kept[random.randrange(len(kept))]
s_last = s_ids[-2:], s_orders[-2:]
s_last_hashes = s_hashes[-3:], s_large[-3:]
