"""select, poll and epoll by way of selectors, with and without something to wait for."""

import selectors
import socket
import time

s_seen = []
s_epochs = []


def wait_with(selector):
    pairs = [socket.socketpair() for _ in range(5)]
    for i, (one, _) in enumerate(pairs):
        selector.register(one, selectors.EVENT_READ, i)
    s_seen.append(selector.select(0.001))
    for step in range(20):
        chosen = {(step * step) % 5, time.monotonic_ns() % 5}
        for i in chosen:
            pairs[i][1].send(b"%d" % step)
        ready = selector.select(1)
        s_seen.append(sorted((key.data, key.fileobj.recv(100)) for key, _ in ready))
    selector.modify(pairs[0][0], selectors.EVENT_READ | selectors.EVENT_WRITE, "first")
    s_seen.append([(key.data, events) for key, events in selector.select()])
    for one, two in pairs:
        selector.unregister(one)
        one.close()
        two.close()
    selector.close()


begin = time.monotonic()
while time.monotonic() < begin + 0.3:
    for kind in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
        wait_with(kind())
        s_epochs.append(time.monotonic())
s_last = s_seen[-5:]
