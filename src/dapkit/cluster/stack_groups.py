"""Stacks of many members, put together: equal ones are one group, with the set of its members.

The calls of the program's own code are compared with their lines, and the library functions that these call, without
lines: a library that waits in a loop would be at another line at each look. Groups of several machines are
merged by the same key, so each machine can send its own groups instead of its stacks.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from dapkit.protocol import ProtocolObject, changed
from dapkit.python.stacks.threads import DumpedThread, Frame

MAIN: Final = ""
"""Name of the main thread in groups."""

_NUMBER: Final = re.compile(r"[-_ ]*\d+(?= \(|$)")
"""Of a thread among its like, as `threading` writes it: `Thread-3 (load)`, `pool-7`."""

_LOCAL: Final = ".<locals>."
"""In the qualified name of a function that another function has made."""

_LIBRARY_FRAMES: Final = 3
"""Calls that are compared of a stack without own code."""


class GroupedCall(ProtocolObject, frozen=True, kw_only=True):
    """One call of a group's stack.

    Attributes:
        function: its name.
        file: of its source.
        line: 0 for a library's, which is not compared.
        own: whether it is the program's own code.

    """

    function: str
    file: str
    line: int = 0
    own: bool = False


class MemberGroup(ProtocolObject, frozen=True, kw_only=True):
    """Members with equal stacks.

    Attributes:
        thread: name of their thread, without its number; empty for the main thread.
        calls: the innermost first; none if the thread runs no Python code.
        members: their names.
        running: how many of them use a processor.
        holding: how many of them hold the lock of the interpreter (GIL).
        in_kernel: how many of them are in a call of the system that cannot be interrupted, such as one to a disk.
        ended: whether it is the stack of a main thread that has left the program's code.

    """

    calls: list[GroupedCall]
    members: list[str]
    thread: str = MAIN
    running: int = 0
    holding: int = 0
    in_kernel: int = 0
    ended: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """The compared parts."""
        return (self.thread, *((call.function, call.file, call.line) for call in self.calls))


@dataclass
class _Gathered:
    """A group while members are added to it."""

    calls: list[GroupedCall]
    members: list[str] = field(default_factory=list)
    running: int = 0
    holding: int = 0
    in_kernel: int = 0
    ended: bool = False


class StackGroups:
    """Groups while stacks of members, and groups of machines, are added."""

    def __init__(self) -> None:
        self._groups: dict[tuple[object, ...], _Gathered] = {}

    def add(
        self, member: str, thread: DumpedThread, *, is_main: bool, in_kernel: bool = False, ended: bool = False
    ) -> None:
        """Add a thread of a member; `is_main` for the one that the member is compared by."""
        calls = compared_calls(thread.frames)
        name = MAIN if is_main else _NUMBER.sub("", thread.name) or "thread"
        key = (name, *((call.function, call.file, call.line) for call in calls))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Gathered(calls, ended=ended)
        if not group.members or group.members[-1] != member:
            group.members.append(member)
        group.running += thread.is_running
        group.holding += thread.has_interpreter
        group.in_kernel += in_kernel

    def merge(self, groups: Iterable[MemberGroup]) -> None:
        """Add the groups of a machine."""
        for each in groups:
            key = each.key
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _Gathered(each.calls, ended=each.ended)
            group.members += each.members
            group.running += each.running
            group.holding += each.holding
            group.in_kernel += each.in_kernel

    def result(self) -> list[MemberGroup]:
        """Return the groups, the largest first."""
        groups = [
            MemberGroup(
                thread=str(key[0]),
                calls=group.calls,
                members=group.members,
                running=group.running,
                holding=group.holding,
                in_kernel=group.in_kernel,
                ended=group.ended,
            )
            for key, group in self._groups.items()
        ]
        return sorted(groups, key=lambda group: -len(group.members))


def with_later_look(
    groups: Sequence[MemberGroup], members: AbstractSet[str], later: Sequence[MemberGroup]
) -> list[MemberGroup]:
    """Return groups in which the main threads of some members are where a later look has found them.

    Members that it has not read stay where they were.
    """
    later_names = {name for group in later if group.thread == MAIN for name in group.members}
    moving = members & later_names
    result = StackGroups()
    for group in groups:
        remaining = [name for name in group.members if name not in moving]
        if group.thread != MAIN or len(remaining) == len(group.members):
            result.merge([group])
        elif remaining:
            counts = {
                name: min(count, len(remaining))
                for name, count in (
                    ("running", group.running),
                    ("holding", group.holding),
                    ("in_kernel", group.in_kernel),
                )
            }
            result.merge([changed(group, members=remaining, **counts)])
    result.merge(group for group in later if group.thread == MAIN)
    return result.result()


def compared_calls(frames: Sequence[Frame]) -> list[GroupedCall]:
    """Return the calls of a stack that are compared, the innermost first."""
    if not any(frame.is_own for frame in frames):
        outermost = frames[-1:] if len(frames) > _LIBRARY_FRAMES else ()
        return [_library(frame) for frame in (*frames[:_LIBRARY_FRAMES], *outermost)]
    calls: list[GroupedCall] = []
    for index, frame in enumerate(frames):
        if frame.is_own:
            calls.append(GroupedCall(function=frame.function, file=frame.file, line=frame.line, own=True))
        elif frames[index + 1 : index + 2] and frames[index + 1].is_own:
            calls.append(_library(_decorated(frames, index)))
    return calls


def _decorated(frames: Sequence[Frame], index: int) -> Frame:
    """Return the library function at an index, or if that is a decorator's wrapper, the function that it has called."""
    while _LOCAL in frames[index].function and index > 0 and not frames[index - 1].is_own:
        index -= 1
    return frames[index]


def _library(frame: Frame) -> GroupedCall:
    return GroupedCall(function=frame.function, file=frame.file)
