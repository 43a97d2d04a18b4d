"""JSON schemas of types, for those who read their JSON without having the types, and descriptions of their fields.

The descriptions are the strings below the fields in the source, which editors show. Python does not keep these strings,
so they cost nothing unless they are read. They are read from the source, if it is at hand.
"""

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

import msgspec
from msgspec.inspect import StructType, multi_type_info

from dapkit.protocol.base import OpenArguments


def field_descriptions(kind: type) -> Mapping[str, str]:
    """Return the descriptions of the fields of a class, inherited ones too, by their names in Python.

    >>> from dapkit.protocol import ExitedEvent
    >>> field_descriptions(ExitedEvent)
    {'event': 'Name of the event.', 'exit_code': 'Exit code of the program.'}
    """
    descriptions: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        descriptions.update(_in_module(part.__module__).get(part.__qualname__, {}))
    return descriptions


@functools.cache
def _in_module(name: str) -> Mapping[str, Mapping[str, str]]:
    """Read all classes of a module: qualified name -> field -> description."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[name]))
    except (KeyError, OSError, TypeError):  # no such module any more, no source, or a module that never had one
        return {}
    return dict(_classes(tree, ""))


def _classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.ClassDef(name=name, body=body):
                yield prefix + name, dict(_described(body))
                yield from _classes(child, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from _classes(child, f"{prefix}{name}.<locals>.")
            case _:
                yield from _classes(child, prefix)


def _described(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Find the fields that are followed by a string."""
    for statement, below in itertools.pairwise(body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())


type Schema = dict[str, object]


def json_schemas(kinds: Iterable[type[msgspec.Struct]]) -> Mapping[str, Schema]:
    """Return the schemas of types, and of all that they are made of, by name; they refer to `#/$defs/NAME`.

    A string below a field becomes its description.

    >>> from dapkit.protocol import ThreadsBody
    >>> schemas = json_schemas([ThreadsBody])
    >>> list(schemas), schemas["Thread"]["required"]
    (['Thread', 'ThreadsBody'], ['id', 'name'])
    >>> schemas["Thread"]["properties"]["name"]
    {'type': 'string', 'description': 'Name to show.'}
    """
    kinds = [_without_extra(kind) if issubclass(kind, OpenArguments) else kind for kind in kinds]
    _, schemas = msgspec.json.schema_components(kinds, schema_hook=_hook, ref_template="#/$defs/{name}")
    for kind in _structs(multi_type_info(kinds), set()):
        _describe(schemas.get(kind.__name__, {}), kind)
    return dict(sorted(schemas.items()))


def _without_extra(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Make a class of the fields that are keys on the wire: `extra` of open arguments stands for all others."""
    fields = [field for field in msgspec.structs.fields(kind) if field.name != "extra"]
    return msgspec.defstruct(
        kind.__name__,
        [(field.name, field.type, _default(field)) for field in fields],
        bases=(_Described,),
        kw_only=True,
        namespace={"__doc__": kind.__doc__, "described_by": kind},
    )


class _Described(msgspec.Struct):
    """A class that takes the descriptions of its fields from another one."""

    described_by: ClassVar[type]


def _default(field: msgspec.structs.FieldInfo) -> object:
    """Return the field with its name on the wire and its default, to make another class with it."""
    if field.required:
        return msgspec.field(name=field.encode_name)
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(name=field.encode_name, default_factory=field.default_factory)
    return msgspec.field(name=field.encode_name, default=field.default)


def _describe(schema: Schema, kind: type[msgspec.Struct]) -> None:
    match schema:
        case {"properties": dict(properties)}:
            descriptions = field_descriptions(kind.described_by if issubclass(kind, _Described) else kind)
            for name, wire in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
                if name in descriptions and wire in properties:
                    properties[wire]["description"] = descriptions[name]


def _structs(node: object, structs: set[type[msgspec.Struct]]) -> Iterator[type[msgspec.Struct]]:
    """Collect the classes in a description of types, each once."""
    match node:
        case StructType(cls=kind) if kind in structs:
            return
        case StructType(cls=kind):
            structs.add(kind)
            yield kind
    match node:
        case msgspec.Struct():
            for name in node.__struct_fields__:
                yield from _structs(getattr(node, name), structs)
        case tuple():
            for item in node:
                yield from _structs(item, structs)


def _hook(kind: type) -> Schema:
    """Describe types that msgspec cannot describe: any value at all."""
    if kind is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError(kind)
