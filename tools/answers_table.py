"""Measure the cost of the answers to usual questions, and write docs/reference/answers.md.

    python tools/answers_table.py            write the page
    python tools/answers_table.py --show     only print the tables

Each task is one call of the command line, with a hub that runs already. Bytes are those of the answer as text; the
answer must hold the line and the value that the question is about. Nothing is asked of a model.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TASKS = ROOT / "benchmarks/answers/tasks"
PAGE = ROOT / "docs/reference/answers.md"


MILLISECONDS = re.compile(r"^(\d+ *)  \d+ *  ", re.MULTILINE)
"""The number and the time of a hit, at the beginning of a row."""

PATIENCE = {f"DAPKIT_{name}_SECONDS": "120" for name in ("REQUEST_TIMEOUT", "ADAPTER_READY")}
"""Settings for a busy machine."""

TRIES = 20
"""Calls until an answer holds what it must, before it is measured."""

FAULTS = "## Faults\n"
"""Begins the part of the page that `benchmarks/answers/compare.py` writes."""

INTRODUCTION = """\
# The cost of answers

An agent pays for each byte that it reads. This page has the bytes of the answers to some usual questions, as text, and
the seconds of the whole command where a hub runs already. `tools/answers_table.py` measures them: each answer must hold
the line and the value that the question is about, within the bytes that the project allows. The programs are in
`benchmarks/answers/tasks`.
"""


@dataclass(frozen=True)
class Task:
    """A question, the call that answers it, and what the answer must hold.

    Attributes:
        most: bytes of the answer at most: the goal of the project.
        holds: texts that must be in the answer.
        program: a program that runs meanwhile, whose process id stands for `PID`.

    """

    question: str
    words: Sequence[str]
    most: int
    holds: Sequence[str]
    program: str = ""
    input: str = ""


TABLE = (
    Task("T1: a crash: its line and values", ["run", "crash.py"], 700, ["crash.py:5", "divisor = 0", "amount = 30"]),
    Task(
        "T2: two values over twenty rounds",
        ["probe", "loop.py:7", 'item["id"]', "result", "--", "loop.py"],
        400,
        ["20  ", "19  ", "2530"],
    ),
    Task(
        "T3: a deadlock: which thread waits where",
        ["stacks", "PID"],
        900,
        ["Deadlock: ", "worker-ab", "worker-ba", "second", "deadlock.py:12"],
        program="deadlock.py",
    ),
    Task("T4: a segmentation fault in C", ["run", "./segfault"], 900, ["segfault.c:11", "cur = 0x10", "SIGSEGV"]),
    Task("T5: ten lines with their values", ["trace", "compute", "--", "steps.py"], 900, ["d = 169", "Returned: "]),
    Task("T6: values of 10 MB", ["run", "-b", "big.py:6", "big.py"], 600, ["numbers = ", "big.py:6"]),
    Task("T7: a program that reads its input", ["run", "reads.py"], 150, ["hello Ada"], input="Ada\n"),
    Task("the same crash, explained", ["autopsy", "crash.py"], 1000, ["divisor = 0 (!)", "crash.py:5", "qty"]),
)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Measure the cost of answers, and write docs/reference/answers.md.")
    parser.add_argument("--show", action="store_true", help="only print the tables")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, hub(Path(folder)) as call:
        text = page(call, Path(folder))
    if arguments.show:
        print(text)
    else:
        faults = PAGE.read_text(encoding="utf-8").partition(FAULTS)[2] if PAGE.exists() else ""
        PAGE.write_text(f"{text}\n{FAULTS}{faults}", encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


type Call = Callable[[Sequence[str], str], str]
"""Runs a command of dapkit with an input, and returns what it prints."""


@contextmanager
def hub(folder: Path) -> Iterator[Call]:
    """Start a hub of its own for the tasks in a folder, and end it."""
    for source in TASKS.iterdir():
        (folder / source.name).write_bytes(source.read_bytes())
    subprocess.run(["cc", "-g", "-O0", "-o", "segfault", "segfault.c"], cwd=folder, check=True)  # noqa: S607
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "DAPKIT_RUNTIME_DIR": str(folder / "runtime"), **PATIENCE}
    (folder / "runtime").mkdir(mode=0o700)

    def call(words: Sequence[str], given: str = "") -> str:
        command = [sys.executable, "-m", "dapkit.cli", *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, input=given, capture_output=True, text=True, timeout=300, check=False
        )
        return done.stdout

    try:
        call(["sessions"])
        yield call
    finally:
        call(["hub", "stop"])


def page(call: Call, folder: Path) -> str:
    """Measure everything, and return the page."""
    rows = [row(call, task, folder) for task in TABLE]
    if too_long := [name for name, count, most in read_first(call) if count > most]:
        sys.exit(f"too long: {', '.join(too_long)}")
    return "\n".join(
        [
            INTRODUCTION,
            "| question | call | bytes | at most | seconds |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            "| read before the first call | bytes | at most |",
            "| --- | --- | --- |",
            *(f"| {name} | {count:,} | {most:,} |" for name, count, most in read_first(call)),
            "",
        ]
    )


def row(call: Call, task: Task, folder: Path) -> str:
    """Measure a task; end the command if its answer lacks something, or is too long."""
    process: subprocess.Popen[bytes] | None = None
    words = [*task.words]
    if task.program:
        process = subprocess.Popen([sys.executable, task.program], cwd=folder, stdout=subprocess.PIPE)
        if process.stdout is not None:
            process.stdout.readline()
        words = [str(process.pid) if word == "PID" else word for word in words]
    try:
        for _ in range(TRIES):  # once before, as in a session; a program that runs meanwhile may not have come so far
            if all(text in call(words, task.input) for text in task.holds):
                break
        begin = time.monotonic()
        answer = call(words, task.input)
        seconds = time.monotonic() - begin
    finally:
        if process is not None:
            process.kill()
            process.wait()
    answer = answer.replace(str(folder), "/home/ada/shop")
    missing = [text for text in task.holds if text not in answer]
    on_a_quick_machine = MILLISECONDS.sub(r"\1  0  ", answer)  # a slow one has more digits in each row
    if missing or len(on_a_quick_machine.encode()) > task.most:
        reason = f"{missing} not in" if missing else f"more than {task.most} bytes:"
        sys.exit(f"{task.question}: {reason}\n{answer}")
    shown = " ".join(["dapkit", *(f"'{word}'" if '"' in word else word for word in task.words)])
    return f"| {task.question} | `{shown}` | {len(answer.encode()):,} | {task.most:,} | {seconds:.2f} |"


def read_first(call: Call) -> list[tuple[str, int, int]]:
    """Return the sizes of the pages that are read before the first call, each with the most that it may have."""
    return [
        ("`dapkit --help`", len(call(["--help"], "").encode()), 1500),
        ("the longest `--help` of a command", longest_help(call), 1200),
        ("`dapkit skill`, in words", len(call(["skill"], "").split()), 600),
    ]


def longest_help(call: Call) -> int:
    """Return the bytes of the longest short help of a command."""
    from dapkit.cli.command_list import names

    return max(len(call([name, "--help"], "").encode()) for name in names())


if __name__ == "__main__":
    sys.exit(main())
