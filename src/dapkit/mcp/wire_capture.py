"""The messages between an HTTP server and its clients, kept for diagnostics: JSON-RPC, as requests and as events.

The application is wrapped behind the token, so that nothing of a stranger is kept, and no header is. An error here is
logged, and nothing of the answer is held up or changed. Server-sent events are cut out of the bytes of a stream: fields
a line, a blank line after each event (https://html.spec.whatwg.org/multipage/server-sent-events.html, "Interpreting an
event stream").
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from dapkit.mcp import limits
from dapkit.mcp.admission import AsgiApplication, AsgiReceive, AsgiScope, AsgiSend
from dapkit.transport import WireBuffer, WireHead

_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LONGEST_BLANK_LINE = 4


class EventTooLong(ValueError):  # noqa: N818 - it is the event that is too long
    """An event has no end within `limits.MCP_EVENT_BYTES`; where the next one begins is unknown."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event.

    Attributes:
        event: its type; empty for `message`, which is the usual one.
        data: its content.
        id: by which a client can continue after it.

    """

    event: str
    data: str
    id: str = ""


class ServerSentStream:
    """The events of one stream."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Take more bytes, return the events that are complete now; comments, such as pings, are skipped.

        Raises:
            EventTooLong: nothing can be read from here on.

        """
        self._rest += data
        events = []
        begin = 0
        while (match := _BLANK_LINE.search(self._rest, max(begin, self._searched))) is not None:
            event = _event(self._rest[begin : match.start()].decode(errors="replace"))
            events += [] if event is None else [event]
            begin = self._searched = match.end()
        del self._rest[:begin]
        self._searched = max(len(self._rest) - _LONGEST_BLANK_LINE + 1, 0)
        if len(self._rest) > limits.MCP_EVENT_BYTES:
            self._rest.clear()
            raise EventTooLong(f"an event is longer than {limits.MCP_EVENT_BYTES} bytes")
        return events


def _event(block: str) -> ServerSentEvent | None:
    fields: dict[str, list[str]] = {"event": [], "data": [], "id": []}
    for line in _LINE_END.split(block.removeprefix("\ufeff")):
        name, _, value = line.partition(":")
        if name in fields:
            fields[name].append(value.removeprefix(" "))
    if not any(fields.values()):
        return None
    return ServerSentEvent("".join(fields["event"][-1:]), "\n".join(fields["data"]), "".join(fields["id"][-1:]))


log = logging.getLogger(__name__)

type _RequestId = int | str

_EVENTS = "text/event-stream"
_JSON = "application/json"


class WireCapture:
    """Keeps the messages of all clients of one server.

    Requests are numbered over all clients, whose own numbers (the `id`) begin anew in each.

    Attributes:
        buffer: where they are kept.

    """

    def __init__(self, buffer: WireBuffer, channel: str) -> None:
        self.buffer = buffer
        self._channel = channel
        self._requests = 0

    def captured(self, application: AsgiApplication) -> AsgiApplication:
        """Keep the messages that an application receives and sends."""

        async def serve(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
            if scope["type"] != "http":
                await application(scope, receive, send)
                return
            exchange = _Exchange(self)

            async def receive_and_keep() -> MutableMapping[str, Any]:
                message = await receive()
                exchange.received(message)
                return message

            async def keep_and_send(message: MutableMapping[str, Any]) -> None:
                exchange.sent(message)
                await send(message)

            await application(scope, receive_and_keep, keep_and_send)

        return serve

    def keep(self, text: str, *, sender: str, head: WireHead, problem: str | None = None) -> None:
        """Keep one message."""
        self.buffer.add(text, sender=sender, head=head, channel=self._channel, problem=problem)

    def next_number(self) -> int:
        """Return the number of the next request."""
        self._requests += 1
        return self._requests


class _Exchange:
    """One request by HTTP and its response."""

    def __init__(self, capture: WireCapture) -> None:
        self._capture = capture
        self._requests: dict[_RequestId, WireHead] = {}
        self._kind = ""
        self._request = bytearray()
        self._response = bytearray()
        self._events = ServerSentStream()
        self._broken = False

    def received(self, message: Mapping[str, Any]) -> None:
        """Keep the client's message, once all of it has arrived."""
        if message["type"] == "http.request":
            self._try(self._take_request, message)

    def sent(self, message: Mapping[str, Any]) -> None:
        """Keep the server's messages: each event, or the one message of a response without events."""
        self._try(self._take_response, message)

    def _try(self, take: Callable[[Mapping[str, Any]], None], message: Mapping[str, Any]) -> None:
        if self._broken:
            return
        try:
            take(message)
        except Exception:
            log.exception("the rest of an exchange is not kept for diagnostics")
            self._broken = True
            self._request.clear()
            self._response.clear()

    def _take_request(self, message: Mapping[str, Any]) -> None:
        if self._is_whole(self._request, message):
            self._keep(self._request.decode(errors="backslashreplace"), "client")

    def _take_response(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._kind = _content_type(message.get("headers", ()))
        elif message["type"] != "http.response.body":
            return
        elif self._kind == _EVENTS:
            for event in self._events.feed(message.get("body", b"")):
                self._keep_event(event)
        elif self._kind == _JSON and self._is_whole(self._response, message):
            self._keep(self._response.decode(errors="backslashreplace"), "server")

    @staticmethod
    def _is_whole(body: bytearray, message: Mapping[str, Any]) -> bool:
        """Add a part to a body; return whether it was the last one, and there is anything."""
        body += message.get("body", b"")
        if len(body) > limits.MCP_EVENT_BYTES:
            raise EventTooLong(f"a body is longer than {limits.MCP_EVENT_BYTES} bytes")
        return bool(body) and not message.get("more_body", False)

    def _keep_event(self, event: ServerSentEvent) -> None:
        if event.data:
            self._keep(event.data, "server", event.event)
        else:
            text = "".join(f"{name}: {value}\n" for name, value in (("event", event.event), ("id", event.id)) if value)
            self._capture.keep(text, sender="server", head=WireHead(kind="event", name=event.event or "message"))

    def _keep(self, text: str, sender: str, event: str = "") -> None:
        """Keep one message of JSON-RPC, or the data of any other event."""
        head, problem = WireHead(kind="event", name=event) if event else WireHead(), None
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            problem = None if event else f"it is not JSON: {error}"
        else:
            if isinstance(message, dict):
                head = self._head(message, sender, event)
            elif not event:
                problem = "it is not a JSON object"
        self._capture.keep(text, sender=sender, head=head, problem=problem)

    def _head(self, message: Mapping[str, object], sender: str, event: str) -> WireHead:
        match message:
            case {"method": str(method)}:
                return self._asked(method, message.get("id"), sender)
            case {"result": result, "id": int() | str() as number}:
                return replace(self._answered(number), success=not _reports_error(result))
            case {"error": _, "id": int() | str() as number}:
                return replace(self._answered(number), success=False)
            case {"error": _}:
                return WireHead(kind="response", name="error", success=False)
        return WireHead(kind="event", name=event or "message")

    def _asked(self, method: str, number: object, sender: str) -> WireHead:
        """Return which request it is; without a number it is a notification."""
        match number:
            case int() | str() if sender == "client":
                head = WireHead(kind="request", name=method, seq=self._capture.next_number())
                self._requests[number] = head
                return head
            case int():
                return WireHead(kind="request", name=method, seq=number)
        return WireHead(kind="event", name=method)

    def _answered(self, number: _RequestId) -> WireHead:
        """Return which request a response answers; the client answers one of the server's by the server's number."""
        request = self._requests.get(number)
        if request is None:
            return WireHead(kind="response", name="result", request_seq=number if isinstance(number, int) else None)
        return WireHead(kind="response", name=request.name, request_seq=request.seq)


def _reports_error(result: object) -> bool:
    """Whether the result of a tool's call says that it has failed."""
    return isinstance(result, dict) and result.get("isError") is True


def _content_type(headers: Iterable[tuple[bytes, bytes]]) -> str:
    content_type = next((value for name, value in headers if name.lower() == b"content-type"), b"")
    return content_type.decode("latin-1").partition(";")[0].strip().lower()
