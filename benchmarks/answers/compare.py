"""Count the calls and bytes that show the faulty line and its value: by answers, by primitives, by plain tools.

    python benchmarks/answers/compare.py            print the table
    python benchmarks/answers/compare.py --write    also put it into docs/reference/answers.md

Each case is a program with a fault, in `faults` or written by `large_programs`, and three ways to see it. A way is a
list of shell commands; they run one after the other until their output has shown the line and the value. Answers and
primitives are commands of dapkit: primitives are those that every debugger has (launch, continue, step, evaluate,
threads). Plain tools are pdb, gdb, py-spy, grep and a copy of the program that prints. No model takes part: each way
knows where to look in the small programs. In the large ones it knows the symptom, and each of its commands uses only
what those before have shown.
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

import large_programs

HERE = Path(__file__).parent
FAULTS = HERE / "faults"
SECONDS = 120
LOOKS = 12
"""Calls after which a way is given up."""


@dataclass(frozen=True)
class Case:
    """A fault.

    Attributes:
        file: the file with the faulty line.
        large: name of the large program; none for a small one, which is that file.
        line: the text of the faulty line, or of the line that shows the fault.
        value: the text that shows that it is wrong there, or several.
        build: a command before it.
        background: a command that keeps running; its process id stands for `$PID`.

    """

    name: str
    file: str
    line: str
    value: str | tuple[str, ...]
    answers: Sequence[str]
    primitives: Sequence[str]
    plain: Sequence[str]
    large: str = ""
    build: str = ""
    background: str = ""


def _pdb(script: str, program: str) -> str:
    return f"printf '{script}' | python -m pdb {program}"


CASES = (
    Case(
        "mutated default",
        "basket.py",
        "basket.append(item)",
        ("'bread'", "['tea', 'milk']"),
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
        ["timeout -s QUIT 2 ./leak"],
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
    Case(
        "pool that hangs",
        "pool.py",
        "return sum(part.result() for part in parts)",
        "ThreadPoolExecutor-0_0",
        ["dapkit stacks $PID"],
        ["dapkit attach $PID", "dapkit pause", "dapkit threads --levels 6"],
        ["py-spy dump --pid $PID"],
        background="python pool.py",
    ),
    Case(
        "underflow in Rust",
        "stock.rs",
        "shelf.amount - wanted",
        "milk",
        ["dapkit autopsy ./stock"],
        ["dapkit launch --no-stop-on-entry ./stock", "dapkit variables"],
        ["gdb -batch -ex 'b stock.rs:7 if shelf.amount < wanted' -ex run -ex 'p *shelf' -ex 'list 7,7' ./stock"],
        build="rustc -g -o stock stock.rs",
    ),
    Case(
        "None, far from its use (4,000 lines)",
        "stages/route_pallet.py",
        'order["bonus"] = {**TABLE, "salt": None}',
        "None",
        ["dapkit autopsy --time-travel main.py"],
        [
            "dapkit launch --no-stop-on-entry main.py",
            """dapkit evaluate 'order["bonus"], order["number"]'""",
            """dapkit restart -b 'main.py:152 if "bonus" in order'""",
            "dapkit evaluate 'STAGES[STAGES.index(stage) - 1]'",
            """dapkit restart -b 'route_pallet if order["number"] == 11'""",
            *["dapkit step-over"] * 3,
        ],
        ["python main.py", """grep -rn '"bonus"' --include '*.py' ."""],
        large="none_far_away",
    ),
    Case(
        "exception, swallowed far away (4,000 lines)",
        "stages/route_pallet.py",
        'order["cost"] += {kind: TABLE[kind]',
        "'salt'",
        ["dapkit run -x raised --stops 1 main.py"],
        ["dapkit launch -x raised main.py"],
        [
            "sed 's/break  # nothing.*/raise/' main.py > p.py; python p.py",
        ],
        large="swallowed_far_away",
    ),
    Case(
        "state between tests (5,800 lines)",
        "test_36_route_pallet.py",
        "TABLE['bread'] = 1000",
        "1000",
        ["dapkit autopsy --time-travel --module pytest -- -q"],
        [
            "dapkit launch -x userUnhandled --no-stop-on-entry --module pytest -- -q",
            "dapkit stack-trace --levels 8",
            (
                "dapkit restart -b \"$(python -c 'import _pytest.python; print(_pytest.python.__file__)'):159"
                " if __import__('sys').modules['stages.audit_rebate'].TABLE['bread'] == 1000\""
            ),
            "dapkit evaluate 'pyfuncitem.nodeid'",
            "dapkit restart -b test_36_route_pallet.py:34",
            "dapkit step-over",
        ],
        ["python -m pytest -q", "grep -n \"TABLE.'bread'.\" test_*.py"],
        large="state_between_tests",
    ),
    Case(
        "lost update (4,000 lines)",
        "stages/route_pallet.py",
        "ledger.balance = balance",
        "value = ",
        ["dapkit run -b 'ledger.py:16 if value < self._balance' -e value -e self._balance main.py"],
        ["dapkit launch -b 'ledger.py:16 if value < self._balance' main.py"],
        [
            "python main.py",
            _pdb(
                'b ledger.py:16, value < self._balance\\nc\\np f"value = {value}", self._balance\\nup\\nq\\n',
                "main.py",
            ),
        ],
        large="lost_update",
    ),
    Case(
        "heap overflow in C (4,200 lines)",
        "stages_3.c",
        "sprintf(order->note",
        "768",
        ["dapkit launch --no-stop-on-entry ./orders", "dapkit why 'order->limit'"],
        [
            "dapkit launch -b 'main.c:91 if order->limit != 1000' ./orders",
            "dapkit evaluate 'stages[number-1]'",
            "dapkit restart -b route_pallet",
            *["dapkit step-over"] * 4,
        ],
        [
            "./orders",
            ("gdb -batch -ex 'tbreak main.c:91' -ex run -ex 'watch order->limit' -ex c -ex bt ./orders"),
        ],
        large="heap_corruption",
        build="cc -g -O0 -o orders *.c",
    ),
    Case(
        "goroutine leak (4,300 lines)",
        "stages_3.go",
        "\tresults <- cost",
        "12 ",
        ["dapkit stacks"],
        ["dapkit pause", "dapkit threads --levels 6"],
        ["timeout -s QUIT 2 ./leak"],
        large="goroutine_leak",
        build=("go build -gcflags='all=-N -l' -o leak .; dapkit launch --no-stop-on-entry ./leak; sleep 2"),
    ),
    Case(
        "missing number in JavaScript (4,400 lines)",
        "stages_3.js",
        "? undefined : weight;",
        "'salt'",
        [
            (
                "dapkit probe 'main.js:19 if Number.isNaN(order.cost)' 'stages[stages.indexOf(stage) - 1]' order.kind"
                " --hits 1 -- main.js"
            ),
        ],
        [
            "dapkit launch -b 'main.js:19 if Number.isNaN(order.cost)' main.js",
            "dapkit evaluate 'stages[stages.indexOf(stage) - 1]'",
        ],
        [
            "node main.js",
            (
                "sed '19i if (Number.isNaN(order.cost)) {"
                " console.log(String(stages[stages.indexOf(stage) - 1]), order); process.exit(); }' main.js > p.js;"
                " node p.js"
            ),
        ],
        large="missing_number",
    ),
    Case(
        "wrong index in Rust (4,500 lines)",
        "main.rs",
        "order.shelf = weight - band",
        "-10",
        ["dapkit launch --no-stop-on-entry ./orders", "dapkit why order.shelf"],
        [
            "dapkit launch --no-stop-on-entry ./orders",
            "dapkit restart -b 'main.rs:27 if order.shelf < 0'",
            "dapkit evaluate stage",
            "dapkit restart -b main::route_pallet",
            *["dapkit step-over"] * 4,
        ],
        [
            "./orders",
            "gdb -batch -ex 'tbreak main.rs:27' -ex run -ex 'watch order.shelf' -ex c -ex list ./orders",
        ],
        large="wrong_index",
        build="rustc -g -o orders main.rs",
    ),
)


PAGE = HERE.parents[1] / "docs/reference/answers.md"
TITLE = "## Faults\n"
ABOUT = """
Each of these programs has a fault. The table has the calls and bytes that show the faulty line and its value: by an
answer of dapkit, by primitives that every debugger has (launch, continue, step, evaluate, threads), and by plain tools
(pdb, gdb, py-spy, grep, a copy of the program that prints). In the small programs every way knows where to look. Eight
have 4,000 lines and more, with the fault far from its symptom, which is all that a way knows there.
`benchmarks/answers/compare.py` measures them; the small programs are in `benchmarks/answers/faults`, and
`large_programs.py` writes the others.
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
        if case.large:
            large_programs.write(case.large, folder)
        else:
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
    lines = (folder / (case.file if case.large else name)).read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if case.line in line)
    places = (case.line, f"{name}:{number}", f"{name}({number})")
    output = ""
    for count, command in enumerate(commands[:LOOKS], 1):
        output += _output(command, folder, environment)
        values = (case.value,) if isinstance(case.value, str) else case.value
        if all(value in output for value in values) and any(place in output for place in places):
            return count, len(output.encode())
    return None


def _output(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S602 - the commands above, as a user types them
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
