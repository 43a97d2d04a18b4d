"""Methods with the fields of an object for parameters.

Required fields come first, the first two of them by position; all others are by
keyword. Ranges are left to the object itself, which checks them when it is made
or written.
"""

import builtins
import keyword
from collections.abc import Iterable

from generate.model import Field, ListOf, MapOf, Named, Object, Plain, Ranged, Type
from generate.names import snake

_BY_POSITION = 2
_INDENT = " " * 8


def method_name(wire: str) -> str:
    """Name the method of a command or event: `stackTrace` is `stack_trace`, `continue` is `continue_`."""
    name = snake(wire)
    return f"{name}_" if keyword.iskeyword(name) else name


def parameters(fields: Iterable[Field], used: set[str], *, last: str = "") -> str:
    """Write the parameter list of a method; `used` collects the types that it needs.

    `last` is a further parameter by keyword.
    """
    ordered = sorted(fields, key=lambda field: not field.required)
    texts = ["self"]
    for index, field in enumerate(ordered):
        if "*" not in texts and (index == _BY_POSITION or not field.required):
            texts.append("*")
        texts.append(_parameter(field, used))
    if last:
        texts += [last] if "*" in texts else ["*", last]
    return "".join(f"\n{_INDENT}{text},{_note(text)}" for text in texts) + "\n    "


def call(item: Object) -> str:
    """Write the construction of an object from parameters of the same names."""
    values = ", ".join(f"{field.python}={field.python}" for field in item.fields)
    return f"{item.name}({values})"


def _parameter(field: Field, used: set[str]) -> str:
    kind = _annotation(field.type, used)
    if field.required:
        return f"{field.python}: {kind}"
    return f"{field.python}: {kind if kind == 'object' else f'{kind} | None'} = None"


def _annotation(kind: Type, used: set[str]) -> str:
    match kind:
        case Ranged(alias):
            return "float" if alias == "Percentage" else "int"
        case ListOf(item):
            return f"list[{_annotation(item, used)}]"
        case MapOf(value):
            return f"dict[str, {_annotation(value, used)}]"
        case Named(name):
            used.add(name)
            return name
        case Plain(python):
            return python


def _note(parameter: str) -> str:
    name = parameter.partition(":")[0]
    shadows = hasattr(builtins, name) and name != "breakpoint"  # which ruff is configured to allow
    return "  # noqa: A002 - the protocol's name" if shadows else ""
