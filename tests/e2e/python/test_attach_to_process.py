"""`attach` by `processId`: to programs that know nothing of debuggers, wherever their main thread is."""

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from dapkit.adapter import RequestFailed
from dapkit.client import Session
from dapkit.protocol import OutputEvent
from dapkit.python import limits
from dapkit.python.adapter.engine.link import listening
from dapkit.python.adapter.injection import native_debugger
from dapkit.python.adapter.injection.injector import bring
from dapkit.python.adapter.injection.target import look_at, number_of
from e2e.python.listening_program import Listening, client
from missing import missing

pytestmark = [pytest.mark.row("attach"), pytest.mark.timeout(180)]

BUSY = """
    import gc, os, sys
    count = 0
    print("ready", flush=True)
    while not os.path.exists("go"):
        count += 1
        one = count % 7
    while len(os.listdir("/proc/self/task")) > 1:
        pass  # the debugger's thread is about to end
    gc.collect()
    kinds = [type(left).__name__ for left in gc.get_objects()]
    print(kinds.count("socket"), kinds.count("Callback"), flush=True)
    names = sorted(name for name in globals() if not name.startswith("__"))
    print(names, sorted(name for name in sys.modules if "dapkit" in name), flush=True)
    print(sys.monitoring.get_tool(4), sys.monitoring.get_events(4) if sys.monitoring.get_tool(4) else 0, flush=True)
"""
INSIDE = 6
"""A line in the loop."""
SOCKETS = "[each for each in gc.get_objects() if type(each).__name__ == 'socket']"

WAITS = """
    import sys, threading
    print("ready", flush=True)
    said = sys.stdin.readline()
    print(said.strip(), threading.active_count(), flush=True)
"""

STUCK = """
    import re, sys
    print("ready", flush=True)
    re.match("(a|a)*b", "a" * 60)
"""
"""The matcher lets go of the interpreter only for signals."""


@contextmanager
def plain(text: str, folder: Path, python: str, *options: str) -> Iterator[Listening]:
    """Start a program that cannot import dapkit, and wait until it is ready; kill it at the end."""
    file = folder / "prog.py"
    file.write_text(textwrap.dedent(text).lstrip("\n"))
    process = subprocess.Popen(
        [python, *options, str(file)],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            program = Listening(process, file)
            assert program.line() == "ready"
            yield program
        finally:
            process.kill()


def require_native_debugger(python: str) -> None:
    """Skip the test, or fail it, if the version needs gdb or lldb and there is none."""
    asks_itself = any(version in python for version in ("3.14", "3.15"))  # by sys.remote_exec
    if not asks_itself and native_debugger.installed() is None:
        missing("neither gdb nor lldb is installed")


async def attach(session: Session, program: Listening, **more: object) -> None:
    await session.attach({"processId": program.process.pid, **more}, deadline=120)


@pytest.mark.thorough
@pytest.mark.each_python
async def test_busy_program_is_attached_to_again_and_again_and_keeps_no_trace(tmp_path: Path, python: str) -> None:
    require_native_debugger(python)
    counts = []
    with plain(BUSY, tmp_path, python) as program:
        for _ in range(3):
            async with client() as session:
                await session.add_breakpoint(program.file, INSIDE)
                await attach(session, program)
                assert (await session.next_stop()).reason == "breakpoint"
                [*_, frame] = (await session.stack_trace(1)).stack_frames
                assert (frame.name, frame.line) == ("<module>", INSIDE)
                counts.append(int((await session.evaluate("count", frame_id=frame.id)).result))
                await session.detach()
        program.go()
        assert program.line() == "0 0"
        assert program.line() == "['count', 'gc', 'kinds', 'one', 'os', 'sys'] []"
        assert program.line() == "None 0"
        assert program.process.wait(30) == 0
        assert program.error_line() == ""
    assert counts == sorted(set(counts))


@pytest.mark.thorough
@pytest.mark.each_python
async def test_program_whose_main_thread_waits_is_attached_to(tmp_path: Path, python: str) -> None:
    if native_debugger.installed() is None:
        missing("neither gdb nor lldb is installed")
    with plain(WAITS, tmp_path, python) as program:
        for _ in range(2):
            async with client() as session:
                await attach(session, program, processId=str(program.process.pid))
                assert [thread.name for thread in (await session.threads()).threads] == ["MainThread"]
                await session.detach()
        said, errors = program.process.communicate("good day\n", timeout=30)
        assert said == "good day 1\n"
        assert errors == ""
        assert program.process.returncode == 0


@pytest.mark.thorough
@pytest.mark.each_python
async def test_folders_with_letters_beyond_ascii_do_not_matter(
    tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_native_debugger(python)
    with TemporaryDirectory(prefix="würfel-") as folder, plain(BUSY, tmp_path, python) as program:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        async with client() as session:
            await session.add_breakpoint(program.file, INSIDE)
            await attach(session, program)
            assert (await session.next_stop()).reason == "breakpoint"
            assert await anyio.Path(folder, "dapkit").is_dir()
            await session.detach()
        program.go()
        assert program.line() == "0 0"


@pytest.mark.thorough
@pytest.mark.parametrize("text", [BUSY, WAITS], ids=["busy", "waits"])
async def test_lldb_serves_where_there_is_no_gdb(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-22")
    found = native_debugger.installed(("lldb",))
    monkeypatch.setattr("dapkit.python.adapter.injection.injector.installed", lambda _wanted: found)
    monkeypatch.setattr("dapkit.python.adapter.injection.remote_exec.OLDEST", (9, 0))
    monkeypatch.setattr(limits, "INJECTION_SECONDS", 100.0)
    with plain(text, tmp_path, sys.executable) as program:
        await comes(program.process.pid)


async def comes(pid: int) -> None:
    """Have a program come, and leave it at once."""
    async with listening() as listener, listener.accept(lambda: bring(look_at(pid), listener.path), patience=120):
        pass


async def does_not_come(pid: int) -> str:
    """Have a program come that does not; return why."""
    with pytest.raises(RequestFailed) as raised:
        await comes(pid)
    return raised.value.text


@pytest.mark.thorough
async def test_program_that_is_stuck_in_native_code_is_left_alone_after_a_while(
    tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if native_debugger.installed() is None:
        missing("neither gdb nor lldb is installed")
    monkeypatch.setattr(limits, "INJECTION_SECONDS", 5.0)
    with plain(STUCK, tmp_path, python) as program:
        why = await does_not_come(program.process.pid)
    assert f"process {program.process.pid} did not come to the debugger within 5 s" in why
    assert f"`dapkit stacks {program.process.pid}`" in why


async def test_without_gdb_and_lldb_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("dapkit.python.adapter.injection.remote_exec.OLDEST", (9, 0))
    with plain(WAITS, tmp_path, sys.executable) as program:
        why = await does_not_come(program.process.pid)
    assert "needs gdb or lldb, and neither is on PATH: install gdb, or have the program call dapkit.listen()" in why


@pytest.mark.thorough
async def test_program_that_has_a_client_or_listens_says_so(tmp_path: Path, python: str) -> None:
    require_native_debugger(python)
    source = Path(__file__).parents[3] / "src"
    listens = f"import sys; sys.path.insert(0, {str(source)!r}); import dapkit; dapkit.listen(); sys.path.pop(0)\n"
    with plain(BUSY, tmp_path, python) as program:
        async with client() as first:
            await attach(first, program)
            assert "another client is attached to the program" in await does_not_come(program.process.pid)
            await first.detach()
    with plain(listens + textwrap.dedent(BUSY), tmp_path, python) as program:
        program.read_place()
        assert f"it listens for clients: attach to {program.port}" in await does_not_come(program.process.pid)


def refused(pid: int) -> str:
    with pytest.raises(RequestFailed) as raised:
        look_at(pid)
    return raised.value.text


def test_what_cannot_be_attached_to_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert "does not exist" in refused(4194305)  # the kernel gives no higher number than 2**22
    assert "is the debugger itself" in refused(os.getpid())
    with pytest.raises(RequestFailed, match="processId is 'app', expected the number of a process"):
        number_of("app")
    with plain(WAITS, tmp_path, sys.executable) as program:
        program.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, program.process.pid, os.WSTOPPED | os.WNOWAIT)
        assert "was stopped by a signal: continue it" in refused(program.process.pid)
    with plain(WAITS, tmp_path, sys.executable) as program:
        assert look_at(program.process.pid).version == sys.version_info[:2]
        program.process.kill()
        os.waitid(os.P_PID, program.process.pid, os.WEXITED | os.WNOWAIT)
        assert "has ended; only its parent" in refused(program.process.pid)


def test_root_attaches_to_programs_of_root_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with plain(WAITS, tmp_path, sys.executable) as program:
        monkeypatch.setattr(os, "geteuid", lambda: 65534)
        assert "and the debugger as user nobody: do it as that user" in refused(program.process.pid)


def test_program_of_another_language_is_refused() -> None:
    with subprocess.Popen([shutil.which("sleep") or "sleep", "1000"]) as other:
        try:
            assert "is not a Python program: it runs " in refused(other.pid)
        finally:
            other.kill()


@pytest.mark.usefixtures("root")
def test_process_of_another_user_is_refused_with_both_names(tmp_path: Path) -> None:
    script = (
        f"import os, sys; sys.path.insert(0, {str(Path(__file__).parents[3] / 'src')!r})\n"
        "from dapkit.python.adapter.injection import target\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: target.look_at(int(sys.argv[1]))\nexcept Exception as error: print(error.text)\n"
    )
    with plain(WAITS, tmp_path, sys.executable) as program:
        said = subprocess.run(
            [sys.executable, "-c", script, str(program.process.pid)], capture_output=True, text=True, check=False
        )
    assert "it runs as user root, and the debugger as user nobody: do it as that user" in said.stdout, said.stderr


async def test_program_that_is_traced_says_by_what(
    tmp_path: Path, require_tool: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Path(__file__).parents[3] / ".tools" / "bin"  # where the gdb of the system is too old for this processor
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{ours}")
    gdb = require_tool("gdb")
    with plain(WAITS, tmp_path, sys.executable) as program:
        debugger = native_debugger.installed(("gdb",))
        if debugger is None:
            missing("the gdb of this machine damages programs on its processor, and there is no newer one")
        async with native_debugger.held(debugger, program.process.pid):
            why = await does_not_come(program.process.pid)
    assert "is being traced by process" in why
    assert gdb.name in why


# Clients that come by themselves


def module(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m dapkit` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "dapkit", *words], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.each_python
@pytest.mark.thorough
async def test_module_has_a_running_program_listen(tmp_path: Path, python: str) -> None:
    require_native_debugger(python)
    with plain(BUSY.replace("> 1:", "> 2:"), tmp_path, python) as program:  # the thread that listens stays
        number = str(program.process.pid)
        done = module("--listen", "0", "--pid", number)
        said = re.fullmatch(rf"dapkit: process {number} is listening at 127.0.0.1:(\d+); the token .*\n", done.stderr)
        assert said, done.stderr
        assert done.returncode == 0
        program.port = int(said[1])
        for _ in range(2):
            async with client() as session:
                await session.add_breakpoint(program.file, INSIDE)
                await session.attach(program.connect)
                assert (await session.next_stop()).reason == "breakpoint"
                [frame, *_] = (await session.stack_trace(1)).stack_frames
                assert (await session.evaluate(SOCKETS, frame_id=frame.id)).result == "[]"
                await session.detach()
        again = module("--listen", "0", "--pid", number)
        assert (again.returncode, "listens for clients" in again.stderr) == (1, True), again.stderr
        program.go()
        assert program.line() == "0 0"
        assert program.line() == "['count', 'gc', 'kinds', 'one', 'os', 'sys'] []"
        assert program.process.wait(30) == 0


@pytest.mark.thorough
async def test_module_has_a_running_program_connect_without_waiting_for_its_client(tmp_path: Path, python: str) -> None:
    require_native_debugger(python)
    async with client() as session, anyio.create_task_group() as tasks:
        await session.add_breakpoint(tmp_path / "prog.py", INSIDE)
        tasks.start_soon(session.attach, {"listen": {"port": 0}})
        told = await session.wait_for(OutputEvent, since=0)
        port = told.output.partition("127.0.0.1', ")[2].partition(")")[0]
        with plain(BUSY, tmp_path, python) as program:
            done = await anyio.to_thread.run_sync(module, "--connect", port, "--pid", str(program.process.pid))
            assert done.stderr == f"dapkit: process {program.process.pid} is connected to 127.0.0.1:{port}\n"
            assert (await session.next_stop()).reason == "breakpoint"


@pytest.mark.thorough
def test_words_that_are_too_long_for_a_program_are_refused(tmp_path: Path) -> None:
    with plain(BUSY, tmp_path, sys.executable) as program:
        done = module("--listen", "0", "--pid", str(program.process.pid), "x" * 8_000)
        assert (done.returncode, done.stdout) == (1, "")
        assert re.fullmatch(r"dapkit: paths and words are too long by \d+ characters to attach to it\n", done.stderr)
        program.go()
        assert program.process.wait(30) == 0


def test_module_says_why_a_process_cannot_be_reached() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    done = module("--listen", "0", "--pid", str(ended.pid))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("dapkit: ")
    assert "Traceback" not in done.stderr
