"""Forks: children that write into a pipe and end, and what waiting for them tells."""

import os
import time

s_children = []
s_read = []


def fork(number: int) -> None:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.write(theirs, f"child {os.getpid()} of {os.getppid()}".encode())
        os._exit(number % 50)
    os.close(theirs)
    s_read.append(os.read(ours, 100))
    os.close(ours)
    waited, status = os.waitpid(child, 0)
    s_children.append((waited == child, child, os.waitstatus_to_exitcode(status)))
    child = os.fork()
    if child == 0:
        os._exit(1)
    waited, status, usage = os.wait3(0)
    s_children.append((waited, status, usage.ru_utime))


end = time.monotonic() + 0.4
number = 0
while time.monotonic() < end:
    fork(number)
    number += 1
    for _ in range(200):
        number += 0
try:
    os.wait()
except ChildProcessError as error:
    s_children.append(str(error))
pass
