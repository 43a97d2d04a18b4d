"""From a program to a session with the adapter that was chosen for it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from client_fixtures import PROGRAMS, line_of
from dapkit.catalog import Catalog, Choice, launch_json, load, route_to
from dapkit.client import Ended, Session
from e2e.catalog.running_programs import Running

BUILD_SECONDS = 120.0
"""The first build of a machine compiles Go's own library."""


async def stop_at(choice: Choice, source: str, line: int, *args: str, stop_on_entry: bool = False) -> None:
    """Launch what was chosen for, stop at a line, and run to the end."""
    arguments = choice.launch_arguments(args=args, stop_on_entry=stop_on_entry)
    async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
        await session.add_breakpoint(PROGRAMS / source, line)
        await session.break_on_exceptions()
        await session.launch(arguments, deadline=BUILD_SECONDS)
        stop = await session.next_stop()
        if stop_on_entry:
            assert stop.reason in {"entry", "pause", "breakpoint", "step", "exception"}
            await session.resume()
            stop = await session.next_stop()
        assert stop.reason == "breakpoint"
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        assert frame.line == line
        await session.clear_breakpoints()
        assert isinstance(await session.resume(), Ended)


@pytest.mark.parametrize("adapter", ["dapkit", pytest.param("debugpy", marks=pytest.mark.each_adapter)])
@pytest.mark.parametrize("stop_on_entry", [False, True])
async def test_python_program(catalog: Catalog, adapter: str, stop_on_entry: bool) -> None:
    choice = catalog.choose("sums.py", cwd=PROGRAMS, adapter=adapter, python=Path(sys.executable))
    await stop_at(choice, "sums.py", line_of("sums.py", "total = left"), stop_on_entry=stop_on_entry)


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", ["dapkit", "debugpy"])
async def test_adapter_imports_nothing_from_the_project(tmp_path: Path, adapter: str) -> None:
    trapped = tmp_path / "trapped"
    for name in ("queue", "grp", "dapkit", "debugpy", "runpy", "selectors"):
        (tmp_path / f"{name}.py").write_text(f"open({str(trapped)!r}, 'a').write('{name}')")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/app.py").write_text("x = 1\n")
    catalog = load(tmp_path)
    choice = catalog.choose("inner/app.py", cwd=tmp_path, adapter=adapter, python=Path(sys.executable))
    async with Session(route_to(choice), adapter_id=choice.definition.own_id) as session:
        await session.launch(choice.launch_arguments())
        assert await session.wait_until_ended() == Ended(0)
    assert not trapped.exists()


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["3.10", "3.11"])
async def test_program_of_an_older_python_goes_to_debugpy(version: str, tmp_path: Path) -> None:
    python = next(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), None)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    environment = tmp_path / "path"
    environment.mkdir()
    (environment / "python3").symlink_to(python)
    program = tmp_path / "a.py"
    program.write_text("import sys\nprint(sys.version)\n")
    catalog = load(tmp_path, tmp_path, env={"PATH": str(environment), "HOME": str(tmp_path)})
    choice = catalog.choose(program, cwd=tmp_path)
    assert choice.definition.name == "debugpy"
    arguments = choice.launch_arguments()
    async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
        await session.launch(arguments)
        assert await session.wait_until_ended() == Ended(0)
        assert session.output.read("stdout").text.startswith(f"{version}.")


@pytest.mark.thorough
@pytest.mark.parametrize("stop_on_entry", [False, True])
@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap"])
async def test_native_program(
    installed: Callable[[str], None],
    catalog: Catalog,
    compiled: Callable[[str], Path],
    adapter: str,
    stop_on_entry: bool,
) -> None:
    installed(adapter)
    choice = catalog.choose(compiled("squares.c"), cwd=PROGRAMS, adapter=adapter)
    await stop_at(choice, "squares.c", line_of("squares.c", "counter += 1"), stop_on_entry=stop_on_entry)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("program", [".", "main.go"])
async def test_go_package_from_a_folder_elsewhere(
    catalog: Catalog, require_tool: Callable[[str], Path], tmp_path: Path, program: str
) -> None:
    require_tool("go")
    require_tool("dlv")
    module = tmp_path / "module"
    module.mkdir()
    for file in (PROGRAMS / "squares").iterdir():
        (module / file.name).write_text(file.read_text())
    choice = catalog.choose(module / program, cwd=tmp_path)
    assert choice.definition.name == "dlv"
    arguments = choice.launch_arguments()
    async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
        await session.add_breakpoint(module / "main.go", line_of("squares/main.go", "return result"))
        await session.launch(arguments, deadline=BUILD_SECONDS)
        stop = await session.next_stop()
        assert (await session.stack_trace(stop.thread_id)).stack_frames[0].name == "main.square"
        await session.clear_breakpoints()
        assert isinstance(await session.resume(), Ended)


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_executable_of_go(
    catalog: Catalog, require_tool: Callable[[str], Path], built_by_go: Callable[[Path], Path], tmp_path: Path
) -> None:
    require_tool("dlv")
    choice = catalog.choose(built_by_go(PROGRAMS / "squares"), cwd=tmp_path)
    assert choice.definition.name == "dlv"
    await stop_at(choice, "squares/main.go", line_of("squares/main.go", "return result"))


@pytest.mark.thorough
async def test_attach_to_a_native_process_by_its_pid(
    catalog: Catalog,
    compiled: Callable[[str], Path],
    require_tool: Callable[[str], Path],
    running: Running,
    tmp_path: Path,
) -> None:
    require_tool("lldb-dap-22")
    pid, _ = running.start(compiled("waiting.c"))
    choice = catalog.choose(pid=pid, cwd=tmp_path, adapter="lldb-dap")
    arguments = choice.attach_arguments(pid=pid)
    async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
        await session.add_breakpoint(PROGRAMS / "waiting.c", line_of("waiting.c", "ticks++"))
        await session.attach(arguments)
        stop = await session.next_stop()
        if stop.reason != "breakpoint":
            await session.resume()
            stop = await session.next_stop()
        assert (await session.stack_trace(stop.thread_id)).stack_frames[0].name == "main"
    assert running.end() == ["done\n"]


@pytest.mark.thorough
@pytest.mark.parametrize("listening", ["dapkit.listen(0, token=None)", "debugpy.listen(('127.0.0.1', 0))"])
async def test_attach_to_a_python_program_by_its_port(
    catalog: Catalog, running: Running, tmp_path: Path, listening: str
) -> None:
    adapter = listening.partition(".")[0]
    program = f"import {adapter}, sys; print({listening}[1], flush=True); sys.stdin.read()"
    _, said = running.start(sys.executable, "-X", "frozen_modules=off", "-c", program)
    choice = catalog.choose(port=int(said), cwd=tmp_path)
    assert choice.definition.name == adapter
    arguments = choice.attach_arguments(port=int(said))
    async with Session(route_to(choice, arguments, port=int(said)), adapter_id=choice.definition.own_id) as session:
        await session.attach(arguments)
        assert [thread.name for thread in (await session.threads()).threads] == ["MainThread"]


@pytest.mark.parametrize("stop_on_entry", [False, True])
async def test_ruby_program_which_has_its_adapter_inside(
    catalog: Catalog, installed: Callable[[str], None], tmp_path: Path, stop_on_entry: bool
) -> None:
    installed("rdbg")
    program = tmp_path / "a.rb"
    program.write_text("total = 1\ntotal += ARGV.size\nputs total\n")
    choice = catalog.choose(program, cwd=tmp_path)
    arguments = choice.launch_arguments(args=["x", "y z"], stop_on_entry=stop_on_entry)
    async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
        await session.add_breakpoint(program, 3)
        await session.start(str(arguments["request"]), arguments)
        stop = await session.next_stop()
        if stop_on_entry:
            assert (await session.stack_trace(stop.thread_id)).stack_frames[0].line == 1
            await session.resume()
            stop = await session.next_stop()
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        assert frame.line == 3
        assert (await session.evaluate("total", frame_id=frame.id, context="repl")).result == "3"
        assert isinstance(await session.resume(), Ended)


@pytest.mark.parametrize(("name", "adapter"), [("CMakeLists.txt", "cmake"), ("script.cmake", "cmake-script")])
@pytest.mark.thorough
async def test_adapter_inside_its_program(tmp_path: Path, name: str, adapter: str) -> None:
    program = tmp_path / name
    project = "cmake_minimum_required(VERSION 3.27)\nproject(sample NONE)\n" if adapter == "cmake" else "\n\n"
    program.write_text(f'{project}set(TOTAL 2)\nmessage("total ${{TOTAL}}")\n')
    own_programs = str(Path(sys.executable).parent)  # where the tests' cmake is
    catalog = load(tmp_path, tmp_path, env={"PATH": f"{own_programs}:/usr/bin:/bin", "HOME": str(tmp_path)})
    choice = catalog.choose(program, cwd=tmp_path)
    assert choice.definition.name == adapter
    arguments = choice.launch_arguments()
    async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
        await session.add_breakpoint(program, 4)
        await session.launch(arguments)
        stop = await session.next_stop()
        assert stop.reason == "breakpoint"
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        assert frame.line == 4
        assert (await session.evaluate("TOTAL", frame_id=frame.id)).result == "2"
        assert isinstance(await session.resume(), Ended)
        assert "total 2" in session.adapter_stderr


@pytest.mark.thorough
async def test_configuration_of_a_launch_file(catalog: Catalog, tmp_path: Path) -> None:
    program = tmp_path / "a.py"
    program.write_text("import os, sys\nprint(sys.argv[1:], os.environ['COLOR'])\n")
    file = tmp_path / ".vscode/launch.json"
    file.parent.mkdir()
    file.write_text("""{
        "configurations": [{
            "name": "This file", "type": "debugpy", "request": "launch", "program": "${file}",
            "args": ["${workspaceFolderBasename}", "${input:word}"], "env": {"COLOR": "red"}, // as editors write it
        }],
        "inputs": [{"id": "word", "type": "promptString", "description": "A word"}],
    }""")
    launched = launch_json.read(tmp_path)
    planned = launched.plan("This file", catalog, program=program, inputs={"word": "hello"})
    async with Session(planned.route()) as session:
        await session.start(planned.request, planned.arguments)
        assert await session.wait_until_ended() == Ended(0)
        assert session.output.read("stdout").text == f"['{tmp_path.name}', 'hello'] red\n"
