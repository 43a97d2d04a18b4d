"""Something to step through: `took` is what the stepped-over call took, as the program itself sees it.

Run with an argument, it steps over nothing and prints a JSON list of these times.
"""

import json
import sys
import time


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def call():
    start = time.thread_time()
    fib(22)
    return time.thread_time() - start


def main():
    took = []
    a = 0
    text = "some text"
    while True:
        a += 1  # FIRST
        b = a
        took.append(call())
        c = b


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps([call() for _ in range(20)]))
    else:
        main()
