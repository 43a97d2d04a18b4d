"""Which breakpoints a stop has hit, and whether the program is to stay there.

Adapters report the ids of the breakpoints that were hit, or nothing; then the place
of the stop has to do. A stop at breakpoints of which none is to stop the program
is not a stop: their counts and log messages are taken care of, and the program goes on.
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

    """

    stop: bool = True
    hit: tuple[int, ...] = ()
    logs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def hit_by(
    breakpoints: Collection[KeptBreakpoint], session: Session, stopped: Stopped, frame: StackFrame | None
) -> list[KeptBreakpoint]:
    """Find the breakpoints that a stop has hit."""
    answers = [(kept, answer) for kept in breakpoints if (answer := kept.reported_by(session)) is not None]
    ids = stopped.event.hit_breakpoint_ids
    kinds = _KINDS.get(stopped.reason, ())
    if ids:
        by_command = [kept for kept in breakpoints if kept.console_id in ids]
        named = [(kept, known.answer.id) for kept, known in answers if known.answer and known.answer.id in ids]
        bearers = Counter(number for _, number in named)  # lldb-dap numbers data breakpoints for themselves
        return by_command + [
            kept for kept, number in named if bearers[number] == 1 or isinstance(kept.spec.location, kinds)
        ]
    candidates = [(kept, known) for kept, known in answers if isinstance(kept.spec.location, kinds)]
    if stopped.reason in ("data breakpoint", "instruction breakpoint"):
        return [candidates[0][0]] if len(candidates) == 1 else []
    return [kept for kept, known in candidates if frame is not None and _is_there(kept, known.line, frame)]


def _is_there(kept: KeptBreakpoint, line: int | None, frame: StackFrame) -> bool:
    if isinstance(kept.spec.location, SourceLocation):
        path = None if frame.source is None else frame.source.path
        return line == frame.line and path is not None and _same(Path(path), kept.spec.location.file)
    # A name may be shown with its module or its arguments.
    return isinstance(kept.spec.location, FunctionLocation) and kept.spec.location.name in frame.name


def _same(path: Path, other: Path) -> bool:
    return path == other or path.resolve() == other.resolve()


async def judge_stop(hit: Sequence[KeptBreakpoint], evaluate: Evaluate) -> Verdict:
    """Decide about a stop that has hit these breakpoints; it counts their hits."""
    stop, logs, remarks = not hit, list[str](), list[str]()
    for kept in hit:
        judgement = await judge(kept.emulated, hits=kept.hits, evaluate=evaluate)
        kept.hits = judgement.hits
        stop = stop or judgement.stop
        if judgement.log is not None:
            logs.append(judgement.log)
        if judgement.remark is not None:
            remarks.append(f"breakpoint {kept.number}: {judgement.remark}")
    return Verdict(stop, tuple(kept.number for kept in hit), tuple(logs), tuple(remarks))
