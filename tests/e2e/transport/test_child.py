import contextlib
import os
import signal
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dapkit import limits
from dapkit.transport import CannotStart, ChildProcess, spawn


def python(program: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(program)]


async def read_all(child: ChildProcess) -> bytes:
    data = bytearray()
    try:
        while True:
            data += await child.stream.receive()
    except anyio.EndOfStream:
        return bytes(data)


async def read_line(child: ChildProcess) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        data += await child.stream.receive()
    return data


def processes_of_group(group: int) -> list[int]:
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                members.append(int(entry.name))
    return members


async def end_of_group(group: int) -> None:
    """Wait for all processes of a group whose parents have gone: they are children of the test process now."""

    def reap() -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitid(os.P_PGID, group, os.WEXITED)

    await anyio.to_thread.run_sync(reap)


async def test_bytes_go_to_stdin_and_come_from_stdout() -> None:
    async with spawn(["cat"]) as child:
        await child.stream.send(b"hello")
        assert await child.stream.receive() == b"hello"


IGNORED = """
import os, signal
del os.environ["_DAPKIT_GUARD"]
print(sorted(n.name for n in signal.Signals if signal.getsignal(n) is signal.SIG_IGN), dict(os.environ))
"""


async def heard(argv: list[str], **given: Any) -> bytes:  # noqa: ANN401 - as spawn takes it
    async with spawn(argv, **given) as child:
        return await read_all(child)


async def test_child_ignores_no_signal_that_we_ignore(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    environment = {"A": "b=c", "PATH": os.environ["PATH"]}  # in the C locale, in which Python changes its environment
    plain = await heard(python(IGNORED), cwd=tmp_path, env=environment)
    request.getfixturevalue("in_background")
    assert await heard(python(IGNORED), cwd=tmp_path, env=environment) == plain
    assert plain.startswith(b"['SIGPIPE', 'SIGXFSZ']")  # which Python itself ignores


@pytest.mark.usefixtures("in_background")
async def test_program_that_cannot_be_run_in_the_background_says_why(tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("\0\0")
    (tmp_path / "odd").chmod(0o755)
    async with spawn([str(tmp_path / "odd")]) as child:
        assert await child.wait() == 127
        assert child.stderr_tail() == f"{tmp_path}/odd could not be started: Exec format error\n"


async def test_ten_megabytes_go_both_ways_at_once() -> None:
    message = os.urandom(1024) * 10 * 1024
    async with spawn(["cat"]) as child, anyio.create_task_group() as tasks:

        async def send() -> None:
            await child.stream.send(message)
            await child.stream.send_eof()

        tasks.start_soon(send)
        assert await read_all(child) == message


async def test_end_of_input_ends_the_child_with_its_own_exit_code() -> None:
    async with spawn(python("import sys; sys.stdin.read(); sys.exit(7)")) as child:
        assert child.returncode is None
        await child.stream.send_eof()
        assert await child.wait() == 7
        assert child.returncode == 7


async def test_death_by_a_signal_is_a_negative_returncode() -> None:
    async with spawn(["sleep", "60"]) as child:
        os.kill(child.pid, signal.SIGKILL)
        assert await child.wait() == -signal.SIGKILL


async def test_several_tasks_may_wait_for_the_end() -> None:
    codes: list[int] = []
    async with spawn(["cat"]) as child, anyio.create_task_group() as tasks:

        async def wait() -> None:
            codes.append(await child.wait())

        tasks.start_soon(wait)
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await child.stream.send_eof()
    assert codes == [0, 0]


async def test_returncode_is_known_after_the_block() -> None:
    async with spawn(["cat"]) as child:
        pass
    assert child.returncode == 0
    assert await child.wait() == 0


async def test_stderr_is_in_the_tail_as_soon_as_the_stream_has_ended() -> None:
    async with spawn(python("import sys; print('what went wrong', file=sys.stderr)")) as child:
        assert await read_all(child) == b""
        await child.wait()
        assert child.stderr_tail() == "what went wrong\n"


async def test_flood_of_stderr_neither_blocks_the_child_nor_fills_the_memory() -> None:
    program = """
        import sys
        for number in range(50_000):
            print("line", number, "x" * 80, file=sys.stderr)
        print("done")
    """
    async with spawn(python(program)) as child:
        assert await read_all(child) == b"done\n"
        await child.wait()
        tail = child.stderr_tail()
    assert len(tail) == limits.STDERR_BYTES
    assert tail.endswith("line 49999 " + "x" * 80 + "\n")
    assert child.stderr_tail() == tail


async def test_stderr_is_passed_on_while_the_child_runs() -> None:
    heard: list[bytes] = []
    arrived = anyio.Event()

    def hear(data: bytes) -> None:
        heard.append(data)
        if data.endswith(b"\n"):
            arrived.set()

    program = "import sys; print('listening', file=sys.stderr, flush=True); sys.stdin.read()"
    async with spawn(python(program), on_stderr=hear) as child:
        await arrived.wait()
        assert child.returncode is None
    assert b"".join(heard) == b"listening\n"


async def test_child_runs_in_the_folder_and_environment_that_were_given(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "a.name": "no shell would keep", "EMPTY": ""}
    async with spawn(["env"], cwd=tmp_path, env=env) as child:
        *given, mark = sorted((await read_all(child)).decode().splitlines(), key=lambda line: "_DAPKIT_GUARD=" in line)
        assert mark.startswith("_DAPKIT_GUARD=")
        assert set(given) == {f"{k}={v}" for k, v in env.items()}
    async with spawn(["pwd"], cwd=tmp_path) as child:
        assert await read_all(child) == f"{tmp_path}\n".encode()


async def test_child_inherits_no_descriptor_but_the_three_pipes() -> None:
    inheritable = os.dup2(0, 50, inheritable=True)
    try:
        async with spawn(python("import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:4])")) as child:
            assert await read_all(child) == b"[0, 1, 2, 3]\n"  # 3 is the folder itself
    finally:
        os.close(inheritable)


async def test_child_leads_a_session_of_its_own() -> None:
    async with spawn(["cat"]) as child:
        assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid


async def test_child_that_ignores_everything_but_sigkill_is_gone_after_the_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.1)
    program = """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        while True: time.sleep(60)
    """
    async with spawn(python(program)) as child:
        assert await read_line(child) == b"ready\n"
    assert child.returncode == -signal.SIGKILL


async def test_child_that_ignores_the_end_of_its_input_gets_sigterm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.5)
    async with spawn(["sleep", "60"]) as child:
        pass
    assert child.returncode == -signal.SIGTERM


async def test_nothing_of_the_group_outlives_the_block() -> None:
    program = """
        import subprocess, sys
        left = subprocess.Popen(["sleep", "600"])
        print(left.pid, flush=True)
        sys.stdin.read()
    """
    async with spawn(python(program)) as child:
        await read_line(child)
        assert len(processes_of_group(child.pid)) == 2
    await end_of_group(child.pid)


async def test_child_may_take_other_groups_of_its_session_along() -> None:
    program = """
        import subprocess, sys
        left = subprocess.Popen(["sleep", "600"], process_group=0, stdout=subprocess.DEVNULL)
        print(left.pid, flush=True)
        sys.stdin.read()
    """
    async with spawn(python(program)) as child:
        left = int(await read_line(child))
        assert os.getpgid(left) == left
        os.kill(child.pid, signal.SIGKILL)  # as a debugger that cannot end its program any more
        child.takes_along = True
    await end_of_group(left)
    assert processes_of_group(left) == []


async def test_child_is_ended_when_the_block_is_cancelled() -> None:
    with anyio.move_on_after(0.05):
        async with spawn(["cat"]) as child:
            await anyio.sleep_forever()
    assert child.returncode == 0


async def test_error_of_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError, match="of the block"):
        async with spawn(["cat"]):
            raise LookupError("of the block")


async def test_unknown_command_is_an_error_that_says_where_it_was_looked_for() -> None:
    with pytest.raises(CannotStart, match=r"no-such-adapter was not found on PATH \(/nowhere\)"):
        async with spawn(["no-such-adapter"], env={"PATH": "/nowhere"}):
            pass


async def test_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=f"looked for {tmp_path}/bin/adapter"):
        async with spawn(["bin/adapter"], cwd=tmp_path):
            pass


async def test_file_that_is_not_executable_is_an_error(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.write_text("#!/bin/sh\n")
    with pytest.raises(CannotStart, match="is not an executable file"):
        async with spawn([str(adapter)]):
            pass


async def test_program_that_the_kernel_refuses_is_an_error(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.write_text("no shebang")
    adapter.chmod(0o755)
    with pytest.raises(CannotStart, match="adapter could not be started: Exec format error"):
        async with spawn([str(adapter)]):
            pass


async def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=f"in {tmp_path}/none: there is no such folder"):
        async with spawn(["cat"], cwd=tmp_path / "none"):
            pass


PARENT = """
import anyio, sys
from dapkit.transport import spawn
async def main():
    async with spawn([sys.executable, "-c", sys.argv[1], *sys.argv[2:]], on_stderr=sys.stderr.buffer.write) as child:
        assert await child.stream.receive()
        print(child.pid, flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


async def test_killed_parent_leaves_nothing_of_the_group() -> None:
    stubborn = """
        import signal, subprocess, time
        subprocess.Popen(["sleep", "600"])
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        while True: time.sleep(60)
    """
    async with spawn([*python(PARENT), textwrap.dedent(stubborn)]) as parent:
        group = int(await read_line(parent))
        assert len(processes_of_group(group)) == 2
        os.kill(parent.pid, signal.SIGKILL)
        await parent.wait()
        await end_of_group(group)


async def test_killed_parent_leaves_nothing_of_the_session_of_a_killed_child() -> None:
    debugger = """
        import os, subprocess
        left = subprocess.Popen(["sleep", "600"], process_group=0, stdout=subprocess.DEVNULL)
        print(left.pid, flush=True)
        input()
    """
    parent_program = """
        import anyio, os, signal, sys
        from dapkit.transport import spawn
        async def main():
            async with spawn(sys.argv[1:]) as child:
                print(int(await child.stream.receive()), flush=True)
                os.kill(child.pid, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
        anyio.run(main)
    """
    async with spawn([*python(parent_program), *python(debugger)]) as parent:
        left = int(await read_line(parent))
        await parent.wait()
        await end_of_group(left)


@pytest.mark.thorough
async def test_killed_parent_leaves_nothing_that_has_left_the_session() -> None:
    debugger = """
        import os, subprocess
        left = subprocess.check_output(["setsid", "-f", "sh", "-c", "echo $$; exec sleep 600 >&2"])
        os.write(1, left)
        input()
    """
    parent_program = """
        import anyio, os, signal, sys
        from dapkit.transport import spawn
        async def main():
            async with spawn(sys.argv[1:]) as child:
                print(int(await child.stream.receive()), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
        anyio.run(main)
    """
    async with spawn([*python(parent_program), *python(debugger)]) as parent:
        left = int(await read_line(parent))
        await parent.wait()
        await end_of_group(left)


@pytest.mark.thorough
async def test_child_of_a_killed_parent_may_end_by_itself_first(tmp_path: Path) -> None:
    note = tmp_path / "note"
    orderly = r"""
        import os, sys
        os.write(1, b"ready\n")
        sys.stdin.read()
        open(sys.argv[1], "w").write("orderly")
    """
    async with spawn([*python(PARENT), textwrap.dedent(orderly), str(note)]) as parent:
        group = int(await read_line(parent))
        os.kill(parent.pid, signal.SIGKILL)
        await parent.wait()
        await end_of_group(group)
    assert note.read_bytes() == b"orderly"


@pytest.mark.thorough
async def test_real_adapter_of_a_killed_parent_takes_its_program_along(require_tool: Callable[[str], Path]) -> None:
    """PR_SET_PDEATHSIG instead of the guard fails here: lldb-dap dies at once, and its program runs on."""
    parent_program = """
        import anyio, sys
        from dapkit.endpoint import Endpoint, EventReceived, Role
        from dapkit.protocol import *
        from dapkit.transport import Connection, spawn
        async def main():
            async with (
                spawn([sys.argv[1]]) as child,
                Connection(child.stream, Endpoint(Role.CLIENT)) as client,
                anyio.create_task_group() as tasks,
            ):
                await client.request(InitializeRequestArguments(adapter_id="lldb"))
                program = {"program": "/bin/sleep", "args": ["600"]}
                tasks.start_soon(client.request, LaunchRequestArguments(extra=program))
                async for happening in client.incoming():
                    match happening:
                        case EventReceived(Event(event="initialized")):
                            tasks.start_soon(client.request, ConfigurationDoneArguments())
                        case EventReceived(Event(event="process", body=body)):
                            print(body.system_process_id, flush=True)
        anyio.run(main)
    """
    async with spawn([*python(parent_program), str(require_tool("lldb-dap-22"))]) as parent:
        program = os.pidfd_open(int(await read_line(parent)))
        os.kill(parent.pid, signal.SIGKILL)
        with anyio.fail_after(50):
            await anyio.wait_readable(program)
        os.close(program)
