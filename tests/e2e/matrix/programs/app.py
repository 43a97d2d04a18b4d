"""Add in threads and tasks and raise; given an argument, repeat what is typed and run until there is a file `over`."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

total = 0
data = bytearray(b"text")


def add(number: int) -> int:
    global total  # noqa: PLW0603 - what all programs here add to
    total += number  # (add)
    return total  # (added)


def work(number: int) -> None:
    add(number)  # (call)


async def work_in_a_task(number: int) -> None:
    work(number)


async def main() -> None:
    for number in range(4, 21):
        await asyncio.create_task(work_in_a_task(number))


def run_on() -> None:
    print("ready", flush=True)
    reading = True
    for _ in range(6000):
        line = sys.stdin.readline() if reading else ""
        reading = bool(line)
        if reading:
            print("read", line, end="", flush=True)
        time.sleep(0.01)  # (tick)
        if Path("over").exists():
            print("over", flush=True)
            return


if sys.argv[1:]:
    run_on()
    sys.exit()
for number in range(1, 4):
    thread = threading.Thread(target=work, args=(number,))
    thread.start()
    thread.join()
asyncio.run(main())
subprocess.run([sys.executable, "-c", "print('a child has run')"], check=True)
print("total", total)
raise ValueError("no more to add")
