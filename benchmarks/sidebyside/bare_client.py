"""A client that does nothing but write and read, so that its own time hardly counts; and sessions of our adapter."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

type Message = dict[str, Any]


class BareClient:
    """One end of a session with our adapter, and the figures of it."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        """Start the adapter, in an environment if one is given."""
        command = [sys.executable, "-m", "dapkit.python"]
        self.adapter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=env)
        self._input: Any = self.adapter.stdin
        output: Any = self.adapter.stdout
        self._output: int = output.fileno()
        self._unread = bytearray()
        self._seq = 0
        self.file = folder / "program.py"
        self.file_source = {"path": str(self.file)}
        self.program = 0
        """The identity of the program's process, once it was reported."""

    def send(self, command: str, **arguments: object) -> int:
        """Send a request; return its number."""
        self._seq += 1
        body = json.dumps({"seq": self._seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self._input.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return self._seq

    def read(self) -> Message:
        """Return the next message."""
        while True:
            head, end, rest = bytes(self._unread[:64]).partition(b"\r\n\r\n")
            if end:
                begin = len(head) + 4
                length = int(head.rpartition(b" ")[2])
                if len(self._unread) >= begin + length:
                    message: Message = json.loads(self._unread[begin : begin + length])
                    del self._unread[: begin + length], rest
                    if message.get("event") == "process":
                        self.program = int(message["body"]["systemProcessId"])
                    return message
            data = os.read(self._output, 1 << 20)
            if not data:
                raise EOFError
            self._unread += data

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the next message of a kind; drop those before it."""
        while not wanted(message := self.read()):
            pass
        return message

    def answer(self, number: int) -> Message:
        """Return the body of a response."""
        answer = self.until(lambda message: message.get("request_seq") == number)
        if not answer["success"]:
            raise RuntimeError(answer["message"])
        body: Message = answer.get("body", {})
        return body

    def ask(self, command: str, **arguments: object) -> Message:
        """Send a request and return the body of its response."""
        return self.answer(self.send(command, **arguments))

    def event(self, name: str) -> Message:
        """Return the body of the next event of a name."""
        body: Message = self.until(lambda message: message.get("event") == name).get("body", {})
        return body

    def set_breakpoints(self, *lines: int) -> Message:
        """Replace the breakpoints of the program."""
        return self.ask("setBreakpoints", source=self.file_source, breakpoints=[{"line": line} for line in lines])

    def launch(self, text: str, *lines: int, **options: object) -> None:
        """Run a program to the first of some breakpoints, if there are any."""
        self.file.write_text(text)
        self.ask("initialize", adapterID="python", pathFormat="path")
        self.send("launch", program=str(self.file), **options)
        self.event("initialized")
        self.set_breakpoints(*lines)
        self.ask("configurationDone")
        if lines:
            self.event("stopped")

    def run(self, **options: object) -> None:
        """Run the program that there is."""
        self.ask("initialize", adapterID="python", pathFormat="path")
        self.send("launch", program=str(self.file), **options)
        self.event("initialized")
        self.ask("configurationDone")

    def output_to_the_end(self) -> str:
        """Return what the program writes until it ends."""
        text = ""
        while True:
            message = self.until(lambda message: message.get("event") in ("output", "terminated"))
            if message["event"] == "terminated":
                return text
            if message["body"].get("category") == "stdout":
                text += message["body"]["output"]

    def set_conditional(self, line: int, condition: str) -> None:
        """Replace the breakpoints of the program by one with a condition."""
        self.ask("setBreakpoints", source=self.file_source, breakpoints=[{"line": line, "condition": condition}])

    def step(self, command: str = "next") -> None:
        """Step, to the next stop."""
        self.send(command, threadId=1)
        self.event("stopped")

    def memory(self) -> tuple[float, float]:
        """Return the megabytes of the adapter and of the program."""
        return resident(self.adapter.pid), resident(self.program)

    def end(self) -> None:
        """End the program and the adapter."""
        self.ask("disconnect", terminateDebuggee=True)
        self._input.close()
        self.adapter.wait(timeout=30)


@contextmanager
def session(env: Mapping[str, str] | None = None) -> Iterator[BareClient]:
    """Start an adapter for one case, in an environment if one is given."""
    with tempfile.TemporaryDirectory() as folder:
        client = BareClient(Path(folder), env)
        yield client
        client.end()


def resident(process: int) -> float:
    """Return the megabytes of memory that a process has."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def show(what: str, figure: float, unit: str = "ms") -> None:
    """Print a row."""
    print(f"{what:74} {figure:10,.1f} {unit}", flush=True)
