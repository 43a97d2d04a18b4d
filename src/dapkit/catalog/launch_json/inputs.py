"""The questions of a launch configuration to its user: each `${input:NAME}`, and its entry in the `inputs` of the file.

Who asks the user, and whether there is one, is left to others.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_ASKED = re.compile(r"\$\{input:([^{}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One thing that is asked.

    Attributes:
        description: the question, for people.
        choices: all answers that there are; empty if any text will do.
        default: the answer if none is given; None if there must be one.
        secret: whether the answer is not to be shown.

    """

    name: str
    description: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    secret: bool = False

    @classmethod
    def read(cls, name: str, table: Mapping[str, object]) -> "Input":
        """Read the `inputs` of the file; an input of the type `command` has only a name."""
        options, default, description = table.get("options"), table.get("default"), table.get("description")
        choices = [_choice(option) for option in options] if isinstance(options, list) else []
        return cls(
            name=name,
            description=description if isinstance(description, str) else "",
            choices=tuple(choices),
            default=default if isinstance(default, str) else None,
            secret=table.get("password") is True,
        )

    @property
    def wanted(self) -> str:
        """The subject and the allowed answers, in brackets; empty if the file does not state them."""
        among = f"one of {', '.join(self.choices)}" if self.choices else ""
        description = ", ".join(part for part in (self.description, among) if part)
        return f" ({description})" if description else ""


def names_in(value: object) -> Iterator[str]:
    """Yield the names of inputs in the texts of a value, at any depth."""
    match value:
        case str():
            yield from _ASKED.findall(value)
        case Mapping():
            for item in value.values():
                yield from names_in(item)
        case list():
            for item in value:
                yield from names_in(item)


def _choice(option: object) -> str:
    """Return the value of an option, which may have a label beside it."""
    return str(option.get("value", "")) if isinstance(option, Mapping) else str(option)
