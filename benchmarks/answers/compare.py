"""Count the calls and bytes that show the faulty line and its value: by answers, by primitives, by plain tools.

    python benchmarks/answers/compare.py            print the table
    python benchmarks/answers/compare.py --write    also put it into docs/reference/answers.md

Each case is a program with a fault, in `faults`, and three ways to see it. A way is a list of shell commands; they run
one after the other until their output has shown the line and the value. Answers and primitives are commands of dapkit:
primitives are those that every debugger has (launch, continue, step, evaluate, threads). Plain tools are pdb, gdb,
py-spy and a copy of the program that prints. No model takes part: each way knows where to look.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FAULTS = HERE / "faults"
SECONDS = 120
LOOKS = 8
"""Calls after which a way is given up."""


@dataclass(frozen=True)
class Case:
    """A fault.

    Attributes:
        file: its program.
        line: the text of the faulty line, or of the line that shows the fault.
        value: the text that shows that it is wrong there.
        build: a command before it.
        background: a command that keeps running; its process id stands for `$PID`.

    """

    name: str
    file: str
    line: str
    value: str
    answers: Sequence[str]
    primitives: Sequence[str]
    plain: Sequence[str]
    build: str = ""
    background: str = ""


def _pdb(script: str, program: str) -> str:
    return f"printf '{script}' | python -m pdb {program}"


CASES = (
    Case(
        "mutated default",
        "basket.py",
        "basket.append(item)",
        "['tea', 'milk']",
        ["dapkit probe \"basket.py:6 if item == 'bread'\" item basket -- basket.py"],
        ["dapkit launch -b basket.py:6 basket.py", "dapkit continue", "dapkit continue"],
        [_pdb('b 6, item == "bread"\\nc\\np item, basket\\nq\\n', "basket.py")],
    ),
    Case(
        "late binding",
        "handlers.py",
        "lambda amount: amount * rate",
        "rate = 3",
        ["dapkit trace handlers.py:7 --nth 4 -- handlers.py"],
        ["dapkit launch -b 'handlers.py:7' handlers.py", *["dapkit continue"] * 3],
        [_pdb('b 7\\nc\\nc\\nc\\nc\\np f"rate = {rate}"\\nq\\n', "handlers.py")],
    ),
    Case(
        "swallowed exception",
        "settings.py",
        "return int(text)",
        "'3O'",
        ["dapkit run -x raised settings.py"],
        ["dapkit launch -x raised settings.py", "dapkit continue", "dapkit variables"],
        [_pdb("b 8\\nc\\np text\\nc\\np text\\nq\\n", "settings.py")],
    ),
    Case(
        "off by one",
        "windows.py",
        "for start in range(len(numbers) - size):",
        "start = 2",
        ["dapkit trace best -- windows.py"],
        [
            "dapkit launch -b windows.py:7 windows.py",
            "dapkit continue",
            "dapkit continue",
            "dapkit step-over",
            "dapkit step-over",
        ],
        [_pdb('b 7\\nc\\nc\\nc\\np f"start = {start}"\\nl 6,6\\nq\\n', "windows.py")],
    ),
    Case(
        "forgotten await",
        "fetches.py",
        "cost = price(name)",
        "coroutine",
        ["dapkit trace order -- fetches.py"],
        ["dapkit launch -b fetches.py:13 fetches.py", "dapkit variables"],
        [_pdb("b 13\\nc\\np cost\\nl\\nq\\n", "fetches.py")],
    ),
    Case(
        "wrong encoding",
        "names.py",
        'return dict(line.rstrip("\\n").split(";") for line in file)',
        "Zo\u00c3\u00ab",
        ["dapkit trace load -- names.py"],
        ["dapkit launch -b names.py:9 names.py", "dapkit step-over", "dapkit step-over", "dapkit step-over"],
        [_pdb("b 10\\nc\\nclear 1\\nr\\nl 10,10\\nq\\n", "names.py")],
    ),
    Case(
        "state between tests",
        "test_leak.py",
        "return CACHE[key]",
        "{10: 20}",
        ['dapkit probe "test_leak.py:10 if rate == 3" rate CACHE --module pytest -- -q test_leak.py'],
        [
            "dapkit launch -b test_leak.py:10 --module pytest -- -q test_leak.py",
            "dapkit continue",
            "dapkit evaluate CACHE",
        ],
        [
            "python -m pytest -q test_leak.py",
            (
                "sed 's/^    return CACHE/    print(rate, CACHE)\\n&/' test_leak.py > test_p.py;"
                " python -m pytest -q -s test_p.py; grep -n 'return CACHE' test_leak.py"
            ),
        ],
    ),
    Case(
        "deadlock",
        "../tasks/deadlock.py",
        "with second:",
        "worker-ba",
        ["dapkit stacks $PID"],
        ["dapkit attach $PID", "dapkit pause", "dapkit threads --levels 3"],
        ["py-spy dump --locals --pid $PID"],
        background="python deadlock.py",
    ),
    Case(
        "underflow in C",
        "under.c",
        "unsigned left = most - used;",
        "4294967294",
        ["dapkit trace room --nth 2 -- ./under"],
        ["dapkit launch -b under.c:7 ./under", "dapkit continue"],
        ["gdb -batch -ex 'b under.c:7 if left > 1000' -ex run -ex 'info locals' -ex 'list 6,6' ./under"],
        build="cc -g -O0 -o under under.c",
    ),
    Case(
        "heap overflow in C",
        "heap.c",
        "strcpy(order->name, name);",
        "amount = 0",
        ["dapkit trace order_of --nth 2 -- ./heap"],
        ["dapkit launch -b 'heap.c:13' ./heap", "dapkit continue", "dapkit step-over"],
        ["gdb -batch -ex 'b heap.c:13' -ex run -ex c -ex 'p *order' -ex n -ex 'p *order' -ex 'list 13,13' ./heap"],
        build="cc -g -O0 -o heap heap.c",
    ),
    Case(
        "segmentation fault in C",
        "../tasks/segfault.c",
        "sum += cur->value;",
        "0x10",
        ["dapkit autopsy ./segfault"],
        ["dapkit launch --no-stop-on-entry ./segfault", "dapkit variables"],
        ["gdb -batch -ex run -ex bt -ex 'info locals' ./segfault"],
        build="cc -g -O0 -o segfault segfault.c",
    ),
    Case(
        "goroutine leak",
        "leak.go",
        "results <- number * 2",
        "main.fetch",
        ["dapkit stacks"],
        ["dapkit pause", "dapkit threads --levels 6"],
        [],
        build="go build -gcflags='all=-N -l' -o leak leak.go; dapkit launch --no-stop-on-entry ./leak",
    ),
    Case(
        "nil map in Go",
        "stock.go",
        "s.amounts[name] += amount",
        "nil",
        ["dapkit autopsy stock.go"],
        ["dapkit launch --no-stop-on-entry stock.go", "dapkit variables"],
        [
            "go run stock.go",
            (
                "sed 's/^\\ts.amounts.name/\\tfmt.Printf(\"%#v\\\\n\", s)\\n&/' stock.go > p.go; go run p.go;"
                " grep -n 's.amounts.name. +=' stock.go"
            ),
        ],
    ),
    Case(
        "missing number in JavaScript",
        "totals.js",
        "return { name, amount: Number(amount), price: Number(price) };",
        "milk,1",
        ["dapkit probe 'totals.js:3 if price === undefined' line price -- totals.js"],
        ["dapkit launch -b totals.js:3 totals.js", "dapkit continue"],
        ["sed '3i console.log(3, line, price);' totals.js > p.js; node p.js; sed -n 3p totals.js"],
    ),
)


PAGE = HERE.parents[1] / "docs/reference/answers.md"
TITLE = "## Faults\n"
ABOUT = """
Each of these programs has a fault. The table has the calls and bytes that show the faulty line and its value: by an
answer of dapkit, by primitives that every debugger has (launch, continue, step, evaluate, threads), and by plain tools
(pdb, gdb, py-spy, a copy of the program that prints). Every way knows where to look. `benchmarks/answers/compare.py`
measures them; the programs are in `benchmarks/answers/faults`. They are small.
"""


def main() -> int:
    """Run the command."""
    lines = []
    for line in table():
        print(line, flush=True)
        lines.append(line)
    if "--write" in sys.argv[1:]:
        before = PAGE.read_text(encoding="utf-8").partition(TITLE)[0]
        PAGE.write_text("\n".join([f"{before}{TITLE}{ABOUT}", *lines, ""]), encoding="utf-8")
    return 0


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| fault | answers: calls / bytes | primitives | plain tools |"
    yield "| --- | --- | --- | --- |"
    totals: dict[str, list[tuple[int, int]]] = {"answers": [], "primitives": [], "plain": []}
    for case in CASES:
        cells = []
        for way, counts in totals.items():
            commands: Sequence[str] = getattr(case, way)
            count = tried(case, commands) if commands else None
            cells.append("-" if not commands else "not shown" if count is None else f"{count[0]} / {count[1]:,}")
            if count is not None:
                counts.append(count)
        yield f"| {case.name} | {' | '.join(cells)} |"
    medians = [
        f"{statistics.median(calls for calls, _ in counts):g} / {statistics.median(size for _, size in counts):,.0f}"
        for counts in totals.values()
    ]
    yield f"| **median** | {' | '.join(medians)} |"


def tried(case: Case, commands: Sequence[str]) -> tuple[int, int] | None:
    """Run commands until the fault is shown, and return their number and the bytes of their output.

    None if it is not shown.
    """
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        shutil.copy(FAULTS / case.file, folder)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "DAPKIT_RUNTIME_DIR": str(folder / "runtime")}
        (folder / "runtime").mkdir(mode=0o700)
        process: subprocess.Popen[bytes] | None = None
        try:
            _output("dapkit sessions", folder, environment)
            if case.build:
                _output(case.build, folder, environment)
            if case.background:
                process = subprocess.Popen(case.background.split(), cwd=folder, env=environment, stdout=subprocess.PIPE)
                if process.stdout is not None:
                    process.stdout.readline()
                environment["PID"] = str(process.pid)
            return _until_shown(case, commands, folder, environment)
        finally:
            _output("dapkit hub stop", folder, environment)
            if process is not None:
                process.kill()
                process.wait()


def _until_shown(
    case: Case, commands: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int, int] | None:
    name = Path(case.file).name
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if case.line in line)
    places = (case.line, f"{name}:{number}", f"{name}({number})")
    output = ""
    for count, command in enumerate(commands[:LOOKS], 1):
        output += _output(command, folder, environment)
        if case.value in output and any(place in output for place in places):
            return count, len(output.encode())
    return None


def _output(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S602 - the commands above, as a user types them
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
