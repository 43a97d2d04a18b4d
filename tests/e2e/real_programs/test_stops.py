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
    struct: str
    contents: str


_LUA = Subject(
    adapter="gdb",
    program="lua",
    input="print(string.format('%5.2f', 3))\n",
    file=LUA / "lstrlib.c",
    line=1294,
    line_after=1295,
    function="str_format",
    struct="b",
    contents=", size = 1024, n = 0, L = 0x",
)
_JSONCPP = Subject(
    adapter="gdb",
    program="jsontestrunner",
    input='{"name": "dapkit", "numbers": [1, 2.5, true], "inner": {"deep": null}}\n',
    file=JSONCPP / "jsontestrunner" / "main.cpp",
    line=300,
    line_after=301,
    function="runTest",
    struct="opts",
    contents='path = "input.json", features = {allowComments_ = true, strictRoot_ = false,',
)
_TOML = Subject(
    adapter="dlv",
    program="tomlv",
    input='title = "a"\n[owner]\nname = "b"\n',
    file=TOML / "parse.go",
    line=77,
    line_after=73,
    function="github.com/BurntSushi/toml.parse",
    struct="item",
    contents="pos: github.com/BurntSushi/toml.Position {Line: 1, Start: 0, Len: 1}",
)

SUBJECTS = (_LUA, replace(_LUA, adapter="lldb-dap"), _JSONCPP, replace(_JSONCPP, adapter="lldb-dap"), _TOML)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.program} by {subject.adapter}")
async def test_a_program_stops_at_a_line_of_a_file_by_its_name_and_shows_a_struct(
    caller: Caller, subject: Subject
) -> None:
    (caller.project / "input.json").write_text(subject.input)
    launched = await caller(
        "launch",
        program=str(real_program(subject.program)),
        args=["input.json"],
        adapter=subject.adapter,
        breakpoints=[f"{subject.file.name}:{subject.line}"],
    )
    assert launched.details["breakpoints"][0]["verified"]
    frame = launched.details["stop"]["frames"][0]
    assert (frame["name"].partition("(")[0].removeprefix("::"), frame["line"]) == (subject.function, subject.line)
    struct = next(row for row in launched.details["stop"]["locals"] if row["name"] == subject.struct)
    assert subject.contents in struct["value"] + struct.get("contents", "")
    assert f"- {subject.struct} = " in launched.text
    assert subject.contents in launched.text
    stepped = await caller("step_over")
    assert stepped.details["snapshot"]["line"] == subject.line_after
    again = await caller("set_breakpoint", file=subject.file.name, line=subject.line_after)
    assert again.details["breakpoints"][-1]["verified"], again.text
    await caller("breakpoints", do="clear")
    assert (await caller("continue")).details["snapshot"]["exitCode"] == 0


async def test_a_variable_that_is_optimized_out_does_not_hide_the_others(caller: Caller) -> None:
    (caller.project / "input.lua").write_text(_LUA.input)
    lua = str(real_program("lua-O2"))
    launched = await caller("launch", program=lua, args=["input.lua"], adapter="gdb", breakpoints=["str_format"])
    shown = {row["name"]: row["value"] for row in launched.details["stop"]["locals"]}
    assert shown["top"] == "<optimized out>"
    assert "size = " in shown["b"]
    assert "incomplete" not in launched.text
