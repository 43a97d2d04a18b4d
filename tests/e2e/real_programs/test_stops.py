"""Where programs of others stop, and what there is to see: C by gdb and LLDB, C++ by both, Go by Delve."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_driving import Caller
from real_programs import JSONCPP, LUA, TOML, real_program


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An adapter with a program of others, which stops at a line.

    Attributes:
        input: what its one argument, a file, holds.
        file: where it stops, at `line`, in `function`.

    """

    adapter: str
    program: str
    input: str
    file: Path
    line: int
    line_after: int
    function: str


_LUA = Subject(
    adapter="gdb",
    program="lua",
    input="print(string.format('%5.2f', 3))\n",
    file=LUA / "lstrlib.c",
    line=1294,
    line_after=1295,
    function="str_format",
)
_JSONCPP = Subject(
    adapter="gdb",
    program="jsontestrunner",
    input='{"name": "dapkit", "numbers": [1, 2.5, true], "inner": {"deep": null}}\n',
    file=JSONCPP / "jsontestrunner" / "main.cpp",
    line=300,
    line_after=301,
    function="runTest",
)
_TOML = Subject(
    adapter="dlv",
    program="tomlv",
    input='title = "a"\n[owner]\nname = "b"\n',
    file=TOML / "parse.go",
    line=74,
    line_after=77,
    function="github.com/BurntSushi/toml.parse",
)

SUBJECTS = (_LUA, replace(_LUA, adapter="lldb-dap"), _JSONCPP, replace(_JSONCPP, adapter="lldb-dap"), _TOML)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.program} by {subject.adapter}")
async def test_a_program_stops_at_a_line_and_ends(caller: Caller, subject: Subject) -> None:
    (caller.project / "input.json").write_text(subject.input)
    launched = await caller(
        "launch",
        program=str(real_program(subject.program)),
        args=["input.json"],
        adapter=subject.adapter,
        breakpoints=[f"{subject.file}:{subject.line}"],
    )
    frame = launched.details["stop"]["frames"][0]
    assert (frame["name"].partition("(")[0].removeprefix("::"), frame["line"]) == (subject.function, subject.line)
    stepped = await caller("step_over")
    assert stepped.details["snapshot"]["line"] == subject.line_after
    await caller("breakpoints", do="clear")
    assert (await caller("continue")).details["snapshot"]["exitCode"] == 0
