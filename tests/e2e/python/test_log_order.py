"""Log messages between what the program, its threads and its children write: in the order of the program, exactly.

stdout and stderr are two pipes: what is written to both between two log messages may change places.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from e2e.python.raw_client import Message, RawClient, raw_client

pytestmark = [pytest.mark.each_python, pytest.mark.row("setBreakpoints")]

PROGRAM = """
import json, os, queue, subprocess, sys, threading

child = subprocess.Popen(
    ["sh", "-c", "while read line; do echo $line; echo >&2; done"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
)
other = os.dup(1)
calls, results = queue.SimpleQueue(), queue.SimpleQueue()

def serve():
    while (call := calls.get()) is not None:
        results.put(call[0](call[1]))

def log(number):
    return number  # LOG

def out(number):
    os.write(1, b"%d\\n" % number)

def duplicate(number):
    os.write(other, b"%d\\n" % number)

def error(number):
    os.write(2, b"%d\\n" % number)

def printed(number):
    print(number)

def complained(number):
    print(number, file=sys.stderr)

def held_back(number):
    print(number, end=" ")

def by_child(number):
    child.stdin.write(b"%d\\n" % number)
    child.stdin.flush()
    child.stderr.readline()

def elsewhere(number):
    kept = os.dup(1)
    os.dup2(null, 1)
    os.write(1, b"%d\\n" % number)
    os.dup2(kept, 1)
    os.close(kept)

null = os.open(os.devnull, os.O_WRONLY)
thread = threading.Thread(target=serve)
thread.start()
for number, (action, in_thread) in enumerate(json.loads(sys.argv[1])):
    action = globals()[action]
    if in_thread:
        calls.put((action, number))
        results.get()
    else:
        action(number)
calls.put(None)
thread.join()
print()
child.communicate()
null  # END
"""

TO_STDOUT = ("out", "duplicate", "printed", "by_child")
TO_STDERR = ("error", "complained")

type Step = tuple[str, bool]
"""What is done, and whether another thread does it."""


@dataclass
class Entry:
    """A log message, and what was written to stdout and stderr after it."""

    message: str
    stdout: list[int] = field(default_factory=list)
    stderr: list[int] = field(default_factory=list)


def breakpoints_of(text: str) -> list[Message]:
    """Return a log message at the line LOG, and a stop at the line END."""
    lines = enumerate(text.splitlines(), 1)
    marked = {line.rpartition("# ")[2]: number for number, line in lines if "# " in line}
    return [{"line": marked["LOG"], "logMessage": "log {number}"}, {"line": marked["END"]}]


async def start(client: RawClient, folder: Path, text: str, *args: str, python: str) -> None:
    """Run a program in a folder, with its breakpoints."""
    file = folder / "prog.py"
    file.write_text(text)
    await client.initialize()
    launch = {"program": str(file), "args": args, "python": python, "cwd": str(folder)}
    await client.send("launch", {**launch, "env": {"PYTHONUNBUFFERED": None}})
    await client.event("initialized")
    source = {"path": str(file)}
    await client.ask("setBreakpoints", {"source": source, "breakpoints": breakpoints_of(text)})
    await client.ask("configurationDone")


async def stop_and_leave(client: RawClient) -> None:
    """Wait for the stop, and end the session."""
    await client.event("stopped")
    await client.send("disconnect")
    await client.hear_the_end()


def seen(client: RawClient) -> list[Entry]:
    """Return what was shown, from message to message."""
    entries = [Entry("")]
    rest = {"stdout": "", "stderr": ""}
    for message in client.heard:
        if message.get("event") != "output":
            continue
        body = message["body"]
        if body["category"] == "console":
            entries += [Entry(line) for line in body["output"].splitlines() if line.startswith("log ")]
        elif body["category"] in rest:
            *lines, rest[body["category"]] = (rest[body["category"]] + body["output"]).split("\n")
            written = entries[-1].stdout if body["category"] == "stdout" else entries[-1].stderr
            written += [int(number) for line in lines for number in line.split()]
    return entries


def expected(steps: Sequence[Step]) -> list[Entry]:
    """Return what is to be shown: `held_back` stays in a buffer until a line is complete."""
    entries = [Entry("")]
    held: list[int] = []
    for number, (action, _) in enumerate(steps):
        if action == "log":
            entries.append(Entry(f"log {number}"))
        elif action == "held_back":
            held.append(number)
        elif action == "printed":
            entries[-1].stdout += [*held, number]
            held = []
        elif action != "elsewhere":
            (entries[-1].stdout if action in TO_STDOUT else entries[-1].stderr).append(number)
    entries[-1].stdout += held
    return entries


def random_steps(seed: int) -> list[Step]:
    """Return steps in runs of one action, as programs have them, and single ones."""
    draw = random.Random(seed)  # noqa: S311 - the same each time
    steps: list[Step] = []
    while len(steps) < 400:
        action = draw.choice((*["log"] * 5, "elsewhere", "held_back", *TO_STDOUT, *TO_STDERR))
        steps += [(action, draw.random() < 0.3)] * draw.choice((1, 1, 1, 3))
    return steps


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.thorough
async def test_log_messages_come_where_the_program_has_them(tmp_path: Path, python: str, seed: int) -> None:
    steps = random_steps(seed)
    async with raw_client() as client:
        await start(client, tmp_path, PROGRAM, json.dumps(steps), python=python)
        await stop_and_leave(client)
        assert seen(client) == expected(steps)


@pytest.mark.thorough
async def test_log_messages_come_where_the_program_has_them_without_the_extension(
    tmp_path: Path, python: str, without_extension: Mapping[str, str]
) -> None:
    steps = random_steps(4)
    async with raw_client(env=without_extension) as client:
        await start(client, tmp_path, PROGRAM, json.dumps(steps), python=python)
        await stop_and_leave(client)
        assert seen(client) == expected(steps)


COUNTS = """
import os
def written():
    with open("/proc/self/io") as file:
        return int(next(line for line in file if line.startswith("wchar")).split()[1])
def logs(count):
    for number in range(count):
        pass  # LOG
logs(1)
os.write(1, b"1\\n")
before = written()
logs(5000)
after = written()
os.write(2, b"%d\\n" % (after - before))
os  # END
"""


async def test_log_messages_with_nothing_between_them_have_no_marks(tmp_path: Path, python: str) -> None:
    async with raw_client() as client:
        await start(client, tmp_path, COUNTS, python=python)
        await stop_and_leave(client)
        [_, first, *others] = seen(client)
        assert first == Entry("log 0", stdout=[1])
        assert [entry.message for entry in others] == [f"log {number}" for number in range(5000)]
        [written] = others[-1].stderr  # where nothing is sent: a byte for the link's thread is written now and then
        assert written < 10_000


DIES = """
import os, signal
def log(number):
    return number  # LOG
for number in range(100):
    log(number)
os.write(1, b"100\\n")
{death}
os  # END
"""


@pytest.mark.parametrize(
    "death",
    ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "os.execv('/bin/true', ['true'])"],
    ids=["exits at once", "is killed", "is replaced"],
)
@pytest.mark.thorough
async def test_output_of_a_program_that_dies_comes_though_messages_before_it_are_lost(
    tmp_path: Path, python: str, death: str
) -> None:
    async with raw_client() as client:
        await start(client, tmp_path, DIES.format(death=death), python=python)
        await client.event("terminated")
        assert [entry.stdout for entry in seen(client) if entry.stdout] == [[100]]
        assert seen(client)[-1].stdout == [100]
        await client.send("disconnect")
        await client.hear_the_end()
