"""The debugger of a kernel: answers the debug requests of Jupyter's clients, and relays the rest to the adapter.

JupyterLab and VS Code send requests of the protocol on the control channel, and some of Jupyter's own:

    debugInfo             the present state, before and after a page is reloaded
    dumpCell              leaves the text of a cell in the file that its code is named after
    inspectVariables      the variables of the notebook, while nothing is stopped
    richInspectVariables  a notebook's display of a variable, here or in a frame
    copyToGlobals         a variable of a frame becomes one of the notebook

No client sends `configurationDone` before it has the response to `attach`, so it is sent here. A step or `continue` is
followed by the event `continued`, which clients of Jupyter wait for.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from dapkit.jupyter.adapter_process import AdapterGone, AdapterProcess, Message
from dapkit.program_api import in_program
from dapkit.system.trusted_files import objection_to
from dapkit.transport import private_folder, remove_dead_sockets

_RESUMING: Final = ("continue", "next", "stepIn", "stepOut")
_HISTORY: Final = re.compile(r"_i*|_+|_i?\d+|_[io]h|_dh|In|Out|get_ipython|exit|quit|open|__\w+__")
"""Names that IPython gives to its own objects in the namespace of the notebook."""

type Handler = Callable[[Message], Awaitable[Message]]


class Shell(Protocol):
    """The part of the shell that runs the cells which the debugger needs."""

    user_ns: dict[str, Any]

    def user_expressions(self, expressions: dict[str, str]) -> dict[str, dict[str, Any]]:
        """Return a notebook's display of expressions."""


class Cells(Protocol):
    """How the kernel names the files of cells."""

    folder: str
    seed: int

    def path_of(self, text: str) -> str:
        """Return the file that code made of a text is named after."""

    def keep_leading_lines(self, *, keep: bool) -> None:
        """Choose whether empty lines at the beginning of a cell count, as they do for the client."""


class KernelDebugger:
    """The debugger of one kernel, used on the event loop of its control thread.

    Args:
        shell: runs the cells.
        cells: names their files.
        publish: sends an event to all clients.
        kernel_files: the files of modules that run the kernel, whose frames are left out; none if all are wanted.
        just_my_code: whether steps pass over libraries, if the client does not say.

    """

    def __init__(
        self,
        shell: Shell,
        cells: Cells,
        publish: Callable[[Message], None],
        *,
        kernel_files: Iterable[str],
        just_my_code: bool,
    ) -> None:
        self._shell = shell
        self._cells = cells
        self._publish = publish
        self._kernel_files = frozenset(kernel_files)
        self._just_my_code = just_my_code
        self._adapter: AdapterProcess | None = None
        self._socket = ""
        self._initialized = asyncio.Event()
        self._breakpoints: dict[str, list[Message]] = {}
        self._stopped: list[int] = []  # threads, in the order of their stops
        self._inspection: Any = None
        self._kept: Any = None
        self._handlers: Mapping[str, Handler] = {
            "debugInfo": self._debug_info,
            "initialize": self._initialize,
            "attach": self._attach,
            "configurationDone": self._configuration_done,
            "disconnect": self._disconnect,
            "terminate": self._disconnect,
            "dumpCell": self._dump_cell,
            "source": self._source,
            "setBreakpoints": self._set_breakpoints,
            "stackTrace": self._stack_trace,
            "variables": self._variables,
            "inspectVariables": self._inspect_variables,
            "richInspectVariables": self._rich_inspect_variables,
            "copyToGlobals": self._copy_to_globals,
        }

    async def process_request(self, message: Message) -> Message:
        """Answer a debug request."""
        handler = self._handlers.get(message["command"], self._forward)
        try:
            return await handler(message)
        except AdapterGone as error:
            return _refused(message, str(error))

    async def close(self) -> None:
        """Let the program keep running, and end the adapter."""
        adapter, self._adapter = self._adapter, None
        if adapter is None:
            return
        self._stopped.clear()
        self._breakpoints.clear()
        self._cells.keep_leading_lines(keep=False)
        await adapter.end()

    # A session

    async def _debug_info(self, message: Message) -> Message:
        files = {
            "hashMethod": "Murmur2",
            "hashSeed": self._cells.seed,
            "tmpFilePrefix": self._cells.folder + os.sep,
            "tmpFileSuffix": ".py",
        }
        body = {
            "isStarted": self._adapter is not None,
            **files,
            "breakpoints": [{"source": path, "breakpoints": points} for path, points in self._breakpoints.items()],
            "stoppedThreads": self._stopped,
            "richRendering": True,
            "exceptionPaths": ["Python Exceptions"],
            "copyToGlobals": True,
        }
        return _response(message, body)

    async def _initialize(self, message: Message) -> Message:
        await self.close()  # a page that was loaded anew begins anew
        self._initialized = asyncio.Event()
        self._adapter = AdapterProcess(self._receive)
        answer = await self._forward(message)
        if answer.get("success"):
            self._cells.keep_leading_lines(keep=True)
        else:
            await self.close()
        return answer

    async def _attach(self, message: Message) -> Message:
        if not self._socket:
            remove_dead_sockets(private_folder(), "kernel-*")  # of kernels that were killed
            self._socket = in_program.listen_in_private(f"kernel-{os.getpid()}")
        arguments = {"justMyCode": self._just_my_code, **message.get("arguments", {}), "socket": self._socket}
        rules = [{"path": path, "include": False} for path in sorted(self._kernel_files)]
        arguments["rules"] = [*arguments.get("rules", []), *rules]
        attaching = asyncio.ensure_future(self._forward({**message, "arguments": arguments}))
        ready = asyncio.ensure_future(self._initialized.wait())
        await asyncio.wait((attaching, ready), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._initialized.is_set():
            await self._forward({"seq": message["seq"], "command": "configurationDone"})
        return await attaching

    async def _configuration_done(self, message: Message) -> Message:
        return _response(message, {})

    async def _disconnect(self, message: Message) -> Message:
        """End the session, never the kernel."""
        request = {"seq": message["seq"], "command": "disconnect", "arguments": {"terminateDebuggee": False}}
        answer = await self._forward(request)
        await self.close()
        return {**answer, "command": message["command"]}

    async def _forward(self, message: Message) -> Message:
        if self._adapter is None:
            return _refused(message, "the debugger has not been started")
        return await self._adapter.request(message)

    def _receive(self, message: Message) -> None:
        """Process an event of the adapter, and relay it to clients."""
        match message:
            case {"type": "event", "event": "initialized"}:
                self._initialized.set()
            case {"type": "event", "event": "stopped", "body": {"threadId": int(thread)}}:
                self._stopped = [*(other for other in self._stopped if other != thread), thread]
            case {"type": "event", "event": "continued"}:
                self._stopped.clear()
            case {"type": "response", "command": command, "success": True} if command in _RESUMING:
                thread = self._stopped[-1] if self._stopped else 1
                self._stopped.clear()
                body = {"threadId": thread, "allThreadsContinued": True}
                self._publish({"seq": message["seq"], "type": "event", "event": "continued", "body": body})
        if message["type"] == "event":
            self._publish(message)

    # Sources

    async def _dump_cell(self, message: Message) -> Message:
        path = self._cells.path_of(message["arguments"]["code"])
        if (problem := _write(path, message["arguments"]["code"])) is not None:
            return _refused(message, problem)
        return _response(message, {"sourcePath": path})

    async def _source(self, message: Message) -> Message:
        text = _read(message["arguments"].get("source", {}).get("path") or "")
        if text is None:
            return await self._forward(message)  # perhaps code that has no file
        return _response(message, {"content": text})

    async def _set_breakpoints(self, message: Message) -> Message:
        answer = await self._forward(message)
        path = message["arguments"]["source"].get("path", "")
        if answer.get("success"):
            points = answer["body"]["breakpoints"]
            self._breakpoints[path] = [{"line": point["line"]} for point in points if "line" in point]
            if not self._breakpoints[path]:
                del self._breakpoints[path]
        return answer

    async def _stack_trace(self, message: Message) -> Message:
        """Leave out the frames that run the kernel: those below the oldest one that is not of its modules."""
        answer = await self._forward(message)
        if answer.get("success"):
            frames = answer["body"]["stackFrames"]
            if self._kernel_files and not message["arguments"].get("format"):
                while len(frames) > 1 and frames[-1].get("source", {}).get("path") in (None, *self._kernel_files):
                    frames.pop()
            answer["body"]["totalFrames"] = len(frames)
        return answer

    # Values

    async def _variables(self, message: Message) -> Message:
        if self._stopped:
            answer = await self._forward(message)
            if answer.get("success"):
                answer["body"]["variables"] = _without_history(answer["body"]["variables"])
            return answer
        if self._inspection is None:
            return _refused(message, "the program runs, and inspectVariables was not asked for before")
        try:
            return _response(message, {"variables": self._inspection.variables(message["arguments"])})
        except Exception as error:  # noqa: BLE001 - of the engine, whose classes are not imported here
            return _refused(message, str(error))

    async def _inspect_variables(self, message: Message) -> Message:
        names = {name: value for name, value in self._shell.user_ns.items() if not _HISTORY.fullmatch(name)}
        self._inspection = in_program.look_into(names)
        return _response(message, {"variables": self._inspection.variables({})})

    async def _rich_inspect_variables(self, message: Message) -> Message:
        """Return a notebook's display of a variable; a child without a name has no display."""
        arguments = message["arguments"]
        name = arguments["variableName"]
        if not name.isidentifier():
            return _response(message, {"data": {}, "metadata": {}})
        if not self._stopped:
            display = self._shell.user_expressions({name: name})[name]
            if display.get("status") != "ok":
                return _refused(message, f"{name}: {display.get('evalue', 'there is no such variable')}")
            return _response(message, {"data": display["data"], "metadata": display["metadata"]})
        # In the stopped thread, in the same process: the result need not become a text to get here.
        expression = f"get_ipython().kernel.debugger.keep_rich({name})"
        answer = await self._evaluate(message, expression, arguments.get("frameId"))
        display_of_cell, self._kept = self._kept, None
        if not answer.get("success") or display_of_cell is None:
            return _refused(message, answer.get("message") or f"{name} could not be shown")
        data, metadata = display_of_cell
        return _response(
            message, {"data": data, "metadata": {kind: of for kind, of in metadata.items() if kind in data}}
        )

    def keep_rich(self, value: object) -> None:
        """Keep a notebook's display of a value, in the thread that has it."""
        self._kept = self._shell.display_formatter.format(value)  # type: ignore[attr-defined]  # of IPython

    async def _copy_to_globals(self, message: Message) -> Message:
        arguments = message["arguments"]
        names = arguments["srcVariableName"], arguments["dstVariableName"]
        if not all(name.isidentifier() for name in names):
            return _refused(message, f"{' and '.join(map(repr, names))} have to be names of variables")
        expression = f"get_ipython().user_ns.__setitem__({names[1]!r}, {names[0]})"
        answer = await self._evaluate(message, expression, arguments.get("srcFrameId"))
        return {**answer, "command": message["command"], "body": {}}

    async def _evaluate(self, message: Message, expression: str, frame: object) -> Message:
        arguments = {"expression": expression, "frameId": frame, "context": "clipboard"}
        return await self._forward({"seq": message["seq"], "command": "evaluate", "arguments": arguments})


def _write(path: str, text: str) -> str | None:
    """Write the text of a cell; return why not if others could replace it: the name of its folder can be foreseen."""
    folder = os.path.dirname(path)  # noqa: PTH120 - clients get a text
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        if (objection := objection_to(folder)) is not None:
            return f"the cell is not written: {objection}"
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        return f"{path} cannot be written: {error.strerror}"
    return None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _response(message: Message, body: Message) -> Message:
    return {
        "seq": message["seq"],
        "type": "response",
        "request_seq": message["seq"],
        "success": True,
        "command": message["command"],
        "body": body,
    }


def _refused(message: Message, why: str) -> Message:
    return {**_response(message, {}), "success": False, "message": why}


def _without_history(variables: list[Message]) -> list[Message]:
    return [variable for variable in variables if not _HISTORY.fullmatch(variable["name"])]
