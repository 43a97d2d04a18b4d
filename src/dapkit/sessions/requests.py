"""Requests to the adapters of a session, with the session's own reference numbers.

A request goes to the session of the tree that its references belong to; without
any, to the foreground. References of an earlier stop are refused before anything
is sent, since the adapter would take them for other objects. The fields that hold numbers of frames, values and
locations have the same names in all messages of the protocol, so one table gives the meaning of each.
"""

from collections.abc import Callable

import anyio

from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    COMMANDS,
    Arguments,
    DataBreakpointInfoBody,
    EvaluateArguments,
    ProtocolObject,
    SetExpressionArguments,
    SetVariableArguments,
    StackFrame,
    StackTraceArguments,
    Thread,
    changed,
    from_json_value,
    to_json_value,
)
from dapkit.sessions import limits
from dapkit.sessions.breakpoints.collection import KeptBreakpoints
from dapkit.sessions.errors import NoFrame, NoThreads, NotStopped, SessionError
from dapkit.sessions.references import ReferenceKind, ReferenceTable
from dapkit.sessions.state import DebugSessionState
from dapkit.sessions.targets import Target
from dapkit.settings import Settings

type Renumber = Callable[[ReferenceKind, int], int]
"""Returns the other side's number."""

_FIELDS: dict[str, ReferenceKind] = {
    "frame_id": "frame",
    "variables_reference": "variables reference",
    "location_reference": "location",
    "value_location_reference": "location",
    "declaration_location_reference": "location",
}


def references_in(arguments: Arguments[object]) -> list[tuple[ReferenceKind, int]]:
    """List the numbers that a request refers to; 0 stands for nothing."""
    return [
        (_FIELDS[name], number)
        for name in arguments.__struct_fields__
        if name in _FIELDS and (number := getattr(arguments, name))
    ]


def renumbered[T: ProtocolObject](value: T, renumber: Renumber) -> T:
    """Copy a request or a response with all numbers replaced, also inside nested values."""
    changes: dict[str, object] = {}
    for name in value.__struct_fields__:
        field_value: object = getattr(value, name)
        new = _renumbered_field(value, name, field_value, renumber)
        if new is not field_value:
            changes[name] = new
    return changed(value, **changes) if changes else value


def _renumbered_field(value: ProtocolObject, name: str, field_value: object, renumber: Renumber) -> object:
    match field_value:
        case ProtocolObject():
            return renumbered(field_value, renumber)
        case list():
            items = [renumbered(item, renumber) if isinstance(item, ProtocolObject) else item for item in field_value]
            return field_value if all(new is old for new, old in zip(items, field_value, strict=True)) else items
        case int() if field_value and name in _FIELDS:
            return renumber(_FIELDS[name], field_value)
        case int() if name == "id" and isinstance(value, StackFrame):
            return renumber("frame", field_value)
        case _:
            return field_value


_MAY_RUN = (EvaluateArguments, SetVariableArguments, SetExpressionArguments)
"""Requests that may call functions of the program."""


class SessionRequests:
    """Sends requests to the adapters of a session."""

    def __init__(
        self,
        state: DebugSessionState,
        *,
        settings: Settings,
        references: ReferenceTable,
        breakpoints: KeptBreakpoints,
        time_left: Callable[[], float] | None = None,
    ) -> None:
        """Take the parts of the session; `time_left` is how long a request may take that has no deadline of its own."""
        self._state = state
        self._settings = settings
        self._references = references
        self._breakpoints = breakpoints
        self._time_left = time_left or (lambda: settings.request_timeout_seconds)

    def within(self, time_left: Callable[[], float]) -> "SessionRequests":
        """Return the same requests with another time for those that have no deadline of their own."""
        return SessionRequests(
            self._state,
            settings=self._settings,
            references=self._references,
            breakpoints=self._breakpoints,
            time_left=time_left,
        )

    async def ask[B](self, arguments: Arguments[B], *, target: int | None = None, deadline: float | None = None) -> B:
        """Send a request, with the session's own references in it and in the answer.

        Reads may run beside each other, and beside a program that runs.

        Raises:
            SessionOver: the program has ended.
            StaleReference: a reference is from an earlier stop.
            DapkitError: as `client.Session.request`.

        """
        where = self._addressee(arguments, target)
        lifetime, stop = where.lifetime, where.stop
        number = None if stop is None else stop.number
        native = renumbered(arguments, lambda kind, ours: self._references.find(kind, ours).native)
        try:
            body = await where.session.request(native, deadline=self._time_left() if deadline is None else deadline)
        finally:
            if stop is not None and isinstance(arguments, _MAY_RUN):
                await self._until_stopped_again(where)
        if not isinstance(body, ProtocolObject):
            return body
        self._remember(body)
        return renumbered(
            body, lambda kind, theirs: self._references.give(kind, where, theirs, lifetime=lifetime, stop=number)
        )

    async def _until_stopped_again(self, where: Target) -> None:
        """Wait for the stop after a call that the program was resumed for, as far as the adapter reports such calls."""
        with anyio.move_on_after(limits.CALL_STOP_SECONDS):
            await self._state.updates.until(lambda: where.stop is not None or not where.live)

    async def ask_custom(
        self, command: str, arguments: object = None, *, target: int | None = None, deadline: float | None = None
    ) -> object:
        """Send a request by its name, with plain JSON; commands of the protocol take the session's references.

        Raises: as `ask`; InvalidValue: the arguments do not fit the command.
        """
        command_spec = COMMANDS.get(command)
        if command_spec is not None:
            typed: Arguments[object] = from_json_value(command_spec.arguments, arguments or {}, "$.arguments")
            body = await self.ask(typed, target=target, deadline=deadline)
            return None if body is None else to_json_value(body)
        where = self._state.target if target is None else self._state.numbered_target(target)
        return await where.session.request_custom(
            command, arguments, deadline=self._time_left() if deadline is None else deadline
        )

    async def ask_beyond[B](self, arguments: Arguments[B], body: type[B], *, deadline: float | None = None) -> B:
        """Send a request that the specification has not, with the session's own references in it.

        Raises: as `ask`; InvalidValue: the answer is not such a body.
        """
        where = self._addressee(arguments, None)
        native = renumbered(arguments, lambda kind, ours: self._references.find(kind, ours).native)
        answer = await where.session.request_custom(
            arguments.command,
            to_json_value(native),
            deadline=self._time_left() if deadline is None else deadline,
        )
        return from_json_value(body, answer, "$.body")

    async def frame(self, *, number: int | None = None, index: int | None = None, thread: int | None = None) -> int:
        """Choose a frame: by its number, or by its place in a thread's stack (0 is the top); without both, the current.

        Raises:
            StaleReference: the number is from an earlier stop.
            NotStopped: the program runs.
            NoFrame: there is no such frame.

        """
        if number is not None:
            self._references.find("frame", number)
            return number
        stop = self._state.stop
        if stop is None:
            if not self._state.over:
                raise NotStopped("A stack frame")
            raise NoFrame
        current = index is None and thread in (None, stop.thread_id)
        if current and stop.frame_id is not None:
            return stop.frame_id
        if current and stop.thread_id is None:
            raise NoFrame
        thread_number = await self.thread() if thread is None else thread
        request = StackTraceArguments(thread_id=thread_number, start_frame=index or 0, levels=1)
        try:
            frames = (await self.ask(request, target=self._state.target_of_thread(thread_number).number)).stack_frames
        except RequestFailed as refusal:
            if current:
                raise NoFrame from refusal
            raise
        if not frames:
            raise NoFrame
        # An adapter that does not page returns the whole stack.
        return frames[index or 0].id if len(frames) > (index or 0) else frames[0].id

    async def threads(self, *, target: int | None = None) -> list[Thread]:
        """List the threads of the foreground, or of another session of the tree. Raises: as `ask`."""
        where = self._state.target if target is None else self._state.numbered_target(target)
        return (await where.session.threads(deadline=self._settings.request_timeout_seconds)).threads

    async def thread(self, index: int | None = None) -> int:
        """Choose a thread by its place in the list; by default, the thread of the current stop.

        Raises:
            NoThreads: the program has no threads.

        """
        stop = self._state.stop
        if index is None and stop is not None and stop.thread_id is not None:
            return stop.thread_id
        threads = await self.threads()
        if not threads:
            raise NoThreads
        if not 0 <= (index or 0) < len(threads):
            raise SessionError(f"There is no thread with index {index}: the program has {len(threads)} threads.")
        return threads[index or 0].id

    def _remember(self, body: object) -> None:
        match body:
            case DataBreakpointInfoBody(data_id=str(data_id), can_persist=True):
                self._breakpoints.lasting.add(data_id)
            case _:
                pass

    def _addressee(self, arguments: Arguments[object], target: int | None) -> Target:
        targets = {self._references.find(kind, number).target for kind, number in references_in(arguments)}
        if len(targets) > 1:
            raise SessionError("The references in this request belong to different processes of the session.")
        if targets:
            return self._state.numbered_target(targets.pop())
        if target is not None:
            return self._state.numbered_target(target)
        thread = getattr(arguments, "thread_id", None)
        return self._state.target if thread is None else self._state.target_of_thread(thread)
