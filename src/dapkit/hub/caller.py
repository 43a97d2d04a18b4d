"""The hub's end of one caller's connection.

Each call is a task. It ends with its answer, by `{"cancel": id}`, or with the
connection, whatever comes first, and is answered exactly once. A line that is not
a message is refused, and the next one is read. All that is sent goes through one
outbox; while a caller does not read, the hub does not read from it either.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio
from anyio import CancelScope
from anyio.abc import ByteStream, TaskGroup

from dapkit import limits as shared_limits
from dapkit.hub import limits, wire
from dapkit.hub.calls import ReportProgress, ShowPart
from dapkit.hub.errors import CallRefused
from dapkit.transport import StateChange, background_tasks

log = logging.getLogger(__name__)

type Message = Mapping[str, object]

type AnswerCall = Callable[[Message, ReportProgress, ShowPart], Awaitable[dict[str, object]]]
"""Answers one call, or raises CallRefused."""


async def serve_caller(stream: ByteStream, greeting: Message, answer: AnswerCall) -> None:
    """Greet a caller and answer its calls until it disconnects."""
    outbox = _Outbox(stream)
    outbox.put(wire.encode(greeting))
    async with anyio.create_task_group() as sending:
        sending.start_soon(outbox.send_all)
        try:
            async with background_tasks() as tasks:
                await _Calls(outbox, answer, tasks).receive(stream)
        except anyio.get_cancelled_exc_class():
            # Every call that was read is answered by now: a caller without an answer can repeat its call.
            outbox.put(_refusal(None, wire.ENDING, "the hub is about to end", hint="Try again."))
            raise
        finally:
            outbox.close()


class _Calls:
    """The calls of one caller.

    Invariant: each number in `_scopes` has a task that will answer it.
    """

    def __init__(self, outbox: "_Outbox", answer: AnswerCall, tasks: TaskGroup) -> None:
        self._outbox = outbox
        self._answer = answer
        self._tasks = tasks
        self._scopes: dict[int, CancelScope] = {}

    async def receive(self, stream: ByteStream) -> None:
        """Take messages until the connection ends."""
        lines = wire.LineBuffer()
        try:
            async for data in stream:
                for line in lines.feed(data):
                    await self._outbox.has_room()
                    self._take(line)
        except wire.BadLine as error:  # too long: where the next one begins is unknown
            self._outbox.put(_refusal(None, "bad_line", str(error)))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return

    def _take(self, line: bytes | bytearray) -> None:
        try:
            message = wire.decode(line)
        except wire.BadLine as error:
            self._outbox.put(_refusal(None, "bad_line", str(error)))
            return
        match message:
            case {"cancel": int(number)}:
                if number in self._scopes:  # else it is answered already
                    self._scopes[number].cancel()
            case {"id": int(number), "call": str()} if number not in self._scopes:
                if len(self._scopes) >= limits.HUB_CALLS:
                    self._outbox.put(_refusal(number, "too_many_calls", f"{limits.HUB_CALLS} calls are under way"))
                    return
                self._scopes[number] = CancelScope()
                self._tasks.start_soon(self._run, number, message)
            case _:
                text = "expected an object with `call` and an unused number as `id`, or with `cancel`"
                unused = message.get("id")
                self._outbox.put(_refusal(unused if isinstance(unused, int) else None, "bad_line", text))

    async def _run(self, number: int, message: Message) -> None:
        try:
            with self._scopes[number]:
                self._outbox.answer(number, await self._answered(number, message))
        finally:
            del self._scopes[number]

    async def _answered(self, number: int, message: Message) -> bytes:
        """Return the last line about a call."""
        try:
            result = await self._answer(
                message, partial(self._outbox.report, number), partial(self._outbox.show, number)
            )
            return wire.encode({"id": number, "result": result})
        except CallRefused as refusal:
            return _refusal(number, refusal.code, refusal.message, hint=refusal.hint)
        except anyio.get_cancelled_exc_class():
            self._outbox.answer(number, _refusal(number, "cancelled", f"{message['call']} was given up"))
            raise
        except Exception as error:
            log.exception("%s failed", message["call"])
            text = f"{message['call']} failed: {type(error).__name__}: {error}"
            return _refusal(number, "internal", text, hint="dapkit logs shows the details.")


class _Outbox:
    """Lines on their way to a caller.

    Of the reports of one call only the latest waits, and none after its answer. A
    caller that takes nothing for `limits.SEND_SECONDS` is disconnected.
    """

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._lines: deque[bytes] = deque()
        self._reports: dict[int, bytes] = {}
        self._updates = StateChange()
        self._closing = False
        self._closed = False
        self._scope = CancelScope(shield=True)

    def put(self, line: bytes) -> None:
        """Send a line after those that wait."""
        self._lines.append(line)
        self._updates.notify()

    def answer(self, number: int, line: bytes) -> None:
        """Send the last line about a call."""
        self._reports.pop(number, None)
        self.put(line)

    def report(self, number: int, message: str, percentage: float | None) -> None:
        """Send how far a call is."""
        progress = {"message": message, "percentage": percentage}
        self._reports[number] = wire.encode({"id": number, "progress": progress})
        self._updates.notify()

    def show(self, number: int, text: str) -> None:
        """Send a part of the answer to a call."""
        self.put(wire.encode({"id": number, "part": text}))

    def close(self) -> None:
        """Send the waiting data, within `limits.CLOSE_SECONDS`, and no further data."""
        self._closing = True
        self._scope.deadline = anyio.current_time() + shared_limits.CLOSE_SECONDS
        self._updates.notify()

    async def has_room(self) -> None:
        """Wait while too many lines wait."""
        await self._updates.until(lambda: self._closed or len(self._lines) < limits.HUB_CALLS)

    async def send_all(self) -> None:
        """Send lines until closed, then close the stream."""
        with self._scope:
            try:
                while await self._anything():
                    with anyio.fail_after(shared_limits.SEND_SECONDS):
                        await self._stream.send(self._next())
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            except TimeoutError:
                log.warning("a caller took nothing for %g s and was dropped", shared_limits.SEND_SECONDS)
        self._closed = True
        self._updates.notify()
        with CancelScope(shield=True):
            await self._stream.aclose()

    async def _anything(self) -> bool:
        await self._updates.until(lambda: bool(self._lines or self._reports or self._closing))
        return bool(self._lines or self._reports)

    def _next(self) -> bytes:
        if self._reports:
            return self._reports.pop(next(iter(self._reports)))
        line = self._lines.popleft()
        self._updates.notify()
        return line


def _refusal(number: int | None, code: str, text: str, *, hint: str = "") -> bytes:
    return wire.encode({"id": number, "error": {"code": code, "message": text, "hint": hint}})
