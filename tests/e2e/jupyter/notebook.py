"""A notebook's side of a kernel: what JupyterLab sends, over the kernel's own channels."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

SECONDS = 60.0

type Message = dict[str, Any]


class Refused(Exception):  # noqa: N818 - named after the event
    """A debug request that got an error response."""


class Notebook:
    """One notebook with its kernel."""

    def __init__(self, client: BlockingKernelClient, manager: KernelManager) -> None:
        self.client = client
        self.manager = manager
        self.printed = ""
        self._seq = 0
        self._events: list[Message] = []

    def debug(self, command: str, **arguments: object) -> Message:
        """Send a debug request, and return the body of the response."""
        self._seq += 1
        content = {"type": "request", "seq": self._seq, "command": command, "arguments": arguments}
        request = self.client.session.msg("debug_request", content)
        self.client.control_channel.send(request)
        while True:
            reply = self.client.control_channel.get_msg(timeout=SECONDS)
            if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                break
        response: Message = reply["content"]
        assert (response["type"], response["request_seq"], response["command"]) == ("response", self._seq, command)
        if not response["success"]:
            raise Refused(response["message"])
        body: Message = response.get("body") or {}
        return body

    def start_debugger(self) -> Message:
        """Do what JupyterLab does when its debugger is switched on; return what the debugger can do."""
        able = self.debug(
            "initialize",
            clientID="jupyterlab",
            clientName="JupyterLab",
            adapterID="dapkit",
            pathFormat="path",
            linesStartAt1=True,
            columnsStartAt1=True,
            supportsVariableType=True,
            supportsVariablePaging=True,
            supportsRunInTerminalRequest=True,
            locale="en",
        )
        self.debug("attach")
        return able

    def set_breakpoints(self, cell: str, *lines: int) -> list[Message]:
        """Set breakpoints in a cell; return them as they are."""
        path = self.debug("dumpCell", code=cell)["sourcePath"]
        asked = [{"line": line} for line in lines]
        body = self.debug("setBreakpoints", source={"path": path}, breakpoints=asked, sourceModified=False)
        points: list[Message] = body["breakpoints"]
        return points

    def run(self, cell: str) -> str:
        """Begin to run a cell; return what `finish` wants."""
        request: str = self.client.execute(cell)
        return request

    def finish(self, request: str) -> str:
        """Wait until a cell has run; return "ok" or "error"."""
        while True:
            reply = self.client.shell_channel.get_msg(timeout=SECONDS)
            if reply["parent_header"].get("msg_id") == request:
                status: str = reply["content"]["status"]
                return status

    def event(self, name: str) -> Message:
        """Wait for a debug event; return its body."""
        while True:
            message = self._message()
            if message["msg_type"] == "debug_event" and message["content"]["event"] == name:
                body: Message = message["content"].get("body") or {}
                return body

    def until_printed(self, text: str) -> None:
        """Wait until the cells have printed something."""
        while text not in self.printed:
            self._message()

    def _message(self) -> Message:
        message: Message = self.client.iopub_channel.get_msg(timeout=SECONDS)
        if message["msg_type"] == "stream":
            self.printed += message["content"]["text"]
        return message

    def stack(self) -> list[tuple[str, int, str]]:
        """Return the frames of the stopped thread: name, line and path."""
        frames = self.debug("stackTrace", threadId=1)["stackFrames"]
        self.frame = frames[0]["id"]
        return [(frame["name"], frame["line"], frame["source"]["path"]) for frame in frames]

    def step(self, command: str) -> tuple[str, int]:
        """Step, and return where the program is then."""
        self.debug(command, threadId=1)
        self.event("continued")
        assert self.event("stopped")["reason"] == "step"
        return self.stack()[0][:2]

    def variables(self) -> dict[str, Message]:
        """Return the variables of the first scope of the newest frame, as the panel shows them."""
        scope = self.debug("scopes", frameId=self.frame)["scopes"][0]
        rows = self.debug("variables", variablesReference=scope["variablesReference"])["variables"]
        return {row["name"]: row for row in rows}

    def value(self, expression: str) -> str:
        """Evaluate in the newest frame, as the console does."""
        body = self.debug("evaluate", expression=expression, context="repl", frameId=self.frame)
        result: str = body["result"]
        return result


@contextmanager
def notebook(folder: Path, env: dict[str, str]) -> Iterator[Notebook]:
    """Start the kernel whose description is installed below a folder."""
    specs = KernelSpecManager(kernel_dirs=[str(folder / "share" / "jupyter" / "kernels")])
    manager = KernelManager(kernel_name="dapkit", kernel_spec_manager=specs)
    manager.start_kernel(cwd=str(folder), env=env)
    try:
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=SECONDS)
            yield Notebook(client, manager)
        finally:
            client.stop_channels()
    finally:
        manager.shutdown_kernel()
