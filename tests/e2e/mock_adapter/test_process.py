"""The adapter's process: what ends it, what it says on its standard streams, and its command line."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import anyio
import pytest

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    DisconnectArguments,
    EvaluateArguments,
    FrameDecoder,
    LaunchRequestArguments,
    OutputEvent,
    PauseArguments,
    StoppedEvent,
    TerminatedEvent,
    encode_frame,
)
from dapkit.transport import ChildProcess, NotAdmitted, connect_tcp, new_token, spawn, spawn_listening, token_left_for
from sdk_client import talking

EXAMPLE = Path(__file__).parents[3] / "examples" / "mock_adapter"
COMMAND = [sys.executable, str(EXAMPLE)]

NOISY = """
    import sys, threading, time
    import anyio
    from dapkit import protocol as dap
    from dapkit.adapter import Adapter, NoAttach, run

    class Noisy(Adapter[dap.LaunchRequestArguments, NoAttach]):
        '''An adapter that misbehaves on demand.'''

        async def launch(self, args: dap.LaunchRequestArguments) -> None:
            print("a stray print")

        async def evaluate(self, args: dap.EvaluateArguments) -> dap.EvaluateBody:
            match args.expression:
                case "wait":
                    await self.output("waiting")
                    await anyio.sleep_forever()
                case "block":
                    await self.output("blocking")
                    await anyio.to_thread.run_sync(time.sleep, 60)
                case "crash":
                    self.start_soon(self._crash)
            return dap.EvaluateBody(result="", variables_reference=0)

        async def _crash(self) -> None:
            raise ValueError("on purpose")

        async def closing(self) -> None:
            print("closed", file=sys.stderr)

    if __name__ == "__main__":
        run(Noisy)
"""


@pytest.fixture
def noisy(tmp_path: Path) -> list[str]:
    program = tmp_path / "noisy.py"
    program.write_text(textwrap.dedent(NOISY))
    return [sys.executable, str(program)]


async def ended(child: ChildProcess) -> int:
    with anyio.fail_after(30):
        return await child.wait()


async def test_a_stray_print_does_not_reach_the_client(noisy: list[str]) -> None:
    async with spawn(noisy) as child, talking(child.stream) as client:
        await client.start()
        await client.request(DisconnectArguments())
        assert await ended(child) == 0
        assert child.stderr_tail() == "a stray print\nclosed\n"


async def test_the_end_of_input_ends_the_adapter(noisy: list[str]) -> None:
    async with spawn(noisy) as child:
        async with talking(child.stream) as client:
            await client.start()
        assert await ended(child) == 0
        assert child.stderr_tail().endswith("closed\n")


@pytest.mark.thorough
@pytest.mark.parametrize("farewell", [["disconnect"], []])
@pytest.mark.parametrize("command", [COMMAND, [sys.executable, "-m", "dapkit.python"]], ids=["mock", "python"])
def test_initialize_is_answered_although_the_client_leaves_at_once(command: list[str], farewell: list[str]) -> None:
    said = [
        {"seq": seq, "type": "request", "command": asked, "arguments": {"adapterID": "x"}}
        for seq, asked in enumerate(["initialize", *farewell], 1)
    ]
    at_once = b"".join(encode_frame(json.dumps(message).encode()) for message in said)
    done = subprocess.run(command, input=at_once, capture_output=True, timeout=20, check=True)
    heard = [json.loads(payload) for payload in FrameDecoder().feed(done.stdout)]
    assert [(answer["command"], answer["success"]) for answer in heard] == [
        (asked, True) for asked in ["initialize", *farewell]
    ]
    assert heard[0]["body"]["supportsConfigurationDoneRequest"] is True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.thorough
async def test_a_signal_ends_the_adapter_in_order(noisy: list[str], number: signal.Signals) -> None:
    async with spawn(noisy) as child, talking(child.stream) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(RequestFailed, match="cancelled"):
                    await client.request(EvaluateArguments(expression="wait"))

            tasks.start_soon(ask)
            await client.event(OutputEvent)
            os.kill(child.pid, number)
        assert await ended(child) == 0
        assert child.stderr_tail().endswith("closed\n")


@pytest.mark.thorough
async def test_a_handler_that_cannot_be_cancelled_does_not_keep_the_process_alive(noisy: list[str]) -> None:
    async with spawn(noisy) as child, talking(child.stream) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(RequestFailed, match="cancelled"):
                    await client.request(EvaluateArguments(expression="block"))

            tasks.start_soon(ask)
            await client.event(OutputEvent)
            await client.request(DisconnectArguments())
        assert await ended(child) == 1
        assert "a handler is still busy" in child.stderr_tail()


@pytest.mark.thorough
async def test_a_second_signal_ends_a_server_that_waits_for_a_handler(noisy: list[str]) -> None:
    async with spawn_listening([*noisy, "--socket", "${socket}"]) as child, talking(child.stream) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with pytest.raises(RequestFailed, match="cancelled"):
                    await client.request(EvaluateArguments(expression="block"))

            tasks.start_soon(ask)
            await client.event(OutputEvent)
            os.kill(child.pid, signal.SIGTERM)
        os.kill(child.pid, signal.SIGTERM)
        assert await ended(child) == -signal.SIGTERM


async def test_a_failing_background_task_ends_the_process_with_1(noisy: list[str]) -> None:
    async with spawn(noisy) as child, talking(child.stream) as client:
        await client.start()
        await client.request(EvaluateArguments(expression="crash"))
        assert (await client.event(OutputEvent)).output.endswith("ValueError: on purpose\n")
        assert await ended(child) == 1
        assert "Traceback" in child.stderr_tail()


@contextmanager
def below_a_parent(*command: str) -> Iterator[tuple[subprocess.Popen[bytes], TextIO]]:
    """Start a process that starts the command; tell what is written by either, up to the end of both."""
    parent = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    reads, writes = os.pipe()
    with subprocess.Popen([sys.executable, "-c", parent, *command], stdout=writes) as process:
        os.close(writes)
        with os.fdopen(reads) as output:
            yield process, output


@pytest.mark.thorough
def test_the_death_of_the_parent_ends_the_adapter() -> None:
    with below_a_parent(*COMMAND, "--listen", "127.0.0.1:0") as (parent, output):
        assert output.readline().startswith("DAP server listening at: ")
        parent.kill()
        assert output.read() == ""  # the end of the pipe: the last process that could write there has gone


ORPHANED = f"""
    import os, select, sys
    import dapkit
    sys.path.insert(0, {str(EXAMPLE)!r})
    parent = os.pidfd_open(os.getppid())
    print("here", flush=True)
    select.select([parent], [], [])

    from dapkit.adapter import run
    from mock_adapter import MockAdapter
    run(MockAdapter, ["--listen", "127.0.0.1:0"])
"""
"""An adapter whose parent dies while it still starts; the next parent is the process of the tests, which lives."""


def test_a_parent_that_dies_while_the_adapter_starts_is_missed() -> None:
    with below_a_parent(sys.executable, "-c", textwrap.dedent(ORPHANED)) as (parent, output):
        assert output.readline() == "here\n"
        parent.kill()
        for _ in output:  # it may say where it listens
            pass


@contextmanager
def server(*options: str) -> Iterator[int]:
    """Have the adapter listen on a port, and end in order when it is told to."""
    command = [*COMMAND, "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline().removeprefix("DAP server listening at: 127.0.0.1:"))
        process.terminate()
        assert process.wait(30) == 0


async def test_a_token_is_asked_for_before_anything_else(tmp_path: Path) -> None:
    secret, token = tmp_path / "token", new_token()
    secret.touch(mode=0o600)
    secret.write_text(token)
    with server("--token-file", str(secret)) as port:
        async with talking(await connect_tcp("127.0.0.1", port, token=token)) as client:
            assert (await client.initialize()).supports_step_back
        with pytest.raises(NotAdmitted):
            await connect_tcp("127.0.0.1", port, token="guessed")  # noqa: S106 - a wrong one


async def test_a_server_has_several_sessions_side_by_side() -> None:
    async with AsyncExitStack() as stack:
        port = stack.enter_context(server())
        token = token_left_for("127.0.0.1", port)
        first = await stack.enter_async_context(talking(await connect_tcp("127.0.0.1", port, token=token)))
        second = await stack.enter_async_context(talking(await connect_tcp("127.0.0.1", port, token=token)))
        await first.start(LaunchRequestArguments(extra={"program": str(EXAMPLE / "burning.md")}))
        await second.start(LaunchRequestArguments(extra={"program": str(EXAMPLE / "shopping.md")}))
        await second.event(TerminatedEvent)
        await first.request(PauseArguments(thread_id=1))
        await first.event(StoppedEvent)


async def test_the_transcript_holds_every_message_for_nobody_else(tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    async with spawn([*COMMAND, "--transcript", str(transcript)]) as child, talking(child.stream) as client:
        await client.initialize()
        await client.request(DisconnectArguments())
        assert await ended(child) == 0
    entries = [json.loads(line) for line in transcript.read_text().splitlines()]
    assert [(entry["from"], entry["message"]["command"]) for entry in entries] == [
        ("client", "initialize"),
        ("adapter", "initialize"),
        ("client", "disconnect"),
        ("adapter", "disconnect"),
    ]
    assert stat.S_IMODE(transcript.stat().st_mode) == 0o600


async def test_the_log_file_holds_what_stderr_does_not(noisy: list[str], tmp_path: Path) -> None:
    log = tmp_path / "adapter.log"
    async with spawn([*noisy, "--log", str(log)]) as child, talking(child.stream) as client:
        await client.start()
        await client.request(EvaluateArguments(expression="crash"))
        assert await ended(child) == 1
    assert "ValueError: on purpose" in log.read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--listen", "4711x"], "'4711x' is not HOST:PORT"),
        (["--listen", "0.0.0.0:0"], "can be reached from other machines"),
        (["--listen", "127.0.0.1:0", "--socket", "somewhere"], "not allowed with argument"),
        (["--socket", "/no/such/adapter"], "/no/such"),
        (["--token-file", "/dev/null"], "--token-file is for --listen"),
        (["--listen", "127.0.0.1:0", "--token-file", "/no/such"], "No such file"),
    ],
)
def test_a_command_line_that_cannot_work_says_why(arguments: list[str], problem: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert problem in done.stderr
