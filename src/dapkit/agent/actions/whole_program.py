"""Parts of actions that see a program through: its start and end, and a breakpoint of the action itself."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from dapkit.agent.actions.launch import launch
from dapkit.agent.breakpoint_forms.source_files import with_files
from dapkit.agent.breakpoint_forms.specs import check_condition, specs_of
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.results.session import Started
from dapkit.client import FunctionLocation
from dapkit.protocol import DapkitError
from dapkit.sessions.breakpoints.kept import KeptBreakpoint
from dapkit.sessions.errors import SessionOver


@asynccontextmanager
async def started(
    call: ActionCall,
    target: p.ProgramToRun,
    *,
    breakpoints: Sequence[str | dict[str, object]] = (),
    exceptions: Sequence[str] | None = None,
    time_travel: bool = False,
) -> AsyncGenerator[Started]:
    """Launch a program that does not stop at its entry, and end it when the block is left. Raises: as `launch`."""
    python, options = target.get("python"), target.get("options")
    launch_options = options if python is None else {"python": python, **(options or {})}
    try:
        yield await launch(
            call,
            program=target.get("program"),
            args=target.get("args"),
            module=target.get("module"),
            test=target.get("test"),
            adapter=target.get("adapter"),
            cwd=target.get("cwd"),
            env=target.get("env"),
            stdin_file=target.get("stdin_file"),
            source_map=target.get("source_map"),
            breakpoints=[*breakpoints],
            exceptions=None if exceptions is None else [*exceptions],
            options=launch_options,
            stop_on_entry=False,
            time_travel=time_travel,
        )
    finally:
        if call.used is not None:
            call.remembered.is_whole_run = True
            with anyio.CancelScope(shield=True):
                await call.used.terminate()


@asynccontextmanager
async def released(call: ActionCall) -> AsyncGenerator[None]:
    """Let go of the process or the core file of the session when the block is left, whatever happens in it."""
    try:
        yield
    finally:
        call.remembered.is_whole_run = True
        with anyio.CancelScope(shield=True), suppress(DapkitError):
            await (call.session.terminate() if call.session.state.over else call.session.detach())


@asynccontextmanager
async def breakpoint_set(
    call: ActionCall, item: dict[str, object], folders: Sequence[Path]
) -> AsyncGenerator[KeptBreakpoint]:
    """Set a breakpoint in the session; when the block is left, the one that was there before is put back.

    Raises:
        SessionOver, Unsupported: it cannot be set.
        InvalidArguments, DapkitError: as `set_breakpoint`.

    """
    session = call.session
    if session.state.over:
        raise SessionOver(session.name, session.state.ending)
    [spec] = await with_files(call, specs_of([item], folders=[*folders, session.cwd]))
    if isinstance(spec.location, FunctionLocation):
        call.require("supports_function_breakpoints", "function breakpoints")
    check_condition(spec.condition, session.traits)
    present = session.breakpoints.at(spec.location)
    before = None if present is None else present.spec
    own = await session.breakpoints.set(spec)
    try:
        yield own
    finally:
        with anyio.CancelScope(shield=True), suppress(DapkitError):
            await (session.breakpoints.remove(own.number) if before is None else session.breakpoints.set(before))


def starts_program(target: p.ProgramToRun) -> bool:
    """Whether an action is about a program that it starts, and not about the program of the session."""
    return any(target.get(name) is not None for name in ("program", "module", "test"))
