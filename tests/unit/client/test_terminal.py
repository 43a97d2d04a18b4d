"""Programs in a pseudo-terminal, as `runInTerminal` starts them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dapkit.client import WaitExpired
from dapkit.client.terminal import open_terminal
from dapkit.protocol import RunInTerminalRequestArguments
from dapkit.transport import CannotStart
from fake_adapters import until

ABOUT = """
import os, sys
print(os.isatty(0), os.isatty(1), os.isatty(2))
print(os.get_terminal_size().lines, os.get_terminal_size().columns)
print(os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpgrp())
print(os.environ.get("HOME"), os.environ.get("ADDED"), os.getcwd())
"""


def python(code: str, *, cwd: str = "/", env: dict[str, str | None] | None = None) -> RunInTerminalRequestArguments:
    return RunInTerminalRequestArguments(args=[sys.executable, "-c", code], cwd=cwd, env=env, title="a title")


async def test_program_has_a_controlling_terminal_of_its_own(tmp_path: Path) -> None:
    wanted = python(ABOUT, cwd=str(tmp_path), env={"HOME": None, "ADDED": "1"})
    async with open_terminal(wanted) as terminal:
        assert await terminal.wait() == 0
        text = await terminal.wait_for_output(str(tmp_path))
    assert text.text == f"True True True\r\n24 80\r\nTrue True\r\nNone 1 {tmp_path}\r\n"
    assert terminal.title == "a title"


async def test_input_reaches_the_program() -> None:
    async with open_terminal(python("print('hello', input('name? '))")) as terminal:
        asked = await terminal.wait_for_output("name? ")
        await terminal.send_input("Ada\n")
        assert await terminal.wait() == 0
        await terminal.wait_for_output("hello Ada\r\n", since=asked.end)


async def test_interrupt_key_interrupts() -> None:
    # Short sleeps: a signal that comes just before a long one is looked at after it.
    code = "import time\ntry:\n  print('ready')\n  while True: time.sleep(0.1)\nexcept KeyboardInterrupt:\n  exit(7)"
    async with open_terminal(python(code)) as terminal:
        await terminal.wait_for_output("ready\r\n")
        await terminal.send_input("\x03")
        assert await terminal.wait() == 7


async def test_window_may_be_resized() -> None:
    code = "import os; input('?'); print(os.get_terminal_size())"
    async with open_terminal(python(code)) as terminal:
        await terminal.wait_for_output("?")
        terminal.resize(50, 132)
        await terminal.send_input("\n")
        await terminal.wait_for_output("columns=132, lines=50")


async def test_closing_hangs_up_and_kills_what_ignores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dapkit.limits.CLOSE_SECONDS", 0.1)
    code = "import signal, time\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\nprint('ready')\ntime.sleep(60)"
    async with open_terminal(python(code)) as terminal:
        await terminal.wait_for_output("ready\r\n")
    assert terminal.returncode == -signal.SIGKILL


async def test_killed_program_reports_its_signal() -> None:
    async with open_terminal(python("import os; os.kill(os.getpid(), 9)")) as terminal:
        assert await terminal.wait() == -signal.SIGKILL


async def test_program_that_does_not_exist_is_an_error_that_names_it() -> None:
    wanted = RunInTerminalRequestArguments(args=["/no/such/program"], cwd="/")
    with pytest.raises(CannotStart, match="/no/such/program could not be run in /"):
        async with open_terminal(wanted):
            pass


async def test_folder_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(CannotStart, match="/no/such/folder"):
        async with open_terminal(python("", cwd="/no/such/folder")):
            pass


async def test_command_that_is_empty_is_an_error() -> None:
    with pytest.raises(CannotStart, match="names no command"):
        async with open_terminal(RunInTerminalRequestArguments(args=[], cwd="/")):
            pass


async def test_output_is_bounded_and_never_makes_the_program_wait() -> None:
    async with open_terminal(python("print('x' * 1_000_000); print('end')")) as terminal:
        assert await terminal.wait() == 0
        text = await terminal.wait_for_output("end")
    assert not text.complete


async def test_program_that_reads_a_named_pipe_starts_with_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    code = "import os; print('ready', flush=True); print('hello', input(), *map(os.isatty, range(3)))"
    try:
        async with open_terminal(python(code), program_input=tmp_path / "pipe") as terminal:
            await terminal.wait_for_output("ready")
            os.write(writer, b"Ada\n")
            await terminal.wait_for_output("hello Ada False False False")
    finally:
        os.close(writer)


GIVES_UP = """
import sys
from pathlib import Path
import anyio
from dapkit.client.terminal import open_terminal
from dapkit.protocol import RunInTerminalRequestArguments

async def main():
    wanted = RunInTerminalRequestArguments(args=["cat"], cwd="/")
    with anyio.move_on_after(0.5):
        async with open_terminal(wanted, program_input=Path(sys.argv[1])):
            print("started")

anyio.run(main)
"""


def test_named_pipe_that_nobody_writes_to_is_waited_for_no_longer_than_wanted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = subprocess.run([sys.executable, "-c", GIVES_UP, str(pipe)], capture_output=True, timeout=40, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    with pytest.raises(OSError, match="No such device or address"):  # nobody reads it, or is about to
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)


async def test_released_program_outlives_its_terminal() -> None:
    code = (
        "import time\nprint('ready')\nfor _ in range(10_000): print('x' * 100)\nprint('on', flush=True)\ntime.sleep(60)"
    )
    async with open_terminal(python(code)) as terminal:
        await terminal.wait_for_output("ready\r\n")
        terminal.release()
    assert terminal.returncode is None
    os.kill(terminal.pid, signal.SIGKILL)
    assert await terminal.wait() == -signal.SIGKILL


async def test_waiting_for_output_that_does_not_come_shows_what_did() -> None:
    async with open_terminal(python("print('something else')")) as terminal:
        with pytest.raises(WaitExpired, match="something else"):
            await terminal.wait_for_output("hello", deadline=30)


async def test_ended_program_is_reaped_at_once_and_the_rest_of_its_group_with_the_terminal(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"trap '' HUP; sleep 600 </dev/null >/dev/null 2>&1 & echo $! >{pid_file}"
    async with open_terminal(RunInTerminalRequestArguments(args=["/bin/sh", "-c", script], cwd="/")) as terminal:
        assert await terminal.wait(deadline=20) == 0
        await until(lambda: not Path(f"/proc/{terminal.pid}").exists())
        sleeping = int(pid_file.read_text())
        assert os.getpgid(sleeping) == terminal.pid
        assert terminal.returncode == 0
    await until(lambda: not runs(sleeping))


def runs(pid: int) -> bool:
    """Whether a process is neither gone nor waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False
