"""What time travel costs: the program while it runs forwards, going back, and the memory of its copies.

Forward figures are ratios to the program alone, in processor time of its thread, the best of rounds in which both take
turns. Those of going back are times of the clock, from the request to the `stopped` event. Memory is the proportional
share (PSS) of the program and of all its copies.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import dapkit
from dapkit.python import limits
from sidebyside.bare_client import BareClient, resident, session
from sidebyside.goals import row

PROGRAMS = Path(__file__).with_name("programs")
REPEATS = 5
ROUNDS = 3
MOVES = 40
FORWARD = {"fib": 2.3, "loops": 2.3, "nbody": 2.3, "json": 1.3, "words": 1.3, "asyncio": 1.3}
"""At most so many times as long as the program alone."""
WITHOUT_EXTENSION = {"fib": 6.0, "loops": 6.0, "nbody": 6.0}
"""The same, where the C extension is missing."""

LONG = """\
def rounded(total):
    return total // 10


def work(count):
    total = 0
    for number in range(count):
        total += number
        total ^= 3
    total = rounded(total)
    return total


def main():
    result = work(666_000)
    return result


main()
"""
NEAR_THE_END, BEGINNING, IN_LOOP, RETURN = 2, 6, 9, 11

HOLDS = """\
import json
import time
held = [bytes(1000) for _ in range({count})]
text = json.dumps([{{"a": number, "b": str(number)}} for number in range(5_000)])
begin, clock = time.thread_time(), time.monotonic()
for _ in range({rounds}):
    json.loads(text)
took = time.thread_time() - begin, time.monotonic() - clock
print(*took)
"""

SECONDS = 30
OBJECTS = """\
import json
import time
held = [bytes(1000) for _ in range(9_000)]
records = {{number: [number, str(number)] for number in range({count})}}
end = time.monotonic() + {seconds}
while time.monotonic() < end:
    for number in range(10_000):
        record = records[number % {count}]
        records[number % {count}] = [record[0] + 1, str(number)]
print()
"""
"""A program of 20 MB that makes so many lists anew, again and again."""


def forward(python: str) -> bool:
    """Run workloads with time travel and without, in turns."""
    ratios = _ratios(python, list(FORWARD), None)
    return all([row(f"forwards: {name}", ratio, "x", FORWARD[name]) for name, ratio in ratios.items()])  # noqa: C419 - print all


def without_extension(python: str) -> bool:
    """Do the same where the C extension is missing."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "dapkit")
        shutil.copytree(
            Path(dapkit.__file__).parent,
            package,
            ignore=shutil.ignore_patterns("*.so", "dapkit-supervisor", "native", "__pycache__"),
        )
        ratios = _ratios(python, list(WITHOUT_EXTENSION), {**os.environ, "PYTHONPATH": folder})
    met = [
        row(f"forwards, without the native part: {name}", ratio, "x", WITHOUT_EXTENSION[name])
        for name, ratio in ratios.items()
    ]
    return all(met)


def _ratios(python: str, names: list[str], env: Mapping[str, str] | None) -> dict[str, float]:
    """Return how many times as long workloads take with time travel, of an adapter in an environment."""
    words = ["workloads.py", ",".join(names), str(REPEATS)]
    best: dict[str, dict[str, float]] = {"plain": {}, "travels": {}}
    for _ in range(ROUNDS):
        for kind, found in (("plain", _plain(python, words)), ("travels", _travels(python, words, env))):
            for name, times in found.items():
                best[kind][name] = min([*times, best[kind].get(name, times[0])])
    return {name: best["travels"][name] / best["plain"][name] for name in names}


def _plain(python: str, words: list[str]) -> dict[str, list[float]]:
    output = subprocess.run([python, *words], cwd=PROGRAMS, stdout=subprocess.PIPE, check=True, text=True).stdout
    times: dict[str, list[float]] = json.loads(output)
    return times


def _travels(python: str, words: list[str], env: Mapping[str, str] | None) -> dict[str, list[float]]:
    with session(env) as client:
        client.file = PROGRAMS / words[0]
        client.run(python=python, args=words[1:], timeTravel=True)
        times: dict[str, list[float]] = json.loads(client.output_to_the_end())
        return times


def back(python: str) -> bool:
    """Step back, and run back, in a program that has executed 2 million lines."""
    with session() as client:
        begin = time.perf_counter()
        client.launch(LONG, RETURN, python=python, timeTravel=True)
        took = (time.perf_counter() - begin) * 1000
        row("2 million lines: launch until the stop at the end", took, "ms")
        met = row(f"stepBack, median of {MOVES}", statistics.median(_moves(client, "stepBack", MOVES)), "ms", 15)
        _to_live(client)
        met &= row("reverseContinue within the last interval, median of 10", _last(client, NEAR_THE_END), "ms", 40)
        took = _last(client, IN_LOOP, "number == 665_900")
        row("the same, to a condition that was looked at in each round", took, "ms")
        client.set_breakpoints(BEGINNING)
        across = _moves(client, "reverseContinue", 1)[0]
        plain = _plain_time(python)
        row("reverseContinue across the whole run", across, "ms")
        return met & row("the same, to the forward run with time travel", across / plain, "x", 1.2)


def _last(client: BareClient, line: int, condition: str = "True") -> float:
    """Run back to a breakpoint ten times; return the median in milliseconds."""
    took = []
    for _ in range(10):
        client.set_conditional(line, condition)
        took += _moves(client, "reverseContinue", 1)
        _to_live(client)
    return statistics.median(took)


def _plain_time(python: str) -> float:
    with session() as client:
        client.file.write_text(LONG)
        begin = time.perf_counter()
        client.run(python=python, timeTravel=True)
        client.output_to_the_end()
        return (time.perf_counter() - begin) * 1000


def _moves(client: BareClient, command: str, count: int) -> list[float]:
    took = []
    for _ in range(count):
        begin = time.perf_counter()
        client.step(command)
        took.append((time.perf_counter() - begin) * 1000)
    return took


def _to_live(client: BareClient) -> None:
    """Come to the live program again."""
    client.set_breakpoints()
    while (timeline := client.ask("dapkit/timeline"))["now"] != timeline["live"]:
        client.step("continue")


def memory(python: str) -> bool:
    """Look at what copies of small and of large programs take, and how much longer the latter run."""
    met = True
    for megabytes, most in ((10, 150.0), (490, 800.0)):
        text = HOLDS.format(count=megabytes * 1000, rounds=1_500)
        with session() as client:
            client.launch(text, len(text.splitlines()), python=python, timeTravel=True)
            copies = len(client.ask("dapkit/timeline")["checkpoints"])
            everything = sum(map(share, _of_program(client.program)))
            met &= row(f"a program of {resident(client.program):.0f} MB and {copies} copies", everything, "MB", most)
            client.send("continue", threadId=1)
            processor, clock = map(float, client.output_to_the_end().split())
        alone = [float(each) for each in subprocess.check_output([python, "-c", text], text=True).split()]
        met &= row("  processor time of its thread, to that alone", processor / alone[0], "x", 1.5)
        row("  time of the clock, to that alone", clock / alone[1], "x")
    return met


def many_copies(python: str) -> bool:
    """Look at what as many copies as are kept take, of a program of 20 MB: they differ by what it has changed."""
    met = True
    for count in (100, 1_000, 10_000):
        text = OBJECTS.format(count=count, seconds=SECONDS)
        with session() as client:
            client.launch(text, len(text.splitlines()), python=python, timeTravel=True)
            copies = len(client.ask("dapkit/timeline")["checkpoints"])
            everything = sum(map(share, _of_program(client.program)))
        what = f"{copies} copies of a program of 20 MB, which changes {count:,} objects"
        met &= row(what, everything, "MB", 150) and copies == limits.CHECKPOINTS
    return met


def _of_program(program: int) -> list[int]:
    """List the processes that show the same program: copies of it have its session and its command line."""
    command = Path(f"/proc/{program}/cmdline").read_bytes()
    return [
        int(process.name)
        for process in Path("/proc").iterdir()
        if process.name.isdecimal() and _command(process) == command
    ]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def share(process: int) -> float:
    """Return the megabytes of memory that are a process's, shared pages by their part."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    [line] = [line for line in text.splitlines() if line.startswith("Pss:")]
    return int(line.split()[1]) / 1000


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    cases: dict[str, Callable[[str], bool]] = {
        "forward": forward,
        "without-extension": without_extension,
        "back": back,
        "memory": memory,
        "copies": many_copies,
    }
    parser.add_argument("--case", action="append", choices=list(cases), help="only this")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the program (default: this one)")
    chosen, _ = parser.parse_known_args()
    met = [cases[name](chosen.python) for name in chosen.case or cases]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
