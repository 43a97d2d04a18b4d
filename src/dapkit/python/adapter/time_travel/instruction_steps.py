"""Steps by instruction in a replay process, which the client never sees.

The clock counts lines. The instruction before a moment is found from the line before it: a process that stands there
steps forwards until it comes to that moment, and another one goes as far but for one step.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple

from dapkit.adapter import RequestFailed
from dapkit.endpoint import EventReceived
from dapkit.protocol import RawJson, StackTraceArguments, StepInArguments, StoppedEvent, decode_as
from dapkit.python import limits
from dapkit.python.adapter.engine.debuggee import Debuggee
from dapkit.python.adapter.time_travel.checkpoints import UNEXPECTED
from dapkit.python.adapter.time_travel.replay_messages import (
    HISTORY_ENDS_EVENT,
    STANDS_EVENT,
    HistoryEnded,
    StopPosition,
)
from dapkit.transport import Connection


class InstructionPlace(NamedTuple):
    """Where an instruction is executed: so many steps by instruction from where the line of a clock begins."""

    clock: int
    steps: int


async def address_of(link: Connection, thread: int) -> str:
    """Return where the newest frame of a thread is, as its `instructionPointerReference`.

    Raises:
        RequestFailed: the thread has no such instruction.

    """
    frames = (await link.request(StackTraceArguments(thread_id=thread, levels=1))).stack_frames
    if not frames:
        raise RequestFailed(f"stepBack: thread {thread} has no frame")
    return frames[0].instruction_pointer_reference or ""


async def steps_before(link: Connection, clock: int, address: str) -> int | None:
    """Return after how many steps from where it stands a process is one step before a moment; None if it is never.

    Raises:
        RequestFailed: these are too many, or the process has ended.

    """
    steps = 0
    async for stands, stopped in _stops(link):
        if stopped is None:  # the history ends where that moment's line begins
            return steps - 1 if steps else None
        thread = stopped.thread_id or 1
        if stands > clock:
            return None
        if stands == clock and await address_of(link, thread) == address:
            return steps - 1 if steps else None
        if steps == limits.INSTRUCTION_STEPS:
            raise RequestFailed(f"stepBack: there are more than {steps:,} instructions in the line before")
        steps += 1
        await link.request(StepInArguments(thread_id=thread, granularity="instruction"))
    raise RequestFailed(UNEXPECTED)


async def go_forwards(debuggee: Debuggee, steps: int) -> None:
    """Take steps from where a process stands; the stop after the last is still to be read then.

    Raises:
        RequestFailed: it has ended before.

    """
    stops = _stops(debuggee.link)
    for _ in range(steps):
        _, stopped = await anext(stops, (0, None))
        if stopped is None:
            raise RequestFailed(UNEXPECTED)
        debuggee.order.pass_on()
        await debuggee.link.request(StepInArguments(thread_id=stopped.thread_id or 1, granularity="instruction"))


async def _stops(link: Connection) -> AsyncIterator[tuple[int, StoppedEvent | None]]:
    """Yield each stop with its clock, and None where the history ends."""
    clock = 0
    async for happening in link.incoming():
        match happening:
            case EventReceived(event) if event.event == STANDS_EVENT and isinstance(event.body, RawJson):
                clock = decode_as(StopPosition, event.body).clock
            case EventReceived(event) if event.event == HISTORY_ENDS_EVENT and isinstance(event.body, RawJson):
                how = decode_as(HistoryEnded, event.body).how
                if not how.startswith("end"):
                    raise RequestFailed(f"time travel: the program went another way: {how}")
                yield clock, None
                return
            case EventReceived(event) if isinstance(event.body, StoppedEvent):
                yield clock, event.body
