"""The adapter's end of the link, for tests: starts a program under `entry.py` and drives it.

Blocking, with a deadline on each wait. Messages are framed as the client of dapkit frames them.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from dapkit.protocol import FrameDecoder, encode_frame
from dapkit.python.debuggee.connection import local_socket
from dapkit.system import keyed_port

ENTRY = Path(__file__).parents[3] / "src" / "dapkit" / "python" / "debuggee" / "starting" / "entry.py"
DEADLINE = 50.0

FREE_THREADED = "This Python is a free-threaded build"
"""How the output begins that says what does not work there."""

type Message = dict[str, Any]


class Refused(Exception):  # noqa: N818 - named after the event
    """A request that got an error response."""


def listening_at(place: Path) -> tuple[socket.socket, Callable[[socket.socket], None]]:
    """Listen where an engine connects to; return the socket, and a function by which a connection proves itself."""
    if sys.platform == "win32":
        key = os.urandom(keyed_port.PART_BYTES)
        listener = socket.create_server(("127.0.0.1", 0))
        keyed_port.write(str(place), listener.getsockname()[1], key)
        return listener, lambda connection: local_socket.check_key(connection, key)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    listener.listen()
    return listener, lambda _: None


class EngineClient:
    """A debugged program, stopped at its configuration until `go`."""

    def __init__(
        self,
        python: str,
        folder: Path,
        *program: str,
        env: dict[str, str] | None = None,
        entry: Path | None = None,
        options: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        place = folder / "link"
        listener, admit = listening_at(place)
        listener.settimeout(DEADLINE)
        self.process = subprocess.Popen(
            [python, *options, str(entry or ENTRY), "--link", f"unix:{place}", *program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "DAPKIT_CHECK_MARKS": "1", **(env or {})},
        )
        try:
            self.connection, _ = listener.accept()
            admit(self.connection)
        except TimeoutError:
            self.process.kill()
            raise AssertionError(self.process.communicate()) from None
        finally:
            listener.close()
            place.unlink()
        self._frames = FrameDecoder()
        self._payloads: deque[bytes] = deque()
        self.messages: list[Message] = []
        self.unseen: list[Message] = []  # events not yet waited for
        self.seq = 0
        self.ended = False
        self.notices: list[str] = []
        """What was said of free-threaded builds, which is kept from tests that read output."""
        self.errors: list[str] = []
        """What the engine has reported of errors of its own; the test fails that leaves any here."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        self.process.kill()
        self.connection.close()
        self.process.communicate()
        assert kind is not None or not self.errors, "\n".join(self.errors)

    # Messages

    def send(self, command: str, **arguments: object) -> int:
        self.seq += 1
        request = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        self.connection.sendall(encode_frame(json.dumps(request).encode()))
        return self.seq

    def read(self, deadline: float) -> Message | None:
        """Return the next message, None at the end of the link."""
        while True:
            while self._payloads:
                message: Message = json.loads(self._payloads.popleft())
                if message.get("event") == "output" and message["body"]["output"].startswith(FREE_THREADED):
                    self.notices.append(message["body"]["output"])
                    continue
                self.messages.append(message)
                if message.get("event") == "dapkit/log":
                    self.errors.append(message["body"]["text"])
                return message
            try:
                self.ended = not self._receive(deadline)
            except TimeoutError:
                raise AssertionError(f"nothing came in time; last: {self.messages[-3:]}") from None
            if self.ended:
                return None

    def _receive(self, deadline: float) -> bool:
        """Take the next bytes; False at the end of the link. Raises: TimeoutError."""
        self.connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            data = self.connection.recv(1 << 16)
        except ConnectionError:
            data = b""
        self._payloads += self._frames.feed(data)
        return bool(data)

    def answer(self, seq: int, seconds: float = DEADLINE) -> Message:
        deadline = time.monotonic() + seconds
        while (message := self.read(deadline)) is not None:
            if message["type"] == "event":
                self.unseen.append(message)
            elif message["request_seq"] == seq:
                return message
        raise AssertionError(f"the link ended; {self.process.communicate(timeout=20)}")

    def ask(self, command: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        answer = self.answer(self.send(command, **arguments))
        if not answer["success"]:
            raise Refused(answer["message"])
        return answer.get("body")

    def event(self, name: str, seconds: float = DEADLINE) -> Any:  # noqa: ANN401 - JSON
        deadline = time.monotonic() + seconds
        for at, held in enumerate(self.unseen):
            if held["event"] == name:
                return self.unseen.pop(at)["body"]
        while (message := self.read(deadline)) is not None:
            if message["type"] == "event":
                if message["event"] == name:
                    return message["body"]
                self.unseen.append(message)
        raise AssertionError(f"the link ended before {name}: {self.process.communicate(timeout=20)}")

    def silent(self, name: str, seconds: float) -> bool:
        """Say whether no such event comes within some time."""
        deadline = time.monotonic() + seconds
        while True:
            if any(message["event"] == name for message in self.unseen):
                return False
            try:
                if not self._receive(deadline):
                    return True
            except TimeoutError:
                return not any(message["event"] == name for message in self.unseen)
            while self._payloads:
                message = self.read(deadline)
                if message and message["type"] == "event":
                    self.unseen.append(message)
            if time.monotonic() >= deadline:
                return True

    # A session

    def configure(
        self,
        *,
        lines: list[int] | None = None,
        breakpoints: list[Message] | None = None,
        path: Path | str | None = None,
        filters: list[str] | None = None,
        **launch: object,
    ) -> list[Message]:
        """Do all up to configurationDone; return what was said about the breakpoints."""
        self.ask("initialize", adapterID="test")
        self.event("initialized")
        self.ask("launch", **launch)
        placed: list[Message] = []
        wanted = breakpoints if breakpoints is not None else [{"line": line} for line in lines or []]
        if wanted:
            placed = self.ask(
                "setBreakpoints", source={"path": str(path or self.folder / "prog.py")}, breakpoints=wanted
            )["breakpoints"]
        if filters is not None:
            self.ask("setExceptionBreakpoints", filters=filters)
        self.ask("configurationDone")
        return placed

    def stopped(self, reason: str | None = None) -> Message:
        body: Message = self.event("stopped")
        assert reason is None or body["reason"] == reason, body
        return body

    def stack(self, thread: int = 1) -> list[Message]:
        frames: list[Message] = self.ask("stackTrace", threadId=thread)["stackFrames"]
        return frames

    def at(self, thread: int = 1) -> tuple[str, int]:
        """Return the function and line where a thread is."""
        top = self.ask("stackTrace", threadId=thread, levels=1)["stackFrames"][0]
        return top["name"], top["line"]

    def wait_until_at(self, place: tuple[str, int], thread: int = 1) -> None:
        """Wait until a running thread is somewhere."""
        deadline = time.monotonic() + DEADLINE
        while self.at(thread) != place:
            assert time.monotonic() < deadline, f"never came to {place}, is at {self.at(thread)}"

    def wait_until_inside(self, name: str, thread: int = 1) -> None:
        """Wait until a running thread is in a function, or in what that calls."""
        deadline = time.monotonic() + DEADLINE
        while name not in {frame["name"] for frame in self.stack(thread)}:
            assert time.monotonic() < deadline, f"never came into {name}, is at {self.at(thread)}"

    def wait_until_in_python(self, thread: int = 1) -> None:
        """Wait until a stopped thread is out of native code; one that gets no processor counts as in there."""
        deadline = time.monotonic() + DEADLINE
        while self.at(thread)[0].endswith("[native call]"):
            assert time.monotonic() < deadline, f"never came back from native code, is at {self.at(thread)}"

    def step(self, command: str = "next", thread: int = 1) -> tuple[str, int]:
        self.ask(command, threadId=thread)
        self.stopped("step")
        return self.at(thread)

    def go(self, thread: int = 1) -> None:
        self.ask("continue", threadId=thread)

    def rows(self, reference: int, **more: object) -> list[Message]:
        rows: list[Message] = self.ask("variables", variablesReference=reference, **more)["variables"]
        return rows

    def locals(self, thread: int = 1, frame: int = 0) -> dict[str, Message]:
        scopes = self.ask("scopes", frameId=self.stack(thread)[frame]["id"])["scopes"]
        return {row["name"]: row for row in self.rows(scopes[0]["variablesReference"])}

    def value(self, expression: str, context: str = "watch", thread: int = 1, frame: int = 0) -> str:
        body = self.ask("evaluate", expression=expression, context=context, frameId=self.stack(thread)[frame]["id"])
        result: str = body["result"]
        return result

    def finish(self) -> tuple[int, str, str]:
        """Wait for the end: exit code, output, errors."""
        deadline = time.monotonic() + DEADLINE
        while not self.ended:
            message = self.read(deadline)
            if message is not None and message["type"] == "event":
                self.unseen.append(message)
        output, errors = (
            data.replace(os.linesep.encode(), b"\n") for data in self.process.communicate(timeout=DEADLINE)
        )
        return self.process.returncode, output.decode(), errors.decode()

    def events(self) -> Iterator[Message]:
        return (message for message in self.messages if message["type"] == "event")
