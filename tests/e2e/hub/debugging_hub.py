"""A hub that debugs: as few calls on real sessions as it takes to see what becomes of them.

python debugging_hub.py
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from dapkit.client import BreakpointSpec, SourceLocation
from dapkit.client.routes import Spawned
from dapkit.hub.calls import HubCall
from dapkit.hub.daemon import run
from dapkit.hub.errors import CallRefused
from dapkit.protocol import DapkitError, EvaluateArguments
from dapkit.sessions.registry import SessionRegistry
from dapkit.sessions.session import DebugSession
from dapkit.sessions.start_spec import StartSpec
from dapkit.sessions.stops import Outcome
from dapkit.settings import Settings


class Debugging:
    """Calls on sessions."""

    def __init__(self, sessions: SessionRegistry) -> None:
        self._sessions = sessions

    def busy(self) -> bool:
        return bool(self._sessions.live)

    async def handle(self, call: HubCall) -> dict[str, object]:
        try:
            if call.name == "status":
                return {"pid": os.getpid(), "sessions": [one.name for one in self._sessions.live]}
            if call.name == "launch":
                return told(await self._launch(call))
            session = self._sessions.find(call.project, call.session)
            with session.in_use():
                return await on_session(session, call)
        except DapkitError as error:
            raise CallRefused("failed", f"{type(error).__name__}: {error}") from error

    async def _launch(self, call: HubCall) -> DebugSession:
        match call.arguments:
            case {"adapter": list(command), "program": str(program), "source": str(source), "lines": list(lines)}:
                start = StartSpec(
                    adapter=str(command[0]),
                    route=Spawned([str(word) for word in command], env=call.env),
                    request="launch",
                    configuration={"program": program, "cwd": str(call.project)},
                    cwd=call.project,
                    breakpoints=[BreakpointSpec(SourceLocation(Path(source), int(line))) for line in lines],
                    exceptions=(),
                )
                return await self._sessions.open(call.project, start, name=call.session)
        raise CallRefused("failed", f"what is this: {call.arguments}")


async def on_session(session: DebugSession, call: HubCall) -> dict[str, object]:
    match call.name, call.arguments:
        case "wait", {"timeout": int() | float() as seconds}:
            return told(session, await session.execution.wait(deadline=seconds))
        case "continue", {"timeout": int() | float() as seconds}:
            call.report("running", None)
            return told(session, await session.execution.resume(deadline=seconds))
        case "evaluate", {"expression": str(expression)}:
            arguments = EvaluateArguments(
                expression=expression, frame_id=await session.requests.frame(), context="watch"
            )
            return {"result": (await session.requests.ask(arguments)).result}
        case "output", _:
            text = session.output.read("stdout")
            return {"text": text.text, "end": text.end, "complete": text.complete}
        case "terminate", _:
            await session.terminate()
    return told(session)


def told(session: DebugSession, outcome: Outcome | None = None) -> dict[str, object]:
    stop = session.state.stop
    return {
        "name": session.name,
        "status": session.state.status,
        "line": None if stop is None else stop.line,
        "number": None if stop is None else stop.number,
        "timed_out": outcome is not None and outcome.timed_out,
        "ending": session.state.ending,
    }


@asynccontextmanager
async def debugging(settings: Settings) -> AsyncIterator[Debugging]:
    async with SessionRegistry(settings) as sessions:
        yield Debugging(sessions)


if __name__ == "__main__":
    run(debugging)
