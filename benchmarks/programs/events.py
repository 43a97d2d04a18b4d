"""Things that happen very often: `events.py NAME COUNT REPEATS` prints a JSON list of processor seconds."""

import json
import sys
import time


def never():
    return 1  # ELSEWHERE


def lines(n):
    total = 0
    for i in range(n):
        total = total + i  # LINE
    return total


def messages(n):
    total = 0  # BEFORE
    for i in range(n):
        total = total + i  # LOG
    return total  # AFTER


def raises(n):
    caught = 0
    for i in range(n):
        try:
            raise ValueError(i)
        except ValueError:
            caught += 1
    return caught


def timed(work, count):
    start = time.thread_time()
    work(count)
    return time.thread_time() - start


if __name__ == "__main__":
    work, count = {"lines": lines, "messages": messages, "raises": raises}[sys.argv[1]], int(sys.argv[2])
    print(json.dumps([timed(work, count) for _ in range(int(sys.argv[3]))]))
