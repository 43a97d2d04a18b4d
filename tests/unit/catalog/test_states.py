"""What is installed, why something is chosen, and what works."""

import socket
import sys
from pathlib import Path

import pytest

from catalog_world import World
from dapkit.catalog import AdapterState, doctor, limits, render_doctor, render_states, render_why, states, why


def state_of(world: World, name: str) -> AdapterState:
    catalog = world.load()
    return next(state for state in states(catalog, cwd=world.project) if state.name == name)


def test_installed_adapter_has_its_path_and_version(world: World) -> None:
    program = world.install("lldb-dap", says="LLVM version 21.1.0")
    state = state_of(world, "lldb-dap")
    assert (state.installed, state.path, state.version, state.problem) == (True, program, "21.1.0", "")


def test_adapter_that_tells_no_version_in_time_is_installed_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "VERSION_SECONDS", 0.2)
    world.install("lldb-dap").write_text("#!/bin/sh\n/bin/sleep 60\nexit\n")  # whose child holds the pipe
    state = state_of(world, "lldb-dap")
    assert (state.installed, state.version) == (True, None)


@pytest.mark.parametrize(
    ("name", "installed", "problem"),
    [
        ("gdb", ("gdb", "GNU gdb 13.1"), "{bin}/gdb is version 13.1, and 14.1 is needed"),
        ("gdb", ("gdb", "no number"), "`{bin}/gdb --version` did not report a version"),
        ("dlv", None, "dlv was not found on PATH"),
        (
            "cdt-gdb-adapter",
            ("cdtDebugAdapter", ""),
            "cdtDebugAdapter is there, but it needs gdb, which was not found on PATH",
        ),
        (
            "elixir-ls-debugger",
            None,
            "elixir-ls-debugger, elixir-ls-debug-adapter, debug_adapter.sh, debugger.sh were not found on PATH",
        ),
        (
            "codelldb",
            None,
            (
                "codelldb was not found on PATH; "
                "there is no program {home}/.vscode/extensions/vadimcn.vscode-lldb-*/adapter/codelldb"
            ),
        ),
    ],
)
def test_missing_adapter_says_exactly_what_is_missing(
    world: World, name: str, installed: tuple[str, str] | None, problem: str
) -> None:
    if installed is not None:
        world.install(installed[0], says=installed[1])
    state = state_of(world, name)
    assert not state.installed
    assert state.problem == problem.format(bin=world.bin, home=world.home)


def test_states_are_rendered_with_what_was_left_out_of_users_files(world: World) -> None:
    world.install("lldb-dap", says="22.1.8")
    world.write("dap.toml", "[gdb]\nrank = 'x'\n")
    catalog = world.load()
    text = render_states(states(catalog, cwd=world.project), catalog)
    assert f"lldb-dap               installed  22.1.8   c, cpp, objc, swift, rust, zig  {world.bin}/lldb-dap" in text
    assert (
        "dlv                    missing    -        go                              dlv was not found on PATH" in text
    )
    assert text.endswith(f'left out: {world.project}/dap.toml, gdb.rank, line 2: found "x", expected a whole number')
    short = render_states(states(catalog, cwd=world.project), catalog, everything=False).splitlines()
    assert "dlv was not found" not in "\n".join(short)
    assert short[-2].startswith("not installed: ")
    assert ", dlv, " in short[-2]


def test_choice_is_explained(world: World) -> None:
    world.write("a.c")
    world.install("lldb-dap")
    explained = why(world.load(), "a.c", cwd=world.project)
    assert explained.choice is not None
    assert render_why(explained).splitlines()[:4] == [
        "lldb-dap: LLDB",
        "  a.c is a .c file, for which there is gdb, lldb-dap, codelldb, cdt-gdb-adapter",
        "  not gdb: gdb was not found on PATH",
        f"  lldb-dap: {world.bin}/lldb-dap (PATH)",
    ]
    assert "\n  after it would come codelldb, cdt-gdb-adapter\n" in render_why(explained)


@pytest.mark.parametrize(
    ("program", "problem"),
    [("a.md", "No debugger adapter available: a.md is a .md file."), ("gone", "there is no program {project}/gone")],
)
def test_missing_choice_is_explained(world: World, program: str, problem: str) -> None:
    world.write("a.md")
    explained = why(world.load(), program, cwd=world.project)
    assert explained.choice is None
    assert render_why(explained).startswith(problem.format(project=world.project))


# The doctor, with what is really here for Python, and fakes for what fails


async def test_doctor_starts_what_is_installed_and_says_what_to_install(world: World) -> None:
    world.install("lldb-dap").write_text("#!/bin/sh\necho 'cannot load liblldb' >&2\nexit 3\n")
    catalog = world.load()
    results = await doctor(catalog, cwd=world.project)
    found = {checkup.state.name: checkup for checkup in results}
    assert [checkup.verdict for checkup in results] == sorted(
        (checkup.verdict for checkup in results), key=("works", "broken", "missing").index
    )
    for name in ("dapkit", "debugpy"):
        assert found[name].verdict == "works"
        assert found[name].abilities > 10
        assert found[name].state.path == Path(sys.executable)
    assert found["lldb-dap"].verdict == "broken"
    assert "exit code 3\ncannot load liblldb" in found["lldb-dap"].problem
    assert (found["dlv"].verdict, found["dlv"].problem) == ("missing", "dlv was not found on PATH")
    text = render_doctor(results, catalog)
    assert text.startswith("works    dapkit ")
    assert "\n  dlv                    apt install delve golang-go, or go install " in text
    assert "\n  dapkit " not in text.partition("for the others:")[2]


async def test_own_adapter_works_whatever_python_is_here(world: World) -> None:
    world.install_python("python3", "3.9.1")
    results = await doctor(world.load(), cwd=world.project)
    assert next(checkup.verdict for checkup in results if checkup.state.name == "dapkit") == "works"


@pytest.mark.thorough
async def test_doctor_does_not_wait_for_an_adapter_that_does_not_answer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHECKUP_SECONDS", 0.3)
    world.install("silent").write_text("#!/bin/sh\nexec /bin/cat >/dev/null\n")
    world.write("dap.toml", '[silent]\ncommand = ["silent"]\n')
    results = await doctor(world.load(), cwd=world.project)
    silent = next(checkup for checkup in results if checkup.state.name == "silent")
    assert (silent.verdict, silent.problem) == ("broken", "it did not answer within 0.3 s")


@pytest.mark.thorough
async def test_doctor_tries_an_adapter_that_should_listen(world: World) -> None:
    with socket.socket() as reserved:  # bound, and nobody listens
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        world.write("dap.toml", f'[game]\ntransport = "connect"\nport = {port}\n')
        results = await doctor(world.load(), cwd=world.project)
    game = next(checkup for checkup in results if checkup.state.name == "game")
    assert game.verdict == "broken"
    assert str(port) in game.problem
