"""Runs until its standard input ends, for those who attach to it."""

import sys
import threading


def tick(count: int) -> int:
    return count + 1


def watch_input() -> None:
    sys.stdin.read()
    done.set()


done = threading.Event()
threading.Thread(target=watch_input, daemon=True).start()
ticks = 0
print("ready", flush=True)
while not done.wait(0.02):
    ticks = tick(ticks)
print("done", flush=True)
