"""Which breakpoints a stop has hit, and whether the program is to stay there.

Adapters report the ids of the breakpoints that were hit, or nothing; then the place
of the stop must do. A stop at breakpoints of which none is to stop the program
is not a stop: their counts and log messages are taken care of, and the program continues.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from dapkit.client import (
    DataLocation,
    FunctionLocation,
    InstructionLocation,
    Location,
    Session,
    SourceLocation,
    Stopped,
)
from dapkit.protocol import StackFrame
from dapkit.sessions.breakpoints.emulation import Evaluate, judge
from dapkit.sessions.breakpoints.kept import KeptBreakpoint

_KINDS: dict[str, tuple[type[Location], ...]] = {
    "breakpoint": (SourceLocation, FunctionLocation),
    "function breakpoint": (FunctionLocation,),
    "data breakpoint": (DataLocation,),
    "instruction breakpoint": (InstructionLocation,),
}
"""Which breakpoints a reason of a stop speaks of."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The breakpoints' effect on a stop.

    Attributes:
        stop: whether the program is to stay.
        hit: the breakpoints that were hit, by number.
        logs: the messages to log.
        remarks: the remarks about the stop.
        changes: the changes of the watched values.
        is_panic: whether nothing was hit but `KeptBreakpoints.panics`.

    """

    stop: bool = True
    hit: tuple[int, ...] = ()
    logs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    is_panic: bool = False


def hit_by(
    breakpoints: Collection[KeptBreakpoint], session: Session, stopped: Stopped, frame: StackFrame | None
) -> list[KeptBreakpoint]:
    """Find the breakpoints that a stop has hit."""
    answers = [(each, answer) for each in breakpoints if (answer := each.reported_by(session)) is not None]
    ids = stopped.event.hit_breakpoint_ids
    kinds = _KINDS.get(stopped.reason, ())
    if ids:
        by_command = [each for each in breakpoints if each.console_id in ids]
        with_ids = [
            (each, response.answer.id) for each, response in answers if response.answer and response.answer.id in ids
        ]
        bearers = Counter(number for _, number in with_ids)  # lldb-dap numbers data breakpoints for themselves
        return by_command + [
            each for each, number in with_ids if bearers[number] == 1 or isinstance(each.spec.location, kinds)
        ]
    candidates = [(each, response) for each, response in answers if isinstance(each.spec.location, kinds)]
    if stopped.reason in ("data breakpoint", "instruction breakpoint"):
        return [candidates[0][0]] if len(candidates) == 1 else []
    return [each for each, response in candidates if frame is not None and _is_there(each, response.line, frame)]


def _is_there(breakpoint_: KeptBreakpoint, line: int | None, frame: StackFrame) -> bool:
    if isinstance(breakpoint_.spec.location, SourceLocation):
        path = None if frame.source is None else frame.source.path
        return line == frame.line and path is not None and _same(Path(path), breakpoint_.spec.location.file)
    # A name may be shown with its module or its arguments.
    return isinstance(breakpoint_.spec.location, FunctionLocation) and breakpoint_.spec.location.name in frame.name


def _same(path: Path, other: Path) -> bool:
    return path == other or path.resolve() == other.resolve()


async def judge_stop(hit: Sequence[KeptBreakpoint], evaluate: Evaluate) -> Verdict:
    """Decide about a stop that has hit these breakpoints; it counts their hits."""
    stop, logs, remarks = not hit, list[str](), list[str]()
    for each in hit:
        judgement = await judge(each.emulated, hits=each.hits, evaluate=evaluate)
        each.hits = judgement.hits
        stop = stop or judgement.stop
        if judgement.log is not None:
            logs.append(judgement.log)
        if judgement.remark is not None:
            remarks.append(f"breakpoint {each.number}: {judgement.remark}")
    return Verdict(stop, tuple(each.number for each in hit), tuple(logs), tuple(remarks))
