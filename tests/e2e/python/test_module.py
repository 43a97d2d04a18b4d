"""`python -m dapkit` and the variable DAPKIT: programs that clients come to, and that nobody has edited."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from dapkit.client import Ended
from dapkit.protocol import ExitedEvent, OutputEvent, ProcessEvent
from e2e.python.listening_program import SOURCES, client, running_command

pytestmark = pytest.mark.row("attach")

STARTUP = SOURCES / "dapkit" / "python" / "startup"
WAITS = ("-m", "dapkit", "--listen", "0", "--wait-for-client")
PROGRAM = """
    import sys
    total = len(sys.argv) - 1
    print(total)
    sys.exit(total)
"""


def answer(python: str, folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCES), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("target", [["prog.py"], ["-m", "prog"]], ids=["file", "module"])
async def test_program_waits_stops_at_its_first_lines_and_reports_how_it_ends(
    tmp_path: Path, python: str, target: list[str]
) -> None:
    with running_command(PROGRAM, tmp_path, [python, *WAITS, "--log-to", ".", *target, "--listen", "-x"]) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, 2)
            await session.attach(program.connect)
            stop = await session.next_stop()
            [frame] = (await session.stack_trace(1)).stack_frames
            assert (stop.reason, frame.name, frame.line) == ("breakpoint", "<module>", 2)
            assert (await session.evaluate("sys.argv[1:]", frame_id=frame.id)).result == "['--listen', '-x']"
            named = await session.wait_for(ProcessEvent, since=0)
            assert named.name == target[-1]
            await session.resume()
            assert (await session.next_stop()).event.description == "SystemExit: 2"
            assert isinstance(await session.resume(), Ended)
            assert (await session.wait_for(ExitedEvent, since=0)).exit_code == 2
        assert program.line() == "2"
        assert program.process.wait(30) == 2
        assert " stop thread " in (tmp_path / f"dapkit-{program.process.pid}.log").read_text()


@pytest.mark.thorough
async def test_program_runs_at_once_where_it_is_not_to_wait(tmp_path: Path, python: str) -> None:
    text = """
        import os, time
        while not os.path.exists("go"):
            time.sleep(0.01)
    """
    with running_command(text, tmp_path, [python, "-m", "dapkit", "--listen", "127.0.0.1:0", "prog.py"]) as program:
        program.read_place()
        for _ in range(2):
            async with client() as session:
                await session.add_breakpoint(program.file, 3)
                await session.attach(program.connect)
                assert (await session.next_stop()).reason == "breakpoint"
                await session.detach()
        program.go()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_program_can_listen_on_a_unix_socket_or_with_a_token_of_ones_own(tmp_path: Path, python: str) -> None:
    token = tmp_path / "token"
    token.write_text("f3" * 32)
    token.chmod(0o600)
    ways: list[tuple[list[str], dict[str, object]]] = [
        (["./socket"], {}),
        (["0", "--token-file", "token"], {"tokenFile": str(token)}),
    ]
    for words, place in ways:
        command = [python, "-m", "dapkit", "--wait-for-client", "--listen", *words, "prog.py"]
        with running_command(PROGRAM, tmp_path, command) as program:
            program.read_place()
            async with client() as session:
                reach = {"connect": {"port": program.port, **place}} if place else {"socket": str(tmp_path / "socket")}
                await session.attach(reach)
                await session.wait_until_ended()
            assert program.process.wait(30) == 0


@pytest.mark.each_python
async def test_program_connects_to_an_adapter_that_waits(tmp_path: Path, python: str) -> None:
    async with client() as session, anyio.create_task_group() as tasks:
        await session.add_breakpoint(tmp_path / "prog.py", 2)
        tasks.start_soon(session.attach, {"listen": {"port": 0}})
        told = await session.wait_for(OutputEvent, since=0)
        port = told.output.partition("127.0.0.1', ")[2].partition(")")[0]
        command = [python, "-m", "dapkit", "--connect", port, "--parent-session-pid", "1", "prog.py"]
        with running_command(PROGRAM, tmp_path, command) as program:
            assert (await session.next_stop()).reason == "breakpoint"
            await session.resume()
            assert program.process.wait(30) == 0


@pytest.mark.thorough
def test_words_are_refused_as_debugpy_refuses_them(tmp_path: Path, python: str) -> None:
    wrong: list[tuple[list[str], int, str]] = [
        (["prog.py"], 2, "either --listen or --connect is required"),
        (["--listen", "1"], 2, "missing target"),
        (["--listen"], 2, "--listen: missing"),
        (["--listen", "70000", "prog.py"], 2, "invalid port number"),
        (["--listen", "1", "--connect", "1", "prog.py"], 2, "mutually exclusive"),
        (["--listen", "1", "--listen", "1", "prog.py"], 2, "duplicate switch --listen"),
        (["--listen", "1", "--nothing", "prog.py"], 2, "unrecognized switch --nothing"),
        (["--listen", "1", "--configure-subProcess", "2", "prog.py"], 2, "'subProcess' must be a bool"),
        (["--listen", "1", "--configure-other", "2", "prog.py"], 2, "unknown property 'other'"),
        (["--listen", "1", "--adapter-access-token", "x", "prog.py"], 2, "requires --connect"),
        (["--listen", "1", "--wait-for-client", "--pid", "1"], 2, "--pid does not support --wait-for-client"),
        (["--listen", "0", "missing.py"], 2, "can't open file"),
        (["--connect", "1", "prog.py"], 1, "cannot connect to 127.0.0.1:1: Connection refused"),
    ]
    (tmp_path / "prog.py").touch()
    for words, code, error in wrong:
        found = answer(python, tmp_path, "-m", "dapkit", *words)
        assert (found.returncode, error in found.stderr, found.stdout) == (code, True, ""), (words, found.stderr)
    for words, said in ((["--help"], "--wait-for-client"), (["-V"], "0."), (["--startup-folder"], str(STARTUP))):
        found = answer(python, tmp_path, "-m", "dapkit", *words)
        assert (found.returncode, said in found.stdout, found.stderr) == (0, True, ""), words


SAYS_OPTIONS = """
    import os, sys, subprocess
    listing = sorted(name for name in sys.modules if "dapkit" in name or name == "sitecustomize")
    print(listing, "DAPKIT" in os.environ, os.environ.get("PYTHONPATH"), [p for p in sys.path if "startup" in p])
    if "child" not in sys.argv:
        subprocess.run([sys.executable, __file__, "child"])
    import dapkit
    options = dapkit.get_cli_options()
    print(options and (options.mode, options.target_kind, options.wait_for_client, options.config["subProcess"]))
"""


@pytest.mark.each_python
def test_program_finds_nothing_of_the_module_and_can_ask_what_it_was_told(tmp_path: Path, python: str) -> None:
    (tmp_path / "prog.py").write_text("\n".join(line[4:] for line in SAYS_OPTIONS.splitlines()))
    words = ["-m", "dapkit", "--listen", "0", "--configure-subProcess", "false", "prog.py"]
    found = answer(python, tmp_path, *words, DAPKIT="--listen 1")
    plain = f"[] False {SOURCES} []"
    assert found.stdout.splitlines() == [plain, plain, "None", "('listen', 'file', False, False)"]
    assert "dapkit: listening at 127.0.0.1:" in found.stderr


@pytest.mark.thorough
@pytest.mark.each_python
async def test_variable_has_a_program_wait_whose_command_line_is_what_it_was(tmp_path: Path, python: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = True\n")
    text = SAYS_OPTIONS.replace("listing = sorted", "print(customized)\n    listing = sorted")
    env = {"PYTHONPATH": f"{STARTUP}:{own}:{SOURCES}", "DAPKIT": "--listen 0 --wait-for-client"}
    with running_command(text, tmp_path, [python, "-X", "utf8", "prog.py"], env=env) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, 2)
            await session.attach({**program.connect, "subProcess": False})
            assert (await session.next_stop()).reason == "breakpoint"
            [frame] = (await session.stack_trace(1)).stack_frames
            assert (frame.name, frame.line) == ("<module>", 2)
            await session.resume()
        plain = f"['sitecustomize'] False {own}:{SOURCES} []"
        assert [program.line() for _ in range(6)] == [
            *("True", plain, "True", plain, "None", "('listen', None, True, True)")
        ]
        assert program.process.wait(30) == 0


@pytest.mark.parametrize("words", ["--listen 1 --nothing", "prog.py", "--connect 1", "--listen nowhere:x"])
def test_variable_that_is_wrong_is_reported_and_the_program_runs(tmp_path: Path, python: str, words: str) -> None:
    (tmp_path / "prog.py").write_text("print('runs')\n")
    found = answer(python, tmp_path, "prog.py", PYTHONPATH=str(STARTUP), DAPKIT=words)
    assert (found.returncode, found.stdout) == (0, "runs\n")
    assert found.stderr.startswith("dapkit: DAPKIT: ")
    assert found.stderr.endswith("; the program runs without a debugger\n")


def test_startup_folder_without_the_variable_changes_nothing(tmp_path: Path, python: str) -> None:
    text = (
        "import sys, os\n"
        "print(sorted(sys.modules), os.environ.get('PYTHONPATH', ':'), [p for p in sys.path if p.endswith('startup')])"
    )
    plain = answer(python, tmp_path, "-c", text, PYTHONPATH=os.pathsep)
    assert answer(python, tmp_path, "-c", text, PYTHONPATH=str(STARTUP)).stdout == plain.stdout


def test_module_is_found_by_its_folder_where_it_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("import sys; print(sys.argv, sys.orig_argv[1:])\n")
    command = [str(SOURCES / "dapkit"), "--listen", "0", "prog.py", "a"]
    found = answer(sys.executable, tmp_path, "-B", *command, PYTHONPATH="")
    assert found.stdout == "['prog.py', 'a'] ['-B', 'prog.py', 'a']\n"


@pytest.mark.thorough
@pytest.mark.parametrize(("wanted", "tool"), [("true", "dapkit"), ("false", "None")])
async def test_children_are_debugged_unless_the_command_line_says_otherwise(
    tmp_path: Path, python: str, wanted: str, tool: str
) -> None:
    text = """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import sys; print(sys.monitoring.get_tool(4))"])
    """
    words = [*WAITS, "--configure-subProcess", wanted, "prog.py"]
    with running_command(text, tmp_path, [python, *words]) as program:
        program.read_place()
        async with client() as session:
            await session.attach(program.connect)
            await session.wait_until_ended()
            assert (program.line(), len(session.children)) == (tool, wanted == "true")
        assert program.process.wait(30) == 0
