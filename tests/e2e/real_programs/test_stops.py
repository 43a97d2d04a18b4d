"""Where programs of others stop, and what there is to see: C by gdb and LLDB, C++ by both, Go by Delve."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from action_fixtures import Caller
from real_programs import BROKEN_CHUNK, JSONCPP, LUA, PROGRAMS, TOML, real_program


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


@pytest.mark.thorough
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


async def test_a_variable_that_is_optimized_out_does_not_hide_the_others(
    caller: Caller, require_adapter: Callable[[str], None]
) -> None:
    require_adapter("gdb")
    (caller.project / "input.lua").write_text(_LUA.input)
    lua = str(real_program("lua-O2"))
    launched = await caller("launch", program=lua, args=["input.lua"], adapter="gdb", breakpoints=["str_format"])
    shown = {row["name"]: row["value"] for row in launched.details["stop"]["locals"]}
    assert shown["top"] == "<optimized out>"
    assert "size = " in shown["b"]
    assert "incomplete" not in launched.text


@dataclass(frozen=True, kw_only=True)
class Crash:
    """A program of others that breaks off, and where in its own code.

    Attributes:
        variable: one of that function.
        text: what the report says besides.
        last: its outermost own function.

    """

    adapter: str
    program: str
    function: str
    file: str
    variable: str
    text: str
    last: str
    exceptions: tuple[str, ...] = ()


_ASSERTION = Crash(
    adapter="gdb",
    program="lua",
    function="loadConstants",
    file="lundump.c",
    variable="n",
    text="signal SIGABRT",
    last="main",
)
_UNCAUGHT = Crash(
    adapter="gdb",
    program="jsonuncaught",
    function="Json::throwLogicError",
    file="json_value.cpp",
    variable="msg",
    text="what():  Value is not convertible to Int.",
    last="main",
)
_THROW = replace(_UNCAUGHT, text="Exception: Json::LogicError", exceptions=("throw",))
_PANIC = Crash(
    adapter="dlv",
    program="tomlpanic",
    function="github.com/BurntSushi/toml.(*MetaData).Keys",
    file="meta.go",
    variable="md",
    text="invalid memory address or nil pointer dereference",
    last="main.main",
)
CRASHES = (
    _ASSERTION,
    replace(_ASSERTION, adapter="lldb-dap"),
    _UNCAUGHT,
    replace(_UNCAUGHT, adapter="lldb-dap"),
    _THROW,
    replace(_THROW, adapter="lldb-dap", exceptions=("cpp_throw",)),
    _PANIC,
)


@pytest.mark.thorough
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "crash", CRASHES, ids=lambda crash: " ".join([crash.program, "by", crash.adapter, *crash.exceptions])
)
async def test_a_crash_is_reported_from_the_innermost_own_function_to_main(
    caller: Caller, require_adapter: Callable[[str], None], crash: Crash
) -> None:
    require_adapter(crash.adapter)
    (caller.project / "broken.lua").write_text(BROKEN_CHUNK)
    launched = await caller(
        "launch",
        program=str(real_program(crash.program)),
        args=["broken.lua"],
        adapter=crash.adapter,
        exceptions=list(crash.exceptions) or None,
        stop_on_entry=False,
    )
    stop, snapshot = launched.details["stop"], launched.details["snapshot"]
    names = {frame["index"]: frame["name"] for frame in stop["frames"]}
    assert names[stop["frame"]].startswith(crash.function)
    assert stop["frame"] > 0
    assert 0 in names
    assert crash.last in names.values()
    assert snapshot["frameName"].startswith(crash.function)
    assert snapshot["source"]["path"].endswith(f"/{crash.file}")
    assert snapshot["line"] in [row["line"] for row in stop["sourceLines"]]
    assert crash.variable in [row["name"] for row in stop["locals"]]
    assert crash.text in launched.text + (await caller("output")).text
    assert (await caller("evaluate", expression=crash.variable)).whole["success"]
    if crash.exceptions:
        assert stop["reason"] == "exception"
        assert stop["exception"]["message"] == "Value is not convertible to Int."


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A program whose debug information names other folders than those of its sources.

    Attributes:
        there: the folder as the program names it.

    """

    adapter: str
    program: str
    there: str
    subject: Subject


_MOVED_LUA = Moved(adapter="gdb", program="lua-O2", there="/usr/src/lua-5.4.4", subject=_LUA)
MOVED = (
    _MOVED_LUA,
    replace(_MOVED_LUA, adapter="lldb-dap"),
    Moved(adapter="gdb", program="jsontestrunner-O2", there="/usr/src/jsoncpp-1.9.5", subject=_JSONCPP),
    Moved(adapter="dlv", program="tomlv-O2", there="github.com/BurntSushi/toml", subject=_TOML),
)


@pytest.mark.thorough
@pytest.mark.timeout(120)
@pytest.mark.parametrize("moved", MOVED, ids=lambda moved: f"{moved.program} by {moved.adapter}")
async def test_sources_that_were_moved_are_found_by_breakpoints_and_in_stacks(
    caller: Caller, require_adapter: Callable[[str], None], moved: Moved
) -> None:
    require_adapter(moved.adapter)
    subject = moved.subject
    (caller.project / "input.json").write_text(subject.input)
    here = subject.file.relative_to(PROGRAMS).parts[0]
    launched = await caller(
        "launch",
        program=str(real_program(moved.program)),
        args=["input.json"],
        adapter=moved.adapter,
        breakpoints=[f"{subject.file}:{subject.line_after}"],
        source_map={moved.there: str(PROGRAMS / here)},
    )
    assert launched.details["breakpoints"][0]["verified"]
    frames = launched.details["stop"]["frames"]
    assert any(frame["source"]["path"] == str(subject.file) for frame in frames if "source" in frame)
    assert launched.details["stop"]["sourceLines"]
