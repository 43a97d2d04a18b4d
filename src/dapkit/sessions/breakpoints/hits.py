"""Which breakpoints a stop has hit, and whether it is one at all.

Adapters tell the ids of the breakpoints that were hit, or nothing; then the place
of the stop has to do. A stop at breakpoints of which none is to stop the program
is no stop: their counts and log messages are taken care of, and the program goes on.
"""

from collections import Counter
from collections.abc import Sequence
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
from dapkit.sessions.breakpoints.placed import Entry

_KINDS: dict[str, tuple[type[Location], ...]] = {
    "breakpoint": (SourceLocation, FunctionLocation),
    "function breakpoint": (FunctionLocation,),
    "data breakpoint": (DataLocation,),
    "instruction breakpoint": (InstructionLocation,),
}
"""Which breakpoints a reason of a stop speaks of."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the breakpoints say about a stop.

    Attributes:
        stop: whether the program is to stay.
        hit: the breakpoints that were hit, by number.
        logs: what is to be logged.
        remarks: what is to be said about the stop.

    """

    stop: bool = True
    hit: tuple[int, ...] = ()
    logs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def hit_by(entries: Sequence[Entry], session: Session, stopped: Stopped, frame: StackFrame | None) -> list[Entry]:
    """Find the breakpoints that a stop has hit."""
    answers = [(entry, answer) for entry in entries if (answer := entry.answer(session)) is not None]
    ids = stopped.event.hit_breakpoint_ids
    kinds = _KINDS.get(stopped.reason, ())
    if ids:
        named = [(entry, known.answer.id) for entry, known in answers if known.answer and known.answer.id in ids]
        bearers = Counter(number for _, number in named)  # lldb-dap numbers data breakpoints for themselves
        return [entry for entry, number in named if bearers[number] == 1 or isinstance(entry.spec.location, kinds)]
    candidates = [(entry, known) for entry, known in answers if isinstance(entry.spec.location, kinds)]
    if stopped.reason in ("data breakpoint", "instruction breakpoint"):
        return [candidates[0][0]] if len(candidates) == 1 else []
    return [entry for entry, known in candidates if frame is not None and _is_there(entry, known.line, frame)]


def _is_there(entry: Entry, line: int | None, frame: StackFrame) -> bool:
    if isinstance(entry.spec.location, SourceLocation):
        path = None if frame.source is None else frame.source.path
        return line == frame.line and path is not None and _same(Path(path), entry.spec.location.file)
    # A name may be shown with its module or its arguments.
    return isinstance(entry.spec.location, FunctionLocation) and entry.spec.location.name in frame.name


def _same(one: Path, other: Path) -> bool:
    return one == other or one.resolve() == other.resolve()


async def judge_stop(hit: Sequence[Entry], evaluate: Evaluate) -> Verdict:
    """Decide about a stop that has hit these breakpoints; it counts their hits."""
    stop, logs, remarks = not hit, list[str](), list[str]()
    for entry in hit:
        judgement = await judge(entry.emulated, hits=entry.hits, evaluate=evaluate)
        entry.hits = judgement.hits
        stop = stop or judgement.stop
        if judgement.log is not None:
            logs.append(judgement.log)
        if judgement.remark is not None:
            remarks.append(f"breakpoint {entry.number}: {judgement.remark}")
    return Verdict(stop, tuple(entry.number for entry in hit), tuple(logs), tuple(remarks))
