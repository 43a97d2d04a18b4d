"""Stacks that were seen in a program, and their counts: the common form of all profilers."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from dapkit.diagnostics import limits

type FrameKind = Literal["own", "library", "system", "debugger", "waiting", "thread", "all"]
"""The owner of a frame: the program, a library, the kernel, or the debugger; or the kind of frame it replaces."""


class SampledFrame(NamedTuple):
    """One call of a stack, or a mark.

    Attributes:
        function: its name.
        place: its file, or the library that has it, short enough to be shown; may be empty.
        line: 0 if that is not known.

    """

    function: str
    place: str = ""
    line: int = 0
    kind: FrameKind = "library"

    @property
    def without_line(self) -> "SampledFrame":
        """The function, whatever line it was in."""
        return self._replace(line=0) if self.line else self

    def __str__(self) -> str:
        if not self.place:
            return self.function
        return f"{self.function} ({self.place}:{self.line})" if self.line else f"{self.function} ({self.place})"


type SampledStack = tuple[SampledFrame, ...]
"""The outermost call first; the mark of a thread may come before it, and the mark that it waits at the end."""

WAITING: Final = SampledFrame("(waiting)", kind="waiting")
DEBUGGER: Final = SampledFrame("[debugger]", kind="debugger")
KERNEL: Final = SampledFrame("[kernel]", kind="system")
OMITTED: Final = SampledFrame("[...]")
"""Calls in the middle of a stack that is deeper than `limits.PROFILE_FRAMES`."""
OTHERS: Final = SampledFrame("[other stacks]")
"""Stacks beyond the first `limits.PROFILE_STACKS`."""


class StackCounts:
    """Stacks with the number of samples that had them.

    Invariant: there are at most `limits.PROFILE_STACKS` and one, none deeper than `limits.PROFILE_FRAMES`.
    """

    def __init__(self) -> None:
        self._counts: dict[SampledStack, int] = {}
        self._frames: dict[SampledFrame, SampledFrame] = {}

    def add(self, stack: SampledStack, count: int = 1) -> None:
        """Count a stack."""
        if count <= 0 or not stack:
            return
        frames = self._frames
        shared_stack = tuple(frames.setdefault(frame, frame) for frame in shortened(stack))
        if shared_stack not in self._counts and len(self._counts) >= limits.PROFILE_STACKS:
            shared_stack = (OTHERS,)
        self._counts[shared_stack] = self._counts.get(shared_stack, 0) + count

    def add_thread(self, name: str, stack: SampledStack, *, ran: int, waited: int) -> None:
        """Count a stack of a thread: how often it ran, and how often it waited there."""
        marked = (SampledFrame(name, kind="thread"), *stack)
        self.add(marked, ran)
        self.add((*marked, WAITING), waited)

    def items(self) -> Iterator[tuple[SampledStack, int]]:
        """Return each stack with its count."""
        yield from self._counts.items()

    @property
    def counts(self) -> Mapping[SampledStack, int]:
        """The count of each stack."""
        return self._counts


def shortened(stack: SampledStack) -> SampledStack:
    """Leave out calls in the middle of a very deep stack: the outermost and innermost calls matter."""
    if len(stack) <= limits.PROFILE_FRAMES:
        return stack
    outer = limits.PROFILE_FRAMES * 3 // 4
    inner = limits.PROFILE_FRAMES - outer - 1
    return (*stack[:outer], OMITTED, *stack[-inner:])
