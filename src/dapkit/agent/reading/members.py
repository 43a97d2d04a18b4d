"""Members of a value, whatever the adapter does about paging.

An adapter that pages is asked for the page; of one that does not, everything is
taken, and the page is cut out here.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from dapkit.protocol import EvaluateBody, Variable, VariablesArguments, VariablesBody

type MemberKind = Literal["indexed", "named"]

type Ask = Callable[[VariablesArguments], Awaitable[VariablesBody]]
"""Sends a request to the adapter and returns its response; raises DapkitError."""

type PartOfMembers = tuple[list[Variable], int | None]
"""Members from one on, and how many there are in all, if that is known."""

_SIZE = re.compile(r"size=(?P<items>\d+)\b")
"""How LLDB writes a container. The result of an expression has the number of its items nowhere else."""


def reported_items(value: Variable | EvaluateBody) -> int | None:
    """Return the number of items that a value reports, by its field or by its text."""
    if value.indexed_variables is not None:
        return value.indexed_variables
    size = _SIZE.match(value.value if isinstance(value, Variable) else value.result)
    return None if size is None else int(size["items"])


@dataclass(frozen=True, slots=True)
class MembersOfValue:
    """A value whose members are asked for, never more of them than are wanted: there may be millions.

    Attributes:
        ask: sends the requests.
        named: how many members with names it is said to have; 0 if nothing was said.
        indexed: how many items.

    """

    ask: Ask
    reference: int
    kind: MemberKind | None = None
    named: int = 0
    indexed: int = 0

    async def part(self, start: int, count: int) -> PartOfMembers:
        """Get at most so many members from one on."""
        if self.indexed and self.kind != "named":
            return await self._items(start, count)
        return await self._members(start, count)

    async def _items(self, start: int, most: int) -> PartOfMembers:
        """Ask for items by themselves, as delve wants it; they come after the members with names."""
        named_members = self.named if self.kind is None else 0
        came: list[Variable] = []
        if start < named_members:
            came = await self._ask(filter="named")
            if len(came) > named_members:  # these are all members
                return came[start : start + most], len(came)
            came = came[start : start + most]
        first = max(0, start - named_members)
        count = min(most - len(came), self.indexed - first)  # gdb fails beyond the last one
        if count > 0:
            items = await self._ask(filter="indexed", start=first, count=count)
            came += items[first : first + count] if len(items) > count else items
        return came, named_members + self.indexed

    async def _members(self, start: int, most: int) -> PartOfMembers:
        """Ask for members of a value without items, or one of which nothing is known, as lldb-dap has it for arrays."""
        reported_count = self.named + self.indexed
        if 0 < reported_count <= most:
            came = await self._ask(filter=self.kind)
            return came[start : start + most], len(came)
        first = await self._ask(filter=self.kind, start=0, count=1) if start else []
        if len(first) > 1:  # these are all members
            return first[start : start + most], len(first)
        count = min(most + 1, reported_count - start) if reported_count else most + 1
        came = await self._ask(filter=self.kind, start=start, count=count) if count > 0 else []
        if len(came) > count or (start and came == first):  # so are these
            return came[start : start + most], len(came)
        ended = len(came) < count or start + count == reported_count
        return came[:most], start + len(came) if ended else None

    async def _ask(
        self,
        *,
        filter: MemberKind | None,  # noqa: A002 - the protocol's name
        start: int | None = None,
        count: int | None = None,
    ) -> list[Variable]:
        request = VariablesArguments(variables_reference=self.reference, filter=filter, start=start, count=count)
        return (await self.ask(request)).variables
