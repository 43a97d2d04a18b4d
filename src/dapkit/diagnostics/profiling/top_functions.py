"""The functions of a profile by the samples in them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from dapkit.diagnostics.profiling.samples import SampledFrame, SampledStack

_MARKS = ("thread", "waiting")


@dataclass(frozen=True, slots=True)
class FunctionCounts:
    """A function of a profile.

    Attributes:
        own: samples in the function itself, without its callees.
        total: samples in it or in its callees; a recursive call counts once.
        waiting: samples of `own` in which it waited.
        line: the line in which most of `own`, else of `total`, was seen; 0 if that is not known.

    """

    frame: SampledFrame
    own: int
    total: int
    waiting: int
    line: int

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {
            "function": self.frame.function,
            "place": self.frame.place,
            "line": self.line or None,
            "kind": self.frame.kind,
            "self": self.own,
            "total": self.total,
            "waiting": self.waiting,
        }


def top_functions(stacks: Mapping[SampledStack, int]) -> list[FunctionCounts]:
    """Return all functions, those with the most samples of their own first."""
    own: Counter[SampledFrame] = Counter()
    total: Counter[SampledFrame] = Counter()
    waiting: Counter[SampledFrame] = Counter()
    own_lines: dict[SampledFrame, Counter[int]] = {}
    lines: dict[SampledFrame, Counter[int]] = {}
    for stack, count in stacks.items():
        calls = [frame for frame in stack if frame.kind not in _MARKS]
        if not calls:
            continue
        innermost = calls[-1].without_line
        own[innermost] += count
        own_lines.setdefault(innermost, Counter())[calls[-1].line] += count
        if stack[-1].kind == "waiting":
            waiting[innermost] += count
        for frame in {frame.without_line: frame for frame in calls}.values():
            total[frame.without_line] += count
            lines.setdefault(frame.without_line, Counter())[frame.line] += count
    functions = [
        FunctionCounts(
            frame, own[frame], total[frame], waiting[frame], (own_lines.get(frame) or lines[frame]).most_common(1)[0][0]
        )
        for frame in total
    ]
    return sorted(functions, key=lambda row: (-row.own, -row.total, row.frame))
