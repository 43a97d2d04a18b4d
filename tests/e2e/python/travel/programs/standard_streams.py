"""Standard streams: what is printed, and input from a pipe that takes the place of stdin."""

import os
import sys
import time

s_read = []
s_asked = [sys.stdout.isatty(), sys.stdout.encoding, sys.stdin.isatty(), sys.stderr.fileno()]

ours, theirs = os.pipe()
kept = os.dup(0)
os.dup2(ours, 0)
os.close(ours)
end = time.monotonic() + 0.4
number = 0
while time.monotonic() < end:
    os.write(theirs, f"line {number}\n{time.time_ns()}\n".encode())
    s_read.append(sys.stdin.readline())
    s_read.append(input())
    print("read", number, flush=number % 7 == 0)
    sys.stderr.write("")
    number += 1
    time.sleep(0.001)
sys.stdout.flush()
os.close(theirs)
s_read.append(sys.stdin.read())
os.dup2(kept, 0)
pass
