"""One profile, as JSON, as text, as folded stacks and as a flame graph, with its functions by the samples in them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dapkit.agent.text.escaping import one_line
from dapkit.catalog.tabulation import aligned
from dapkit.diagnostics import limits
from dapkit.diagnostics.profiling.call_tree import call_tree, heavy_lines
from dapkit.diagnostics.profiling.flame_graph import flame_graph
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


type ProfileKind = Literal["cpu", "work"]
"""Processor time; or the time of all threads, including waiting where that is known."""

_TITLES: Mapping[ProfileKind, str] = {"cpu": "CPU profile", "work": "Work profile"}


@dataclass(frozen=True)
class Profile:
    """The activity of a program during some time.

    Attributes:
        program: for people.
        tool: that has looked.
        rate: samples in a second of each thread, or of each processor that is used: `of_each`.
        seconds: how long it was.
        waiting_included: whether threads that wait are in it; else there is only time on a processor.
        stacks: how often each was seen.
        hidden: samples of the debugger's own threads, which are in no stack.
        notes: facts about the profile: the reason for its tool, and unexpected events.
        complete: whether it was not ended early.

    """

    kind: ProfileKind
    program: str
    pid: int
    tool: str
    rate: float
    of_each: Literal["thread", "processor"]
    seconds: float
    waiting_included: bool
    stacks: Mapping[SampledStack, int]
    hidden: int = 0
    notes: Sequence[str] = ()
    complete: bool = True

    @property
    def title(self) -> str:
        """Its kind, and its program."""
        process = f"process {self.pid}"
        name = one_line(self.program)
        return f"{_TITLES[self.kind]} of {name if name == process else f'{name}, {process}'}"

    @property
    def samples(self) -> int:
        """How many there are."""
        return sum(self.stacks.values())

    @cached_property
    def functions(self) -> Sequence[FunctionCounts]:
        """All functions, those with the most samples of their own first."""
        return top_functions(self.stacks)

    @property
    def facts(self) -> list[str]:
        """The tool that made it, and the meaning of its numbers."""
        early = "" if self.complete else ", ended early"
        how = f"{self.rate:g} a second of each {self.of_each}, by {self.tool}"
        facts = [f"{self.samples} samples in {self.seconds:.1f} s{early}, {how}"]
        if self.waiting_included:
            waiting = sum(count for stack, count in self.stacks.items() if stack[-1].kind == "waiting")
            share = 100 * waiting / self.samples if self.samples else 0
            facts.append(f"All threads, with the time that they wait: {share:.0f} % of the samples.")
        else:
            spent = self.samples / self.rate
            facts.append(f"Only time on a processor: about {spent:.2f} s. Threads that wait are not in it.")
        return facts + [one_line(note) for note in self.notes]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it; frames of stacks are numbers of `frames`, the outermost first."""
        numbers: dict[SampledFrame, int] = {}
        stacks = [
            {"frames": [numbers.setdefault(frame, len(numbers)) for frame in stack], "samples": count}
            for stack, count in self.stacks.items()
        ]
        return {
            "kind": self.kind,
            "program": self.program,
            "pid": self.pid,
            "tool": self.tool,
            "rate": self.rate,
            "seconds": round(self.seconds, 3),
            "waitingIncluded": self.waiting_included,
            "complete": self.complete,
            "samples": self.samples,
            "hidden": self.hidden,
            "notes": list(self.notes),
            "functions": [row.as_json() for row in self.functions[: limits.PROFILE_FUNCTIONS_MOST]],
            "frames": [
                {"function": frame.function, "place": frame.place, "line": frame.line or None, "kind": frame.kind}
                for frame in numbers
            ],
            "stacks": stacks,
        }

    def as_text(self) -> str:
        """Return the functions with the most samples, and the calls that led there."""
        head = [self.title, *self.facts]
        if not self.samples:
            return "\n".join([*head, "", "There is no sample: the program did nothing that could be seen."])
        return "\n".join([*head, "", *self.summary(), "", "Calls:", *self._tree()])

    def summary(self) -> list[str]:
        """Return the functions with the most samples, as a table."""
        rows = [("   Self", "  Total", "Function", "")]
        for row in self.functions[: limits.PROFILE_FUNCTIONS]:
            waits = "waiting" if row.waiting * 2 > row.own else ""
            rows.append((self._share(row.own), self._share(row.total), _named(row.frame, row.line), waits))
        left_out = len(self.functions) - limits.PROFILE_FUNCTIONS
        return [*aligned(rows), *([f"{left_out} more functions"] if left_out > 0 else [])]

    def folded(self) -> str:
        """Return a line for each stack, as tools for flame graphs read them: frames, a blank, the count.

        The most frequent come first; the part beyond `limits.PROFILE_FOLDED_CHARACTERS` is cut.
        """
        lines: list[str] = []
        room = limits.PROFILE_FOLDED_CHARACTERS
        for stack, count in sorted(self.stacks.items(), key=lambda item: -item[1]):
            line = f"{';'.join(map(_folded, stack))} {count}\n"
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        return "".join(lines)

    def svg(self) -> str:
        """Return the flame graph."""
        return flame_graph(call_tree(self.stacks), title=self.title, facts=self.facts)

    def _tree(self) -> list[str]:
        root = call_tree(self.stacks)
        lines, left_out = heavy_lines(root, share=limits.PROFILE_TREE_SHARE, most=limits.PROFILE_TREE_LINES)
        text_lines = [
            f"{self._share(line.node.count)} {'  ' * line.depth}{_named(line.node.frame, 0)}" for line in lines
        ]
        return [*text_lines, *([f"{left_out} rarer calls are not shown"] if left_out else [])]

    def _share(self, count: int) -> str:
        return f"{100 * count / self.samples:5.1f} %"


def _named(frame: SampledFrame, line: int) -> str:
    return one_line(str(frame._replace(line=line)))[: limits.PROFILE_NAME_CHARACTERS]


def _folded(frame: SampledFrame) -> str:
    return one_line(str(frame)).replace(";", ":")
