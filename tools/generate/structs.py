"""Source text of classes and type aliases."""

from generate import wording
from generate.model import Command, Enumeration, Event, Field, ListOf, MapOf, Named, Object, Plain, Ranged, Type
from generate.names import camel


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


def enumeration(item: Enumeration, about: str) -> str:
    """Write an enumeration as a type alias; an open one admits any string."""
    values = ", ".join(f'"{value}"' for value in item.values)
    others = " | str" if item.is_open else ""
    return f'type {item.name} = Literal[{values}]{others}\n"""{about}."""\n'


def inline_enumerations(item: Object) -> str:
    """Write the enumerations that stand inside an object's properties."""
    return "\n".join(
        enumeration(inner, f"Values of `{item.name}.{field.python}`")
        for inner, field in zip(item.enumerations, _enumerated_fields(item), strict=True)
    )


def data_type(item: Object) -> str:
    """Write a data type of its own name."""
    return _struct(item, item.base or "ProtocolObject", f"{wording.TYPES[item.name]}.")


def body(item: Object, command: str) -> str:
    """Write the body of a response."""
    return _struct(item, "ProtocolObject", f"What `{command}` returns.")


def arguments(command: Command) -> str:
    """Write the arguments of a request."""
    facts = [f"Arguments of `{command.name}`."]
    if command.gate is not None:
        holder = " of the client" if command.is_reverse else ""
        facts.append(f"Gated by `{command.gate}`{holder}.")
    base = "OpenArguments" if command.is_open else "Arguments"
    return _struct(
        command.arguments,
        f"{base}[{command.body}]",
        f"{wording.COMMANDS[command.name]}.\n\n    {' '.join(facts)}\n    ",
        constant=f'command = "{command.name}"',
    )


def event(item: Event) -> str:
    """Write the body of an event."""
    facts = [f"Body of the event `{item.name}`."]
    if item.gate is not None:
        facts.append(f"Gated by `{item.gate}` of the client.")
    return _struct(
        item.body,
        "EventBody",
        f"{wording.EVENTS[item.name]}.\n\n    {' '.join(facts)}\n    ",
        constant=f'event = "{item.name}"',
    )


def _struct(item: Object, base: str, docstring: str, *, constant: str | None = None) -> str:
    lines = [f"class {item.name}({base}, frozen=True, kw_only=True):", f'    """{docstring}"""', ""]
    if constant is not None:
        lines += [f"    {constant}", ""]
    lines += [f"    {_field(field, item.name)}" for field in item.fields]
    return "\n".join(lines).rstrip() + "\n"


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
