"""What means the same under every adapter: hit conditions, and how a program ended."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from agent_driving import Caller

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
    'package main\n\nimport "syscall"\n\nfunc main() {\n    total := 0\n    for i := 1; i <= 9; i++ {\n'
    + LINES.format(comment="//")
    + "    }\n    println(total)\n    syscall.Kill(syscall.Getpid(), syscall.SIGTERM)\n    select {}\n}\n"
)
PYTHON = (
    "import os\nimport signal\n\ndef main():\n    total = 0\n    for i in range(1, 10):\n"
    + LINES.format(comment="#")
    + "    print(total)\n    os.kill(os.getpid(), signal.SIGTERM)\n\nmain()\n"
)


class Subject(NamedTuple):
    """A program under an adapter, and its source."""

    adapter: str
    program: Path
    source: Path


@pytest.fixture(
    params=[
        "dapkit",
        "gdb",
        "lldb-dap",
        *(pytest.param(name, marks=pytest.mark.each_adapter) for name in ("debugpy", "dlv")),
    ]
)
def subject(request: pytest.FixtureRequest, caller: Caller, require_tool: Callable[[str], Path]) -> Subject:
    """Write the program for an adapter, and compile it."""
    adapter: str = request.param
    match adapter:
        case "dapkit" | "debugpy":
            program = caller.write("alike.py", PYTHON)
            return Subject(adapter, program, program)
        case "dlv":
            require_tool("dlv")
            source, build = caller.write("main.go", GO), [require_tool("go"), "build", "-gcflags=all=-N -l", "-o"]
        case _:
            source, build = caller.write("alike.c", C), [require_tool("cc"), "-g", "-O0", "-o"]
            if adapter == "gdb":
                gdb: list[str] = request.getfixturevalue("gdb")
                found = Path(shutil.which(gdb[0]) or gdb[0]).parent
                caller.env = {**caller.env, "PATH": f"{found}{os.pathsep}{caller.env['PATH']}"}
            else:
                require_tool("lldb-dap-22")
    program = caller.project / "alike"
    subprocess.run([*map(str, build), program, source], cwd=caller.project, check=True)
    return Subject(adapter, program, source)


async def test_hit_conditions_and_the_signal_that_ends_a_program_mean_the_same_everywhere(
    caller: Caller, subject: Subject
) -> None:
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
