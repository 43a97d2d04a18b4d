"""What means the same under every adapter: hit conditions, and how a program ended."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from action_fixtures import Caller

HITS = {
    "hit 3": [3],
    "hit = 4": [4],
    "hit == 5": [5],
    "hit != 5": [1, 2, 3, 4, 6, 7, 8, 9],
    "hit > 7": [8, 9],
    "hit >= 7": [7, 8, 9],
    "hit < 3": [1, 2],
    "hit <= 3": [1, 2, 3],
    "hit % 4": [4, 8],
    "hit %4": [4, 8],
}
"""At which of nine hits a breakpoint stops whose line says so."""

LINES = "".join(f"        total += i {{comment}} {hit}\n" for hit in HITS)
C = (
    "#include <signal.h>\n#include <stdio.h>\n\nint main(void) {\n    int total = 0;\n"
    "    for (int i = 1; i <= 9; i++) {\n"
    + LINES.replace("i {comment}", "i; //")
    + '    }\n    printf("%d\\n", total);\n    raise(SIGTERM);\n    return 0;\n}\n'
)
GO = (
    'package main\n\nimport (\n    "syscall"\n    "time"\n)\n\n'
    "func main() {\n    total := 0\n    for i := 1; i <= 9; i++ {\n"
    + LINES.format(comment="//")
    # Asleep, not in `select {}`, which Go may report as a deadlock before the signal comes.
    + "    }\n    println(total)\n    syscall.Kill(syscall.Getpid(), syscall.SIGTERM)\n    time.Sleep(time.Hour)\n}\n"
)
PYTHON = (
    "import os\nimport signal\n\ndef main():\n    total = 0\n    for i in range(1, 10):\n"
    + LINES.format(comment="#")
    + "    print(total)\n    os.kill(os.getpid(), signal.SIGTERM)\n\nmain()\n"
)


WRITER_C = """\
#include <stdio.h>
#include <unistd.h>

int counter;

static void work(void) {
    counter += 1;
    printf("%d\\n", counter);
}

int main(void) {
    setbuf(stdout, NULL);
    for (;;) {
        work();
        usleep(10000);
    }
}
"""
WRITER_GO = """\
package main

import (
    "fmt"
    "time"
)

var counter int

func work() {
    counter += 1
    fmt.Println(counter)
}

func main() {
    for {
        work()
        time.Sleep(10 * time.Millisecond)
    }
}
"""


class Subject(NamedTuple):
    """A program under an adapter, and its source."""

    adapter: str
    program: Path
    source: Path


def under(adapter: str, *, each: bool = False) -> object:
    """Name an adapter as a parameter; `each` for one that shows what others show."""
    return pytest.param(adapter, marks=pytest.mark.each_adapter) if each else pytest.param(adapter)


class Build:
    """Writes a program for an adapter into the project, and compiles it."""

    def __init__(self, request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> None:
        self._request = request
        self._caller = caller
        self._require_tool = require_tool

    def __call__(self, adapter: str, *, c: str, go: str, python: str = "") -> Subject:
        """Make the program of the adapter's language."""
        caller = self._caller
        match adapter:
            case "dapkit" | "debugpy":
                program = caller.write("alike.py", python)
                return Subject(adapter, program, program)
            case "dlv":
                self._require_tool("dlv")
                source, command = caller.write("main.go", go), [self._require_tool("go"), "build", "-gcflags=all=-N -l"]
            case "gdb":
                gdb: list[str] = self._request.getfixturevalue("gdb")
                found = Path(shutil.which(gdb[0]) or gdb[0]).parent
                caller.env = {**caller.env, "PATH": f"{found}{os.pathsep}{caller.env['PATH']}"}
                source, command = caller.write("alike.c", c), [self._require_tool("cc"), "-g", "-O0"]
            case _:
                self._require_tool("lldb-dap-22")
                source, command = caller.write("alike.c", c), [self._require_tool("cc"), "-g", "-O0"]
        program = caller.project / "alike"
        subprocess.run([*map(str, command), "-o", program, source], cwd=caller.project, check=True)
        return Subject(adapter, program, source)


@pytest.fixture
def build(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> Build:
    """Return what writes and compiles programs."""
    return Build(request, caller, require_tool)


type Start = Callable[[Path], subprocess.Popen[str]]


@pytest.fixture
def started() -> Iterator[Start]:
    """Return a function that starts a program, which is killed after the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(program: Path) -> subprocess.Popen[str]:
        processes.append(subprocess.Popen([program], stdout=subprocess.PIPE, text=True))
        return processes[-1]

    yield start
    for process in processes:
        with process:
            process.kill()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "adapter",
    [under("dapkit"), under("gdb"), under("lldb-dap"), under("debugpy", each=True), under("dlv", each=True)],
)
async def test_hit_conditions_and_the_signal_that_ends_a_program_mean_the_same_everywhere(
    caller: Caller, build: Build, adapter: str
) -> None:
    subject = build(adapter, c=C, go=GO, python=PYTHON)
    lines = {
        number: hit
        for number, line in enumerate(subject.source.read_text().splitlines(), 1)
        for hit in HITS
        if line.endswith((f"// {hit}", f"# {hit}"))
    }
    assert sorted(lines.values()) == sorted(HITS)
    breakpoints = [
        {"file": subject.source.name, "line": line, "hit_condition": hit.removeprefix("hit ")}
        for line, hit in lines.items()
    ]
    answer = await caller(
        "launch",
        program=subject.program.name,
        adapter=subject.adapter,
        breakpoints=breakpoints,
        stop_on_entry=False,
        timeout=60,
    )
    seen: dict[str, list[int]] = {hit: [] for hit in HITS}
    signals = []
    while answer.details["snapshot"]["status"] == "stopped":
        snapshot = answer.details["snapshot"]
        if snapshot["stopReason"] == "breakpoint":
            value = (await caller("evaluate", expression="i", context="watch")).details["evaluation"]["result"]
            seen[lines[snapshot["line"]]].append(int(value.split()[0]))
        else:
            signals.append(answer.details["stop"]["description"])
        answer = await caller("continue", timeout=60)
    assert seen == HITS
    ended = answer.details["snapshot"]
    assert (ended["exitCode"], ended["exitSignal"]) == (143, "SIGTERM")
    assert "Program terminated with exit code 143 (SIGTERM)." in answer.text
    assert signals == (["signal SIGTERM"] if subject.adapter in ("gdb", "lldb-dap") else [])
    assert "  exit=143 (SIGTERM)\n" in f"{(await caller('sessions')).text}\n"


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["detach", "terminate"])
@pytest.mark.parametrize("adapter", [under("gdb"), under("lldb-dap"), under("dlv", each=True)])
async def test_a_program_with_breakpoints_of_all_kinds_lives_on_when_it_is_released(
    caller: Caller, build: Build, started: Start, adapter: str, ending: str
) -> None:
    subject = build(adapter, c=WRITER_C, go=WRITER_GO)
    line = next(n for n, text in enumerate(subject.source.read_text().splitlines(), 1) if "counter += 1" in text)
    process = started(subject.program)
    assert process.stdout is not None
    process.stdout.readline()
    attached = await caller(
        "attach",
        pid=process.pid,
        adapter=adapter,
        breakpoints=[
            f"{subject.source.name}:{line}",
            {"function": {"dlv": "main.work"}.get(adapter, "work"), "condition": "counter < 0"},
        ],
    )
    while attached.details["snapshot"].get("line") != line:
        attached = await caller("continue")
    pointer = attached.details["snapshot"]["instructionPointerReference"]
    assert (await caller("set_instruction_breakpoint", instruction_reference=pointer)).whole["success"]
    if adapter == "lldb-dap":
        info = (await caller("data_breakpoint_info", name="counter")).details["dataBreakpointInfo"]
        assert (await caller("set_data_breakpoint", data_id=info["dataId"])).whole["success"]
    assert (await caller(ending)).details["released"]
    written = [process.stdout.readline() for _ in range(20)]
    assert process.poll() is None
    assert "" not in written


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", ["dapkit", "debugpy", "dlv", "gdb", "lldb-dap"])
async def test_a_program_that_cannot_be_run_is_refused_before_anything_starts(
    caller: Caller, build: Build, adapter: str
) -> None:
    program = build(adapter, c=C, go=GO, python=PYTHON).program
    (caller.project / "folder").mkdir()
    cut_off = caller.project / "cut_off"
    cut_off.write_bytes(b"\x7fELF and no more")
    cut_off.chmod(0o755)
    refused = {
        "nothing": "there is no program",
        "cut_off": f"{cut_off} begins as an executable and is cut off after 16 bytes",
    }
    if adapter in ("gdb", "lldb-dap"):
        shutil.copy(program, caller.project / "locked")
        (caller.project / "locked").chmod(0o644)
        refused |= {
            "locked": f"{caller.project}/locked may not be executed: chmod +x",
            program.name + ".c": "alike.c is a source",
        }
        if adapter == "gdb":
            refused |= {"folder": "launch program resolves to a directory: folder/."}
            caller.write("script", "#!/bin/sh\n")
            refused |= {
                "script": f"{caller.project}/script is a script for sh, and gdb runs executables of the machine"
            }
    elif adapter != "dlv":
        refused |= {"folder": f"{caller.project}/folder is a folder without __main__.py, so {adapter} cannot run it"}
    for name, message in refused.items():
        code, said = (await caller("launch", program=name, adapter=adapter)).error
        assert code == "invalid_arguments"
        assert message in said
    for wrong, message in (
        ({"cwd": str(caller.project / "nowhere")}, "cwd: there is no folder"),
        ({"options": {"cwd": "/nowhere"}}, "cwd: there is no folder /nowhere"),
        ({"stdin_file": str(caller.project / "nothing")}, "stdin_file: there is no file"),
    ):
        code, said = (await caller("launch", program=program.name, adapter=adapter, **wrong)).error
        assert (code, message in said) == ("invalid_arguments", True), said
    assert (await caller("sessions")).text == "No debug sessions."


READING = "#include <stdio.h>\nint main(void) { return getchar() & 255; }\n"


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb", "cdt-gdb-adapter"])
async def test_native_program_reads_a_file_or_else_nothing(
    caller: Caller, build: Build, require_tool: Callable[[str], Path], adapter: str
) -> None:
    tools = {"gdb": "gdb", "lldb-dap": "lldb-dap-22", "codelldb": "codelldb", "cdt-gdb-adapter": "cdtDebugAdapter"}
    require_tool(tools[adapter])
    program = build("gdb", c=READING, go="").program
    file = caller.write("it's mine/the input", "A")
    for given, code in (({"stdin_file": str(file)}, 65), ({}, 255)):
        ended = await caller("launch", program=program.name, adapter=adapter, stop_on_entry=False, **given)
        if ended.details["snapshot"]["status"] != "terminated":
            ended = await caller("wait")
        assert (ended.details["snapshot"]["adapter"], ended.details["snapshot"]["exitCode"]) == (adapter, code)


async def test_input_is_refused_by_an_adapter_that_cannot_give_it(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    require_tool("dlv")
    caller.write("main.go", "package main\n\nfunc main() {}\n")
    file = caller.write("input", "A")
    code, said = (await caller("launch", program="main.go", adapter="dlv", stdin_file=str(file))).error
    assert (code, said) == ("unsupported", "dlv cannot have a program read a file")


async def test_what_an_adapter_does_not_know_is_named(caller: Caller, build: Build) -> None:
    program = build("gdb", c=C, go="").program
    launched = await caller("launch", program=program.name, adapter="gdb", options={"stopAtEntry": True})
    assert "gdb does not know stopAtEntry: ignored" in launched.details["notes"]


WATCHED_C = """\
#include <stdio.h>

struct box { int count; };

static int other(int total) { total += 100; return total; }

static void add(struct box *box) { box->count += 1; }

int main(void) {
    int total = 0;
    struct box box = { 1 };
    for (int i = 1; i <= 3; i++) {
        total += i;
        add(&box);
        other(total);
    }
    printf("%d\\n", total + box.count);
    return 0;
}
"""
WATCHED_PYTHON = """\
class Box:
    count = 1


def other(total):
    total += 100


def add(box):
    box.count += 1


def main():
    box = Box()
    box.count = 1
    total = 0
    for i in (1, 2, 3):
        total += i
        add(box)
        other(total)
    print(total + box.count)


main()
"""


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", ["dapkit", "gdb", "lldb-dap"])
async def test_what_an_expression_names_is_watched_and_shown_as_it_was_and_as_it_is(
    caller: Caller, build: Build, adapter: str
) -> None:
    subject = build(adapter, c=WATCHED_C, go="", python=WATCHED_PYTHON)
    line = next(n for n, text in enumerate(subject.source.read_text().splitlines(), 1) if "total += i" in text)
    place = f"{subject.source.name}:{line}"
    await caller("launch", program=subject.program.name, adapter=adapter, breakpoints=[place])
    await caller("breakpoints", do="clear")
    refused = (await caller("set_data_breakpoint", name="nowhere")).error
    assert refused[0] in ("invalid_arguments", "adapter_failed")
    await caller("set_data_breakpoint", name="total")
    placed = await caller("set_data_breakpoint", name="box.count")
    rows = placed.details["dataBreakpoints"]
    assert [(row["expression"], row["accessType"], row["verified"]) for row in rows] == [
        ("total", "write", True),
        ("box.count", "write", True),
    ]
    texts = []
    for _ in range(4):
        stopped = await caller("continue")
        assert stopped.details["snapshot"]["stopReason"] == "data breakpoint"
        texts.append(stopped.details["stop"]["text"])
    assert texts == [
        "total changed from 0 to 1",
        "box.count changed from 1 to 2",
        "total changed from 1 to 3",
        "box.count changed from 2 to 3",
    ]
    assert (await caller("remove_data_breakpoint", data_id="total")).text.count("- ") == 1
    stopped = await caller("continue")
    assert stopped.details["stop"]["text"] == "box.count changed from 3 to 4"
    assert [row["hits"] for row in (await caller("breakpoints")).details["dataBreakpoints"]] == [3]
    await caller("breakpoints", do="clear")
    ended = await caller("continue")
    assert (ended.details["state"], ended.details["snapshot"]["exitCode"]) == ("terminated", 0)
