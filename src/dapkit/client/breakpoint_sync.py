"""Keeping an adapter up to date with the breakpoints of its session, before and after it starts.

Each change sends all breakpoints of the same file or kind. Before the adapter is
ready for breakpoints a change is only kept; the handshake sends it. An adapter
that cannot set a breakpoint does not make the call fail: the result says
`verified=False` and why, as it may become true later.
"""

import logging
from collections.abc import Iterable

import anyio

from dapkit import limits
from dapkit.client.adapter_connection import AdapterConnection
from dapkit.client.breakpoint_spec import (
    BreakpointSpec,
    DataLocation,
    File,
    FunctionLocation,
    InstructionLocation,
    Location,
    SourceLocation,
    source_location,
    wire_form,
)
from dapkit.client.breakpoints import SessionBreakpoint, SetRequest
from dapkit.client.errors import UnknownBreakpoint, UnknownFilter
from dapkit.client.field_capabilities import check_fields
from dapkit.client.received_state import ReceivedState
from dapkit.endpoint import CapabilityMissing, LocalProtocolError, RequestFailed
from dapkit.endpoint.capability_gates import missing_for_command
from dapkit.protocol import (
    Arguments,
    ConfigurationDoneArguments,
    DapkitError,
    DataBreakpointAccessType,
    ExceptionFilterOptions,
    ExceptionOptions,
    InvalidValue,
    SetExceptionBreakpointsArguments,
)

log = logging.getLogger(__name__)


class BreakpointSync:
    """Sends the breakpoints of one session; the breakpoints of its children follow each change.

    Invariant: once `configured` the adapter has all breakpoints, or a request that
    sets them waits for `_sending`.

    Attributes:
        configured: whether the breakpoints are being sent, or were.

    """

    def __init__(self, state: ReceivedState, adapter: AdapterConnection, *, parent: "BreakpointSync | None") -> None:
        self.configured = False
        self._state = state
        self._adapter = adapter
        self._breakpoints = state.breakpoints
        self._children: list[BreakpointSync] = []
        self._sending = anyio.Lock()
        if parent is not None:
            parent.include(self)

    def include(self, child: "BreakpointSync") -> None:
        """Let a child follow each change from now on."""
        self._children.append(child)

    async def withdraw(self) -> None:
        """Take all breakpoints out of a program that is to keep running without a debugger.

        lldb-dap 22 leaves data breakpoints in a program that it detaches from, which the next write kills.
        """
        if not self.configured:
            return
        async with self._sending:
            specs = [each.spec for each in self._breakpoints]
            for each in self._breakpoints:
                self._breakpoints.remove(each.number)
            requests: list[SetRequest] = []
            for request in map(self._breakpoints.request_with, specs):
                if request not in requests:
                    requests.append(request)
                    await self._set(request)

    # Changes

    async def add_on_line(
        self,
        file: File,
        line: int,
        *,
        column: int | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
        log_message: str | None = None,
        mode: str | None = None,
    ) -> SessionBreakpoint:
        """Stop on a line, or log there without stopping.

        Raises:
            CapabilityMissing: the adapter would ignore a part of the specification.

        """
        spec = BreakpointSpec(
            source_location(file, line, column),
            condition=condition,
            hit_condition=hit_condition,
            log_message=log_message,
            mode=mode,
        )
        return await self.add(spec)

    async def add_on_function(
        self, name: str, *, condition: str | None = None, hit_condition: str | None = None
    ) -> SessionBreakpoint:
        """Stop on entry to a function. Raises: as `add_breakpoint`."""
        location = FunctionLocation(name)
        return await self.add(BreakpointSpec(location, condition=condition, hit_condition=hit_condition))

    async def add_on_data(
        self,
        data_id: str,
        *,
        access_type: DataBreakpointAccessType | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
    ) -> SessionBreakpoint:
        """Stop on access to data; `data_breakpoint_info` returns its id. Raises: as `add_breakpoint`."""
        location = DataLocation(data_id, access_type)
        return await self.add(BreakpointSpec(location, condition=condition, hit_condition=hit_condition))

    async def add_on_instruction(
        self,
        instruction_reference: str,
        *,
        offset: int | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
        mode: str | None = None,
    ) -> SessionBreakpoint:
        """Stop on a machine instruction. Raises: as `add_breakpoint`."""
        location = InstructionLocation(instruction_reference, offset)
        spec = BreakpointSpec(location, condition=condition, hit_condition=hit_condition, mode=mode)
        return await self.add(spec)

    async def add(self, spec: BreakpointSpec, *, number: int | None = None) -> SessionBreakpoint:
        """Set a breakpoint of any kind; under a number of the caller's own, it replaces the present one.

        Raises:
            CapabilityMissing: the adapter would ignore a part of the specification.
            InvalidValue: the protocol cannot express the specification, such as a line by its text.

        """
        self._check(spec)
        added = self._breakpoints.add(spec, number=number)
        await self._send(spec)
        for child in self.descendants():
            await child.follow_addition(added)
        return self._breakpoints.get(added.number) or added

    async def remove(self, number: int) -> None:
        """Remove a breakpoint by its number.

        Raises:
            UnknownBreakpoint: no breakpoint has this number.

        """
        removed = self._breakpoints.remove(number)
        if removed is None:
            raise UnknownBreakpoint(number)
        await self._send(removed.spec)
        for child in self.descendants():
            await child.follow_removal(number)

    async def clear(self, file: File | None = None) -> None:
        """Remove all breakpoints, or all of one file."""
        path = None if file is None else source_location(file).source.path
        for each in self._breakpoints:
            if file is None or (each.source is not None and each.source.path == path):
                await self.remove(each.number)

    async def break_on_exceptions(
        self, *filters: str | ExceptionFilterOptions, options: Iterable[ExceptionOptions] = ()
    ) -> None:
        """Choose the exceptions that stop the program, instead of those chosen before; none for none.

        Until the first call the adapter's own defaults hold. `capabilities.exception_breakpoint_filters`
        lists the choice.

        Raises:
            UnknownFilter: the adapter offers no such filter.
            CapabilityMissing: the adapter knows no conditions or options here.

        """
        request = SetExceptionBreakpointsArguments(
            filters=[choice for choice in filters if isinstance(choice, str)],
            filter_options=[choice for choice in filters if isinstance(choice, ExceptionFilterOptions)] or None,
            exception_options=list(options) or None,
        )
        self._check_filters(request)
        await self.follow_choice(request)
        for child in self.descendants():
            await child.follow_choice(request)

    async def follow_addition(self, added: SessionBreakpoint) -> None:
        """Set a breakpoint of the parent, under the same number."""
        self._breakpoints.add(added.spec, number=added.number)
        await self._send_if_alive(added.spec)

    async def follow_removal(self, number: int) -> None:
        """Remove a breakpoint that the parent removed."""
        removed = self._breakpoints.remove(number)
        if removed is not None:
            await self._send_if_alive(removed.spec)

    async def follow_choice(self, request: SetExceptionBreakpointsArguments) -> None:
        """Stop on the exceptions that were chosen."""
        self._breakpoints.exceptions = request
        if self.configured:
            async with self._sending:
                await self._adapter.request_checked(request)

    def descendants(self) -> "list[BreakpointSync]":
        """List the children, and theirs, whose programs have not ended."""
        everyone = [sync for child in self._children for sync in (child, *child.descendants())]
        return [sync for sync in everyone if not sync.over]

    @property
    def over(self) -> bool:
        """Whether there is no adapter to send anything to any more."""
        return self._state.ended

    # Sending

    async def configure(self) -> None:
        """Send all breakpoints, then the end of the configuration."""
        self.configured = True
        async with self._sending:
            for request in self._breakpoints.configuration(self._adapter.capabilities):
                await self._set(request)
            if self._adapter.capabilities.supports_configuration_done_request:
                await self._adapter.request_checked(ConfigurationDoneArguments())

    async def ask[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Send a request of a caller's own, which replaces breakpoints. Raises: as `Session.request`."""
        async with self._sending:
            take_back = self._breakpoints.note_request(arguments)
            try:
                return await self._adapter.request_checked(arguments, deadline=deadline)
            except (LocalProtocolError, InvalidValue):
                take_back()
                raise

    async def _send(self, spec: BreakpointSpec) -> None:
        """Send the breakpoints of the same file or kind, if the adapter is ready for that."""
        if self.configured:
            async with self._sending:
                await self._set(self._breakpoints.request_with(spec))

    async def _send_if_alive(self, spec: BreakpointSpec) -> None:
        """Send to the adapter of a child, which may end at any moment."""
        try:
            await self._send(spec)
        except DapkitError as error:
            if not self.over:
                raise
            log.info("a child process ended before a breakpoint was sent to its adapter: %s", error)

    async def _set(self, request: SetRequest) -> None:
        try:
            await self._adapter.request_checked(request)
        except (RequestFailed, CapabilityMissing) as refusal:
            log.warning("the adapter refused %s: %s", request.command, refusal)
            self._breakpoints.note_refusal(request, str(refusal))
        except InvalidValue as unreadable:
            if not unreadable.path.startswith("$.body"):
                raise
            # rdbg answers setFunctionBreakpoints without a body
            log.warning("the adapter's answer to %s cannot be read: %s", request.command, unreadable)
            self._breakpoints.note_refusal(request, f"the adapter's answer cannot be read: {unreadable}")

    # Checks

    def _check(self, spec: BreakpointSpec) -> None:
        command = _COMMANDS[type(spec.location)]
        if (missing := missing_for_command(command, self._adapter.capabilities)) is not None:
            raise CapabilityMissing(command, missing, "adapter")
        check_fields(wire_form(spec), self._adapter.capabilities)

    def _check_filters(self, request: SetExceptionBreakpointsArguments) -> None:
        capabilities = self._adapter.capabilities
        offered = {choice.filter: choice for choice in capabilities.exception_breakpoint_filters or []}
        options = request.filter_options or []
        for name in [*request.filters, *(option.filter_id for option in options)]:
            if name not in offered:
                raise UnknownFilter(name, offered)
        check_fields(request, capabilities)
        for option in options:
            if option.condition is not None and not offered[option.filter_id].supports_condition:
                what = f"a condition on exceptions of {option.filter_id}"
                raise CapabilityMissing(what, "supportsCondition", "adapter")


_COMMANDS: dict[type[Location], str] = {
    SourceLocation: "setBreakpoints",
    FunctionLocation: "setFunctionBreakpoints",
    DataLocation: "setDataBreakpoints",
    InstructionLocation: "setInstructionBreakpoints",
}
