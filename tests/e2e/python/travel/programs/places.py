"""Where objects lie that are made in the course of a second, with what the garbage collector does meanwhile."""

import time

begin = time.monotonic()
kept = []
rings = 0
while len(kept) < 20_000 or time.monotonic() < begin + 1.1:
    kept.append(bytes(100))
    kept.append([kept[-1]])
    ring = [len(kept)]
    ring.append(ring)
    rings += 1
s_rings = rings
s_places = hash(tuple(map(id, kept)))
s_last = [hex(id(each)) for each in kept[-3:]]
