"""Run a program under a debug adapter, as an editor would, in one of the modes."""

import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from dapkit.client import Ended, Running, Session, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import DapkitError
from dapkit.transport import DeadlineExceeded
from transparency.modes import Nothing
from transparency.outcomes import Run, read_records
from transparency.plain import ENVIRONMENT, files_of_run
from transparency.subjects import Subject

LIMIT_SECONDS = 300.0
"""How long a program may take in addition to four times what it takes without a debugger."""
STOPS_SECONDS = 30.0
"""How long it is stopped, in addition to twice what it takes without a debugger; it runs to its end then."""
SLICE_SECONDS = 1.0


@dataclass(frozen=True)
class Debugger:
    """What is measured.

    Attributes:
        name: for tables and files.
        command: starts the adapter.
        logs: whether it takes `--log FILE`.

    """

    name: str
    command: tuple[str, ...]
    logs: bool


OURS = Debugger("dapkit", (sys.executable, "-m", "dapkit.python"), logs=True)
DEBUGPY = Debugger("debugpy", (sys.executable, "-m", "debugpy.adapter"), logs=False)


@dataclass
class Watch:
    """What is seen of a program that is debugged."""

    end: Ended | None = None
    stops: int = 0
    remarks: list[str] | None = None


async def run(
    debugger: Debugger,
    mode: type[Nothing],
    subject: Subject,
    folder: Path,
    names: Sequence[str],
    *,
    thorough: bool,
    seconds: float = 0,
    plain_seconds: float = 0,
) -> Run:
    """Run the named tests; `folder` is new, and for this run alone."""
    outcomes, named, place = files_of_run(subject, folder, names)
    log = folder / "adapter.log"
    command = [*debugger.command, *(["--log", str(log)] if debugger.logs else [])]
    chance = random.Random(f"{subject.name} {mode.__name__}")  # noqa: S311 - no secret
    client = mode(subject, names, chance, thorough=thorough)
    configuration: dict[str, object] = {
        "program": str(subject.program),
        "args": subject.command(outcomes, named, seconds),
        "cwd": str(place),
        "python": [subject.python],
        "console": "internalConsole",
        "justMyCode": False,
        "subProcess": mode.children,
        **mode.configuration,
    }
    if debugger is DEBUGPY:
        configuration["redirectOutput"] = True
    elif mode is not Nothing:
        configuration["rules"] = [{"path": str(subject.library), "include": True}]
    watch, remarks, hung = Watch(), [], False
    begun = time.monotonic()
    try:
        async with Session.spawn(command, cwd=place, env=ENVIRONMENT, adapter_id="python") as session:
            try:
                limit = LIMIT_SECONDS + seconds + 4 * plain_seconds
                late = STOPS_SECONDS + seconds / 2 + 2 * plain_seconds
                with anyio.fail_after(limit):
                    await client.prepare(session)
                    await session.launch(configuration)
                    await _drive(session, client, watch, late=anyio.current_time() + late)
            except (TimeoutError, DeadlineExceeded) as error:
                hung = True
                remarks += [str(error), await stacks(session)]
            output = session.output.read().text
    except DapkitError as error:
        output = ""
        remarks.append(f"{type(error).__name__}: {error}")
    records = read_records(outcomes)
    if not records.done:
        remarks.append(output[-2000:])
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Run(
        records.outcomes,
        hung=hung,
        begun=records.begun,
        done=records.done,
        exit_code=None if watch.end is None else watch.end.exit_code,
        seconds=time.monotonic() - begun,
        stops=watch.stops,
        remarks=tuple(remarks),
        jumps=client.jumps,
        refused=client.refused,
        refusals=tuple(client.refusals),
        errors=text[text.find("Traceback") :][:4000] if "Traceback" in text else "",
    )


async def _drive(session: Session, client: Nothing, watch: Watch, *, late: float) -> None:
    """Do at each stop what the mode does, until the program ends."""
    thread_id = 0
    while True:
        client.is_late = anyio.current_time() > late
        match await session.settled(deadline=client.pause_seconds or SLICE_SECONDS):
            case Ended() as end:
                watch.end = end
                return
            case Stopped() as stop:
                watch.stops += 1
                thread_id = stop.thread_id
                async with _until_it_ends(session):
                    await client.stopped(session, stop)
            case Running() if client.pause_seconds is not None and not client.is_late:
                async with _until_it_ends(session):
                    known = [thread.id for thread in (await session.threads()).threads]
                    with suppress(RequestFailed):  # the thread has ended since
                        await session.pause(thread_id if thread_id in known or not known else known[0])
            case _:
                pass


@asynccontextmanager
async def _until_it_ends(session: Session) -> AsyncIterator[None]:
    """Let requests fail that the program does not live long enough for."""
    try:
        yield
    except DapkitError:
        if not isinstance(await session.settled(deadline=SLICE_SECONDS), Ended):
            raise


async def stacks(session: Session) -> str:
    """Return where the threads of a program are that hangs, as far as the adapter says."""
    lines: list[str] = []
    try:
        for thread in (await session.threads(deadline=5)).threads[:8]:
            lines.append(thread.name)
            frames = (await session.stack_trace(thread.id, levels=12, deadline=5)).stack_frames
            lines += [f"    {frame.source and frame.source.path}:{frame.line} {frame.name}" for frame in frames]
    except DapkitError as error:
        lines.append(f"    {type(error).__name__}: {error}")
    return "\n".join(["it hung:", *lines])
