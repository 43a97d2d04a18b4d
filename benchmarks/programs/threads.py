"""Eight threads that count, each in a variable of its own; prints the seconds that each repetition took, as JSON."""

import json
import sys
import threading
import time

THREADS = 8


def count(steps: int) -> int:
    """Count."""
    total = 0
    for number in range(steps):
        total += number & 3
    return total


def never() -> None:
    """Have a line for a breakpoint that is never reached."""
    print("never")  # ELSEWHERE


def together(steps: int) -> None:
    """Let all threads count, from a common start to the last one's end."""
    ready = threading.Barrier(THREADS)

    def work() -> None:
        ready.wait()
        count(steps)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Repeat."""
    steps, repeats = map(int, sys.argv[1:])
    times: dict[str, list[float]] = {"processor time": [], "time": []}
    for _ in range(repeats):
        processor, clock = time.process_time(), time.perf_counter()
        together(steps)
        times["processor time"].append(time.process_time() - processor)
        times["time"].append(time.perf_counter() - clock)
    print(json.dumps(times))


main()
