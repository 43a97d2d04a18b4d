"""Weak references: their call-backs, weak sets and dictionaries, finalizers, in the order in which objects go."""

import random
import time
import weakref

s_gone = []
s_alive = []
s_finalized = []


class Node:
    def __init__(self, number):
        self.number = number
        self.others = []


cache = weakref.WeakValueDictionary()
members = weakref.WeakSet()
kept = []
references = []
begin = time.monotonic()
number = 0
while time.monotonic() < begin + 0.3:
    node = Node(number)
    references.append(weakref.ref(node, lambda reference, number=number: s_gone.append((number, id(reference)))))
    weakref.finalize(node, s_finalized.append, (number, time.perf_counter_ns()))
    cache[number] = node
    members.add(node)
    kept.append(node)
    if kept and random.random() < 0.5:
        kept.pop(random.randrange(len(kept)))
    if len(kept) > 1:
        node.others.append(random.choice(kept))
        random.choice(kept).others.append(node)
    if number % 100 == 0:
        s_alive.append((number, len(cache), [each.number for each in members][:5]))
        kept.clear()
    number += 1
s_last = s_gone[-5:], s_finalized[-5:]
s_order = [each.number for each in members][:20]
