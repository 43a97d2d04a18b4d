"""The service on standard streams: JSON-RPC 2.0, one message a line (MCP 2025-11-25, "Transports", "stdio").

The SDK's server is not used here: its import takes a second or two, and most of the memory of an agent's child.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, BinaryIO, Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from dapkit.mcp import limits
from dapkit.mcp.debug_service import (
    DETAILS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    DebugService,
    Json,
    Report,
    ServiceError,
)
from dapkit.mcp.opening import initialized, line_of

log = logging.getLogger(__name__)

type RequestId = int | str

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601


class StdioServer:
    """One client on two streams; requests are answered side by side.

    Args:
        service: answers the requests.
        reads: the messages of the client, each in a line.
        writes: the messages of the server.
        first: a line that was read already.

    """

    def __init__(self, service: DebugService, reads: BinaryIO, writes: BinaryIO, *, first: bytes = b"") -> None:
        self._service = service
        self._first = first
        self._reads = reads
        self._writes = writes
        self._writing = anyio.Lock()
        self._running: dict[RequestId, anyio.CancelScope] = {}
        self._methods: dict[str, Callable[[Json, Report | None], Awaitable[Json]]] = {
            "initialize": _initialize,
            "ping": _ping,
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
        }

    async def run(self) -> None:
        """Answer until the client ends its stream; requests that are not answered by then are given up."""
        async with anyio.create_task_group() as tasks:
            while line := await to_thread.run_sync(self._read_line):
                await self._take(line, tasks)
            tasks.cancel_scope.cancel()

    def _read_line(self) -> bytes:
        """Return the next line, its beginning if it is too long; empty at the end."""
        line, self._first = self._first or self._reads.readline(limits.MCP_MESSAGE_BYTES + 1), b""
        rest = line
        while len(rest) > limits.MCP_MESSAGE_BYTES and not rest.endswith(b"\n"):
            rest = self._reads.readline(limits.MCP_MESSAGE_BYTES + 1)
        return line

    async def _take(self, line: bytes, tasks: TaskGroup) -> None:
        """Begin to answer a message."""
        if len(line) > limits.MCP_MESSAGE_BYTES:
            await self._fail(None, PARSE_ERROR, f"a message is longer than {limits.MCP_MESSAGE_BYTES} bytes")
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            if line.strip():
                await self._fail(None, PARSE_ERROR, f"expected a JSON object, found {line[:100]!r}: {error}")
            return
        match message:
            case {"jsonrpc": "2.0", "method": str(method), "id": int() | str() as number}:
                if number in self._running:
                    await self._fail(number, INVALID_REQUEST, f"request {number} is not answered yet")
                    return
                scope = self._running[number] = anyio.CancelScope()
                tasks.start_soon(self._answer, number, method, message.get("params"), scope)
            case {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": int() | str() as number},
            }:
                if number in self._running:
                    self._running[number].cancel()
            case {"jsonrpc": "2.0", "method": str()} if "id" not in message:
                pass  # other notifications say nothing that matters here
            case {"jsonrpc": "2.0", "result": _} | {"jsonrpc": "2.0", "error": _}:
                pass  # no request was sent
            case _:
                await self._fail(None, INVALID_REQUEST, f"expected a request of JSON-RPC 2.0, found {line[:100]!r}")

    async def _answer(self, number: RequestId, method: str, params: object, scope: anyio.CancelScope) -> None:
        """Answer a request; a cancelled one gets no answer. Its number is free before the client has the answer."""
        answer: Json | None = None
        try:
            with scope:
                answer = await self._outcome(method, params)
        finally:
            del self._running[number]
        if answer is not None:
            await self._send({"id": number, **answer})

    async def _outcome(self, method: str, params: object) -> Json:
        """Return the result of a request, or its error."""
        try:
            return {"result": await self._result(method, params)}
        except ServiceError as error:
            return _error(error.code, str(error))
        except Exception:
            log.exception("internal error in %s", method)
            return _error(INTERNAL_ERROR, "internal error; the log of the server has more")

    async def _result(self, method: str, params: object) -> Json:
        if method not in self._methods:
            raise ServiceError(f"there is no method {method}", METHOD_NOT_FOUND)
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise ServiceError(f"expected an object as params, found {type(params).__name__}")
        return await self._methods[method](params, self._report_of(params))

    def _report_of(self, params: Json) -> Report | None:
        """Return the function that reports progress, if the request asks for that."""
        token = _object(params, "_meta").get("progressToken")
        if not isinstance(token, int | str):
            return None

        async def report(count: int, message: str) -> None:
            progress = {"progressToken": token, "progress": count, "message": message}
            await self._send({"method": "notifications/progress", "params": progress})

        return report

    # Methods

    async def _list_tools(self, _params: Json, _report: Report | None) -> Json:
        return await self._service.list_tools()

    async def _call_tool(self, params: Json, report: Report | None) -> Json:
        return await self._service.call_tool(
            _text(params, "name"),
            _object(params, "arguments"),
            with_details=_object(params, "_meta").get(DETAILS) is True,
            report=report,
        )

    async def _list_prompts(self, _params: Json, _report: Report | None) -> Json:
        return self._service.list_prompts()

    async def _get_prompt(self, params: Json, _report: Report | None) -> Json:
        return self._service.get_prompt(_text(params, "name"), _object(params, "arguments"))

    async def _list_resources(self, _params: Json, _report: Report | None) -> Json:
        return await self._service.list_resources()

    async def _list_templates(self, _params: Json, _report: Report | None) -> Json:
        return self._service.list_templates()

    async def _read_resource(self, params: Json, _report: Report | None) -> Json:
        return await self._service.read_resource(_text(params, "uri"))

    # Messages

    async def _fail(self, number: RequestId | None, code: int, text: str) -> None:
        await self._send({"id": number, **_error(code, text)})

    async def _send(self, message: Mapping[str, object]) -> None:
        """Write a message as a whole, also if its request is cancelled meanwhile."""
        data = line_of({**message})
        with anyio.CancelScope(shield=True):
            async with self._writing:
                await to_thread.run_sync(self._write, data)

    def _write(self, data: bytes) -> None:
        self._writes.write(data)
        self._writes.flush()


async def _initialize(params: Json, _report: Report | None) -> Json:
    return initialized(params)


async def _ping(_params: Json, _report: Report | None) -> Json:
    return {}


def _error(code: int, text: str) -> Json:
    return {"error": {"code": code, "message": text}}


def _object(params: Json, name: str) -> dict[str, Any]:
    value = params.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ServiceError(f"expected an object as {name}, found {type(value).__name__}", INVALID_PARAMS)
    return value


def _text(params: Json, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise ServiceError(f"expected a text as {name}, found {type(value).__name__}", INVALID_PARAMS)
    return value
