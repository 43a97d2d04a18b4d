"""The connection to the engine inside one member: requests, their responses, and the stops of its threads.

A job has thousands of these, so it is a protocol of asyncio and no more: no task, no stream, and of a message only the
parts that a job needs. Everything else about a member is asked by an ordinary session (`DebuggedJob.let_go_for`).
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dapkit.cluster import limits
from dapkit.cluster.errors import JobError
from dapkit.protocol import (
    AnyMessage,
    ContinuedEvent,
    Event,
    FrameDecoder,
    OutputEvent,
    ProtocolError,
    RawJson,
    Response,
    StoppedEvent,
    decode,
    decode_as,
    encode_frame,
    encode_value,
)
from dapkit.system.this_system import SYSTEM

_NOTHING: Final = RawJson(b"null")

type Arguments = Mapping[str, object]

_TAKEN_CHARACTERS: Final = 64 * 1024
"""Output of log messages after which the engine gets room for more."""


class MemberSilent(JobError):  # noqa: N818 - the sentence reads right where it is raised
    """A member does not answer, or its connection has ended."""


@dataclass(eq=False)
class MemberLink(asyncio.Protocol):
    """The connection to one member.

    Attributes:
        on_change: is called when a thread has stopped, or the connection has ended.
        stops: the threads that are stopped, with their events.
        ended: why the connection has ended; empty while it has not.

    """

    on_change: Callable[[], None]
    stops: dict[int, StoppedEvent] = field(default_factory=dict)
    ended: str = ""
    _transport: asyncio.Transport | None = None
    _decoder: FrameDecoder = field(default_factory=FrameDecoder)
    _pending: dict[int, asyncio.Future[RawJson]] = field(default_factory=dict)
    _seq: int = 0
    _output: int = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, if the other end belongs to our user: it could have us run programs else."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - of a stream, as asyncio has it
        self._transport = transport
        user = SYSTEM.peer_of(transport.get_extra_info("socket"))[1]
        if user not in {0, os.geteuid()}:
            self._end(f"user {user} is at the other end, expected user {os.geteuid()}")
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Take messages; a member that sends anything else is given up."""
        try:
            for payload in self._decoder.feed(data):
                self._take(decode(payload))
        except ProtocolError as error:
            self._end(f"it has sent something that is not a message: {error}")
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio has it
        """Fail the requests that wait."""
        self._end("its program has ended, or the connection with it was lost")

    def close(self) -> None:
        """End the connection: the engine lets a program go that was attached to."""
        if self._transport is not None:
            self._transport.close()

    def send(self, command: str, arguments: Arguments | None = None) -> asyncio.Future[RawJson]:
        """Send a request; the future has the body of its response."""
        response: asyncio.Future[RawJson] = asyncio.get_running_loop().create_future()
        if self._transport is None or self.ended:
            response.set_exception(MemberSilent(self.ended or "it is not connected"))
            return response
        self._seq += 1
        self._pending[self._seq] = response
        message: dict[str, Any] = {"seq": self._seq, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        self._transport.write(encode_frame(encode_value(message)))
        return response

    async def ask(self, command: str, arguments: Arguments | None = None) -> RawJson:
        """Send a request, and return the body of its response.

        Raises:
            MemberSilent: there is no response in time, or none will come.
            JobError: the engine refuses it; the text says why.

        """
        response = self.send(command, arguments)
        try:
            return await asyncio.wait_for(response, limits.MEMBER_SECONDS)
        except TimeoutError:
            raise MemberSilent(f"it did not answer {command} within {limits.MEMBER_SECONDS:g} s") from None

    def forget_stop(self, thread_id: int) -> None:
        """Take a thread as running: it continues."""
        self.stops.pop(thread_id, None)

    def _take(self, message: AnyMessage) -> None:
        match message:
            case Response(request_seq=seq):
                response = self._pending.pop(seq, None)
                if response is not None and not response.done():
                    if message.success:
                        response.set_result(_raw(message.body))
                    else:
                        response.set_exception(JobError(message.message or "the engine gives no reason"))
            case Event(event="stopped"):
                stop = decode_as(StoppedEvent, _raw(message.body))
                self.stops[stop.thread_id or 0] = stop
                self.on_change()
            case Event(event="continued"):
                continued = decode_as(ContinuedEvent, _raw(message.body))
                if continued.all_threads_continued:
                    self.stops.clear()
                else:
                    self.stops.pop(continued.thread_id, None)
            case Event(event="output"):
                self._count(decode_as(OutputEvent, _raw(message.body)).output)
            case _:
                pass  # the end of the connection says the rest

    def _count(self, text: str) -> None:
        """Report that output has been taken: it waits, and the program with it, if too much has not."""
        self._output += len(text)
        if self._output >= _TAKEN_CHARACTERS:
            self.send("dapkit/outputTaken", {"characters": self._output}).add_done_callback(_passed)
            self._output = 0

    def _end(self, reason: str) -> None:
        if self.ended:
            return
        self.ended = reason
        self.stops.clear()
        for response in self._pending.values():
            if not response.done():
                response.set_exception(MemberSilent(reason))
                response.add_done_callback(_passed)
        self._pending.clear()
        self.on_change()


def _raw(body: object) -> RawJson:
    return body if isinstance(body, RawJson) else _NOTHING


def _passed(response: asyncio.Future[RawJson]) -> None:
    """Take a failure as known."""
    if not response.cancelled():
        response.exception()
