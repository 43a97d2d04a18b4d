"""A program that one action starts and sees to its end."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio

from dapkit.agent.actions.launch import launch
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.results.session import Started


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
            with anyio.CancelScope(shield=True):
                await call.used.terminate()
