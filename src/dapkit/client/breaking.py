"""Setting breakpoints on a session, before and after it starts.

Each method takes one wish and tells the adapter the whole truth of its file or
kind. Before the adapter is ready for breakpoints the wish is only kept; the
handshake sends it. An adapter that cannot set a breakpoint does not make the call
fail: the result says `verified=False` and why, as it may become true later.
"""

import logging
import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio

from dapkit import limits
from dapkit.client.breakpoints import Breakpoints, SessionBreakpoint, SetRequest, Wanted
from dapkit.client.errors import UnknownBreakpoint, UnknownFilter
from dapkit.client.fields import check_fields
from dapkit.client.requests import Requests
from dapkit.endpoint import CapabilityMissing, RequestFailed
from dapkit.endpoint.gates import missing_for_command
from dapkit.protocol import (
    Arguments,
    Capabilities,
    ConfigurationDoneArguments,
    DapkitError,
    DataBreakpoint,
    DataBreakpointAccessType,
    ExceptionFilterOptions,
    ExceptionOptions,
    FunctionBreakpoint,
    InstructionBreakpoint,
    InvalidValue,
    SetExceptionBreakpointsArguments,
    Source,
    SourceBreakpoint,
)

log = logging.getLogger(__name__)

type File = str | os.PathLike[str] | Source
"""A file by path, taken relative to the working directory, or as the adapter named it."""


class Breaking(Requests):
    """The part of a session that sets breakpoints.

    Invariant: once `_configured` the adapter knows all wishes, or a request that
    tells it waits for `_setting`.
    """

    def __init__(self, wishes: Breakpoints | None) -> None:
        self._wishes = Breakpoints() if wishes is None else wishes
        self._configured = False
        self._setting = anyio.Lock()

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the adapter announced that it can do, by its `initialize` response and `capabilities` events."""

    @property
    @abstractmethod
    def children(self) -> Sequence["Breaking"]:
        """Sessions of child processes."""

    @property
    @abstractmethod
    def _over(self) -> bool:
        """Whether there is nobody to tell any more."""

    @property
    def breakpoints(self) -> tuple[SessionBreakpoint, ...]:
        """All breakpoints as they stand now, in the order in which they were added."""
        return tuple(self._wishes)

    def breakpoints_for_another(self) -> Breakpoints:
        """Copy what is wanted, for a session that debugs the program once more.

        Data and instruction breakpoints stay behind: their addresses mean nothing in another process.
        """
        return self._wishes.for_another()

    async def add_breakpoint(
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
            CapabilityMissing: the adapter would ignore what was asked for.

        """
        wanted = SourceBreakpoint(
            line=line,
            column=column,
            condition=condition,
            hit_condition=hit_condition,
            log_message=log_message,
            mode=mode,
        )
        return await self._add(wanted, _source(file))

    async def add_function_breakpoint(
        self, name: str, *, condition: str | None = None, hit_condition: str | None = None
    ) -> SessionBreakpoint:
        """Stop on entry to a function. Raises: as `add_breakpoint`."""
        return await self._add(FunctionBreakpoint(name=name, condition=condition, hit_condition=hit_condition))

    async def add_data_breakpoint(
        self,
        data_id: str,
        *,
        access_type: DataBreakpointAccessType | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
    ) -> SessionBreakpoint:
        """Stop on access to data; `data_breakpoint_info` tells its id. Raises: as `add_breakpoint`."""
        return await self._add(
            DataBreakpoint(data_id=data_id, access_type=access_type, condition=condition, hit_condition=hit_condition)
        )

    async def add_instruction_breakpoint(
        self,
        instruction_reference: str,
        *,
        offset: int | None = None,
        condition: str | None = None,
        hit_condition: str | None = None,
        mode: str | None = None,
    ) -> SessionBreakpoint:
        """Stop on a machine instruction. Raises: as `add_breakpoint`."""
        wanted = InstructionBreakpoint(
            instruction_reference=instruction_reference,
            offset=offset,
            condition=condition,
            hit_condition=hit_condition,
            mode=mode,
        )
        return await self._add(wanted)

    async def remove_breakpoint(self, number: int) -> None:
        """Remove a breakpoint by its number.

        Raises:
            UnknownBreakpoint: there is none of this number.

        """
        known = self._wishes.remove(number)
        if known is None:
            raise UnknownBreakpoint(number)
        await self._tell(known)
        for other in self._descendants():
            if other._wishes.remove(number) is not None:  # noqa: SLF001 - a session of the same tree
                await other._tell_if_alive(known)  # noqa: SLF001 - as above

    async def clear_breakpoints(self, file: File | None = None) -> None:
        """Remove all breakpoints, or those of one file."""
        for known in self.breakpoints:
            if file is None or (known.source is not None and known.source.path == _source(file).path):
                await self.remove_breakpoint(known.number)

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
        chosen = SetExceptionBreakpointsArguments(
            filters=[one for one in filters if isinstance(one, str)],
            filter_options=[one for one in filters if isinstance(one, ExceptionFilterOptions)] or None,
            exception_options=list(options) or None,
        )
        self._check_filters(chosen)
        self._wishes.exceptions = chosen
        for session in (self, *self._descendants()):
            session._wishes.exceptions = chosen  # noqa: SLF001 - a session of the same tree
            if session._configured:  # noqa: SLF001 - as above
                async with session._setting:  # noqa: SLF001 - as above
                    await session._ask(chosen)  # noqa: SLF001 - as above

    # What the session does with it

    @abstractmethod
    async def _ask[B](self, arguments: Arguments[B], *, deadline: float = limits.REQUEST_SECONDS) -> B:
        """Send a request without taking note of the breakpoints in it."""

    async def _configure(self) -> None:
        """Send all wishes, then the end of the configuration."""
        self._configured = True
        async with self._setting:
            for request in self._wishes.configuration(self.capabilities):
                await self._set(request)
            if self.capabilities.supports_configuration_done_request:
                await self._ask(ConfigurationDoneArguments())

    async def _add(self, wanted: Wanted, source: Source | None = None) -> SessionBreakpoint:
        self._check(wanted)
        known = self._wishes.add(wanted, source)
        await self._tell(known)
        for other in self._descendants():
            other._wishes.adopt(known)  # noqa: SLF001 - a session of the same tree
            await other._tell_if_alive(known)  # noqa: SLF001 - as above
        return self._wishes.get(known.number) or known

    def _descendants(self) -> list["Breaking"]:
        """List the sessions of all child processes, and of theirs, that live."""
        everybody = [one for child in self.children for one in (child, *child._descendants())]  # noqa: SLF001 - a session of the same tree
        return [one for one in everybody if not one._over]  # noqa: SLF001 - as above

    async def _tell_if_alive(self, known: SessionBreakpoint) -> None:
        """Tell the adapter of a child, which may end at any moment."""
        try:
            await self._tell(known)
        except DapkitError as error:
            if not self._over:
                raise
            log.info("a child process ended before it was told of a breakpoint: %s", error)

    async def _tell(self, known: SessionBreakpoint) -> None:
        """Tell the adapter about the file or kind of a breakpoint, if it is ready for that."""
        if self._configured:
            async with self._setting:
                await self._set(self._wishes.request_with(known))

    async def _set(self, request: SetRequest) -> None:
        try:
            await self._ask(request)
        except (RequestFailed, CapabilityMissing) as refusal:
            log.warning("the adapter refused %s: %s", request.command, refusal)
            self._wishes.refused(request, str(refusal))
        except InvalidValue as unreadable:
            if not unreadable.path.startswith("$.body"):
                raise
            # rdbg answers setFunctionBreakpoints without a body
            log.warning("the adapter's answer to %s cannot be read: %s", request.command, unreadable)
            self._wishes.refused(request, f"the adapter's answer cannot be read: {unreadable}")

    def _check(self, wanted: Wanted) -> None:
        command = _COMMANDS[type(wanted)]
        if (missing := missing_for_command(command, self.capabilities)) is not None:
            raise CapabilityMissing(command, missing, "adapter")
        check_fields(wanted, self.capabilities)

    def _check_filters(self, chosen: SetExceptionBreakpointsArguments) -> None:
        offered = {one.filter: one for one in self.capabilities.exception_breakpoint_filters or []}
        options = chosen.filter_options or []
        for name in [*chosen.filters, *(one.filter_id for one in options)]:
            if name not in offered:
                raise UnknownFilter(name, offered)
        check_fields(chosen, self.capabilities)
        for one in options:
            if one.condition is not None and not offered[one.filter_id].supports_condition:
                raise CapabilityMissing(f"a condition on exceptions of {one.filter_id}", "supportsCondition", "adapter")


_COMMANDS: dict[type[Wanted], str] = {
    SourceBreakpoint: "setBreakpoints",
    FunctionBreakpoint: "setFunctionBreakpoints",
    DataBreakpoint: "setDataBreakpoints",
    InstructionBreakpoint: "setInstructionBreakpoints",
}


def _source(file: File) -> Source:
    if isinstance(file, Source):
        return file
    path = Path(file).absolute()
    return Source(path=str(path), name=path.name)
