"""A peer that speaks raw JSON to an endpoint, so that it can say what no endpoint would."""

import json
from typing import Any

from dapkit.endpoint import Endpoint, Happening, RequestReceived, Role
from dapkit.protocol import Capabilities, FrameDecoder, InitializeRequestArguments, RawJson, encode_frame

CAN_ALL = {
    **{name: True for name in Capabilities.__struct_encode_fields__ if name.startswith("supports")},
    "exceptionBreakpointFilters": [{"filter": "all", "label": "All Exceptions"}],
}
"""Capabilities of an adapter that can do everything, in JSON."""

CLIENT_CAN_ALL = InitializeRequestArguments(
    adapter_id="mock",
    supports_run_in_terminal_request=True,
    supports_start_debugging_request=True,
    supports_invalidated_event=True,
    supports_memory_event=True,
    supports_progress_reporting=True,
)
"""A client that understands everything."""


class RawPeer:
    """The other end of `endpoint`, without any rules."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.seq = 0
        self._frames = FrameDecoder()

    def say(self, **message: object) -> list[Happening]:
        """Send a message with the next seq, unless it has one."""
        self.seq += 1
        return self.say_bytes(json.dumps({"seq": self.seq, **message}).encode())

    def say_bytes(self, payload: bytes) -> list[Happening]:
        """Send one framed payload."""
        return self.endpoint.receive(encode_frame(payload))

    def ask(self, command: str, arguments: object = None, **fields: object) -> list[Happening]:
        """Send a request."""
        content = {} if arguments is None else {"arguments": arguments}
        return self.say(type="request", command=command, **content, **fields)

    def tell(self, event: str, body: object = None, **fields: object) -> list[Happening]:
        """Send an event."""
        content = {} if body is None else {"body": body}
        return self.say(type="event", event=event, **content, **fields)

    def answer(self, request_seq: int, command: str, body: object = None, **fields: object) -> list[Happening]:
        """Send a response, a successful one unless said otherwise."""
        content = {} if body is None else {"body": body}
        message = {"success": True, "request_seq": request_seq, "command": command, **content, **fields}
        return self.say(type="response", **message)

    def hear(self) -> list[dict[str, Any]]:
        """Return what the endpoint has said since the last time."""
        messages: list[dict[str, Any]] = []
        while data := self.endpoint.bytes_to_send():
            messages += [json.loads(payload) for payload in self._frames.feed(data)]
        return messages


def raw_client(**arguments: object) -> RawPeer:
    """Make a raw client of an adapter that can do everything, initialize done."""
    peer = RawPeer(Endpoint(Role.ADAPTER))
    introduce(peer, **arguments)
    return peer


def raw_adapter(client: InitializeRequestArguments = CLIENT_CAN_ALL) -> RawPeer:
    """Make a raw adapter that can do everything, initialize done."""
    peer = RawPeer(Endpoint(Role.CLIENT))
    peer.endpoint.request(client)
    peer.hear()
    peer.answer(1, "initialize", CAN_ALL)
    return peer


def introduce(peer: RawPeer, **arguments: object) -> None:
    """Play initialize against an adapter that can do everything."""
    [asked] = peer.ask("initialize", {"adapterID": "mock", **arguments})
    assert isinstance(asked, RequestReceived)
    peer.endpoint.respond(asked.request, RawJson(json.dumps(CAN_ALL).encode()))
    peer.hear()
