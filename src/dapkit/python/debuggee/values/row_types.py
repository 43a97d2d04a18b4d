"""One line of a variables view, before it is written down."""

from collections.abc import Callable, Mapping
from typing import Final

from ..interpreter.gc_tracking import untrack
from .storage import Stored

PLAIN: Final = ""
SPECIAL: Final = "special variables"
FUNCTIONS: Final = "function variables"
CLASSES: Final = "class variables"
PRIVATE: Final = "private variables"
GROUPS: Final = (SPECIAL, FUNCTIONS, CLASSES, PRIVATE)
"""Names of the rows that others hang below, in their order; PLAIN ones hang below none."""

type Presentation = Mapping[str, str]
"""How the rows of a group are shown that are not shown as a group."""
INLINE: Final = "inline"
HIDE: Final = "hide"
_KINDS: Final = {"special": SPECIAL, "function": FUNCTIONS, "class": CLASSES, "protected": PRIVATE}


def read_presentation(value: object) -> Presentation:
    """Read `variablePresentation`: `inline` or `untrack` by kind, `all` for those that are not there."""
    options = value if isinstance(value, dict) else {}
    return untrack({group: str(options.get(kind) or options.get("all")) for kind, group in _KINDS.items()})


class ValueRow:
    """A name with a value.

    `path` is the expression that gives the value, or an empty text; `stored` is where it is, None where it
    cannot be replaced; `declared` is the property behind it, if it is one. A lazy row has no value yet:
    `stored.read()` gives it, or `read()` where it is stored nowhere, and runs code of the program. `text` is shown
    instead of the value, if there is one.
    """

    __slots__ = ("declared", "kind", "lazy", "name", "path", "read", "stored", "text", "value")

    def __init__(
        self,
        name: str,
        value: object,
        path: str = "",
        *,
        stored: Stored | None = None,
        lazy: bool = False,
        kind: str = "",
        declared: object = None,
        read_value: Callable[[], object] | None = None,
        text: str = "",
    ) -> None:
        untrack(self)
        self.name = name
        self.value = value
        self.path = path
        self.stored = stored
        self.lazy = lazy
        self.kind = kind
        self.declared = declared
        self.read = read_value
        self.text = text


class VariableGroup:
    """The value of a row that stands for several others."""

    __slots__ = ("part", "size")

    def __init__(self, part: str, size: int) -> None:
        self.part = part
        self.size = size
        untrack(self)


class PlainView:
    """The value of a row that shows a value as if it had no presenter."""


class UnreadProperty:
    """The text in place of a value that could not be read."""

    def __init__(self, text: str) -> None:
        self.text = text
        untrack(self)


class RemainingMembers:
    """The value of a row that stands for the attributes an answer has no room for."""

    __slots__ = ("first", "size")

    def __init__(self, first: int, size: int) -> None:
        self.first = first
        self.size = size
        untrack(self)


class RemainingItems:
    """The value of a row that stands for the items an answer has no room for."""

    __slots__ = ("first", "size")

    def __init__(self, first: int, size: int) -> None:
        self.first = first
        self.size = size
        untrack(self)
