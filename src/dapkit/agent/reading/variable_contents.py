"""The contents of the variables of a stop: members of structs and items of containers, each value in one line.

Adapters give a struct or a container as a value that says little, and its members
only when asked for them. They are asked for here, two levels deep, as far as the
limits of requests, time and characters go; a pointer is followed from a variable,
and not from a member, and properties are left alone. Values whose text already shows their contents are left as they
are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import anyio

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.reading.members import Ask, MembersOfValue, reported_items
from dapkit.protocol import DapkitError, EvaluateBody, Variable

LEVELS = 2

DEFINITIONS = {"module", "function", "type", "builtin_function_or_method", "method"}
"""Types of variables that are parts of the program rather than its data."""

_UNINTERESTING_NAMES = {"special variables", "function variables", "class variables", "return values"}
"""Groups that debugpy puts among the variables."""

_ADDRESS = re.compile(r"@?0x(?P<digits>[0-9A-Fa-f]+)\b")
"""How a pointer, or a reference of C++, begins."""

_LEFT_OUT = re.compile(r"\{\u2026\}|\b(?:Array|Map|Set)\(\d+\)[,\]}]|^\{(?:.*\{)?\.\.\.\}|^\{\w+:\S", re.DOTALL)
"""Objects without some of their members: as js-debug (twice), the CDT GDB adapter and CodeLLDB (twice) write them."""

_RAW = "[raw]"
"""The representation of a container, which CodeLLDB lists after its items."""

_KEYS_AND_VALUES = re.compile(r"std::(?:__\w+::)?(?:unordered_)?(?:multi)?map with ")
"""A map as the printers of libstdc++ write it under gdb, which lists keys and values by turns."""

_INDEX = re.compile(r"\[?\d+\]?")
"""The name of an item."""


def is_hidden(variable: Variable) -> bool:
    """Whether a variable is one of those that its adapter or its language has put among the program's own."""
    name = variable.name
    return name in _UNINTERESTING_NAMES or name.startswith("@py_") or (name.startswith("__") and name.endswith("__"))


async def contents_of(
    variables: Sequence[Variable], ask: Ask, *, unreadable: str = "", room: int = limits.CONTENTS_CHARACTERS
) -> list[str | None]:
    """Read the contents of variables, the nearest members of all variables first.

    Args:
        variables: as the adapter sent them.
        ask: sends the requests.
        unreadable: the first words of the value of an unreadable variable; empty if the adapter has no such words.
        room: characters for the members of one variable.

    Returns:
        For each variable its members in braces; None if it has no members, or if its own text shows its contents.

    """
    values = [_Value(variable) for variable in variables]
    readable = [value for value in values if not (unreadable and value.variable.value.startswith(unreadable))]
    with anyio.move_on_after(limits.CONTENTS_SECONDS):
        await _read(readable, ask)
    return [value.members_text(room) for value in values]


async def contents_of_result(body: EvaluateBody, ask: Ask, *, unreadable: str = "") -> str | None:
    """Read the contents of the result of an expression; see `contents_of`."""
    variable = Variable(
        name="",
        value=body.result,
        type=body.type,
        variables_reference=body.variables_reference,
        named_variables=body.named_variables,
        indexed_variables=body.indexed_variables,
    )
    return (await contents_of([variable], ask, unreadable=unreadable, room=limits.WHOLE_VALUE_CHARACTERS))[0]


async def _read(values: Sequence["_Value"], ask: Ask) -> None:
    requests_left = limits.CONTENTS_REQUESTS
    level = list(values)
    for depth in range(LEVELS):
        readable = [value for value in level if value.can_be_read(followed=depth == 0)]
        for value in readable:
            if requests_left <= 0:
                return
            requests_left -= await value.read(ask)
        level = [member for value in readable for member in value.members]


@dataclass(slots=True)
class _Value:
    """A value with the members that have been read."""

    variable: Variable
    members: list["_Value"] = field(default_factory=list)
    more: bool = False

    @property
    def says_nothing(self) -> bool:
        """Whether its text is at most the name of its type (gdb, lldb-dap), or leaves out members."""
        text, kind = self.variable.value, self.variable.type or ""
        return not text or kind.endswith(text) or _LEFT_OUT.search(text) is not None

    def is_said_in(self, text: str) -> bool:
        """Whether a text shows it."""
        return not self.says_nothing and self.variable.value in text

    def can_be_read(self, *, followed: bool) -> bool:
        """Whether it has members that its own text does not show; pointers only if they are to be followed."""
        variable = self.variable
        if not variable.variables_reference or variable.type in DEFINITIONS or _is_lazy(variable):
            return False
        if (reported_items(variable) or 0) > limits.PLAUSIBLE_ITEMS or variable.value.startswith("<null>"):
            return False
        if self.says_nothing:
            return True
        address = _ADDRESS.match(variable.value)
        if address is not None and (not followed or not int(address["digits"], 16)):
            return False
        if variable.value.startswith(('"', "'", "b'", 'b"', "bytearray(")):  # a text that is cut
            return False
        is_tuple = variable.value[:1] + variable.value[-1:] == "()" and address is None
        return not is_tuple and not variable.value.endswith(('"', "'", "...", "}", "]"))

    async def read(self, ask: Ask) -> int:
        """Read the members, and return how many requests that took."""
        variable = self.variable
        members = await self._members_of(variable, ask)
        only = members[0] if len(members) == 1 else None
        if only is not None and only.variables_reference and not _is_lazy(only) and _Value(only).says_nothing:
            # the target of a pointer
            members = await self._members_of(only, ask)
        self.more = len(members) > limits.CONTENTS_MEMBERS
        self.members = [_Value(member) for member in members[: limits.CONTENTS_MEMBERS] if not _is_noise(member)]
        return 1 if only is None else 2

    async def _members_of(self, variable: Variable, ask: Ask) -> list[Variable]:
        value = MembersOfValue(
            ask,
            variable.variables_reference,
            named=variable.named_variables or 0,
            indexed=variable.indexed_variables or 0,
        )
        try:
            members, _ = await value.part(0, limits.CONTENTS_MEMBERS + 1)
        except DapkitError:  # an address that is not the program's, say
            return []
        return members

    def members_text(self, room: int) -> str | None:
        """Write the members into so many characters.

        None if there are no members, or if the value's text shows them all.
        """
        if not self.members:
            return None
        if not self.says_nothing and all(member.is_said_in(self.variable.value) for member in self.members):
            return None
        parts: list[str] = []
        for part in self._parts(room):
            room -= len(part) + 2
            if room < 0 and parts:
                return f"{{{', '.join([*parts, '...'])}}}"
            parts.append(part)
        return f"{{{', '.join([*parts, *(['...'] if self.more else [])])}}}"

    def _parts(self, room: int) -> Iterator[str]:
        """Write each member, or each key with its value."""
        if _KEYS_AND_VALUES.match(self.variable.value):
            for key, value in zip(self.members[::2], self.members[1::2], strict=False):
                yield f"[{key.text(room)}] = {value.text(room)}"
        else:
            yield from (member.text(room) for member in self.members)

    def text(self, room: int) -> str:
        """Write a member: its name, unless it is an index, and its value."""
        variable = self.variable
        inside = self.members_text(room)
        text = shortened(variable.value, limits.CONTENTS_VALUE_CHARACTERS)[0]
        value = " ".join(self._words(text, inside))
        return value if _INDEX.fullmatch(variable.name) else f"{variable.name} = {value}"

    def _words(self, text: str, inside: str | None) -> Iterator[str]:
        if not self.says_nothing:
            yield text
        if inside is not None:
            yield inside
        elif self.says_nothing:
            yield "{...}" if self.variable.variables_reference and not text.startswith("{") else text


def _is_noise(member: Variable) -> bool:
    hint = member.presentation_hint
    is_group = hint is not None and hint.kind == "virtual" and not member.value
    is_internal = hint is not None and hint.visibility == "internal"  # [[Prototype]] of JavaScript
    return (
        is_group
        or is_internal
        or member.name == _RAW
        or is_hidden(member)
        or member.type in DEFINITIONS
        or _is_lazy(member)
    )


def _is_lazy(variable: Variable) -> bool:
    """Whether code of the program runs to get the value, as of a property: only where a user asks for it."""
    return variable.presentation_hint is not None and bool(variable.presentation_hint.lazy)
