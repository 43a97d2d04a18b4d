"""Source text of classes and type aliases."""

import textwrap
from collections.abc import Iterable

from generate import descriptions
from generate.model import Command, Enumeration, Event, Field, ListOf, MapOf, Named, Object, Plain, Ranged, Type
from generate.names import camel, snake

_WIDTH = 120


def annotation(kind: Type, owner: str) -> str:
    """Write a type as an annotation in the class `owner`."""
    match kind:
        case Plain(python):
            return python
        case Ranged(alias):
            return alias
        case Named(name):
            return f'"{name}"' if name == owner else name
        case ListOf(item):
            return f"list[{annotation(item, owner)}]"
        case MapOf(value):
            return f"dict[str, {annotation(value, owner)}]"


def names_in(kind: Type) -> set[str]:
    """Collect the names that an annotation needs."""
    match kind:
        case Plain():
            return set()
        case Ranged(name) | Named(name):
            return {name}
        case ListOf(inner) | MapOf(inner):
            return names_in(inner)


def named_enumeration(item: Enumeration) -> str:
    """Write an enumeration with a name of its own."""
    return _enumeration(item, f'{descriptions.about(item.name)}. DAP, "Types: {item.name}".')


def inline_enumerations(item: Object) -> str:
    """Write the enumerations that stand inside an object's properties."""
    return "\n".join(
        _enumeration(inner, f"Values of `{item.name}.{field.python}`.")
        for inner, field in zip(item.enumerations, _enumerated_fields(item), strict=True)
    )


def data_type(item: Object) -> str:
    """Write a data type of its own name."""
    about = f"{descriptions.about(item.name)}."
    return _struct(item, item.base or "ProtocolObject", about, [_section("Types", item.name)])


def body(item: Object, command: Command) -> str:
    """Write the body of a response."""
    return _struct(item, "ProtocolObject", f"Body of the response to `{command.name}`.", [_request_section(command)])


def arguments(command: Command) -> str:
    """Write the arguments of a request."""
    facts = [f"Arguments of `{command.name}`."]
    if command.gate is not None:
        holder = "InitializeRequestArguments" if command.is_reverse else "Capabilities"
        facts.append(f"Needs `{holder}.{snake(command.gate)}`.")
    return _struct(
        command.arguments,
        f"{'OpenArguments' if command.is_open else 'Arguments'}[{command.body}]",
        f"{descriptions.about(command.arguments.name)}.",
        [*facts, _request_section(command)],
        constant=f'command = "{command.name}"',
    )


def event(item: Event) -> str:
    """Write the body of an event."""
    facts = [f"Body of the event `{item.name}`."]
    if item.gate is not None:
        facts.append(f"Needs `InitializeRequestArguments.{snake(item.gate)}`.")
    return _struct(
        item.body,
        "EventBody",
        f"{descriptions.about(item.body.name)}.",
        [*facts, _section("Events", item.name)],
        constant=f'event = "{item.name}"',
    )


def _request_section(command: Command) -> str:
    return _section("Reverse Requests" if command.is_reverse else "Requests", command.name)


def _section(chapter: str, name: str) -> str:
    """Tell where the specification is about this."""
    return f'DAP, "{chapter}: {name}".'


def _enumeration(item: Enumeration, about: str) -> str:
    """Write an enumeration as a type alias; an open one admits any string."""
    values = ", ".join(f'"{value}"' for value in item.values)
    others = " | str" if item.is_open else ""
    about += " Others are allowed." if item.is_open else ""
    described = "".join(f"\n- `{value}`: {descriptions.of(item.name, value)}" for value in item.values)
    return f'type {item.name} = Literal[{values}]{others}\n"""{about}\n{described}\n"""\n'


def _struct(item: Object, base: str, about: str, facts: list[str], *, constant: str | None = None) -> str:
    lines = [f"class {item.name}({base}, frozen=True, kw_only=True):", f'    """{about}', ""]
    lines += [*_wrapped(" ".join(facts)), '    """', ""]
    if constant is not None:
        lines += [f"    {constant}", ""]
    for field in item.fields:
        lines += [f"    {_field(field, item.name)}", *_docstring(_description(item, field)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _description(item: Object, field: Field) -> str:
    """Tell what a field is, and which values it may have: editors show only the name of an enumeration."""
    text = descriptions.of(item.name, field.wire)
    return f"{text} Values: {_quoted(field.values)}." if field.values else text


def _quoted(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _docstring(text: str) -> list[str]:
    """Write what stands below a field: on its line if it fits."""
    line = f'    """{text}"""'
    return [line] if len(line) <= _WIDTH else [*_wrapped(f'"""{text}'), '    """']


def _wrapped(text: str) -> list[str]:
    indent = "    "
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _field(field: Field, owner: str) -> str:
    kind = annotation(field.type, owner)
    renamed = camel(field.python) != field.wire
    if field.required:
        default = f' = field(name="{field.wire}")' if renamed else ""
        return f"{field.python}: {kind}{default}"
    if kind != "object":
        kind = f"{kind[:-1]} | None{kind[-1]}" if kind.startswith('"') else f"{kind} | None"
    default = f'field(default=None, name="{field.wire}")' if renamed else "None"
    return f"{field.python}: {kind} = {default}"


def _enumerated_fields(item: Object) -> list[Field]:
    names = [inner.name for inner in item.enumerations]
    return [field for field in item.fields if names_in(field.type) & set(names)]
