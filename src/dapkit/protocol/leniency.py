"""Reading what a real peer sent although the schema does not allow it.

Peers break the schema in small ways: gdb's `process` event has a start method
that is not on the list. `decode_leniently` makes the best of it and says what
it met:

* an unknown value of a closed enumeration, or a number out of range, is kept as it came
* a whole number written as a float is kept as an integer
* the smallest optional field around anything else is left out

Where that reaches the top, nothing sensible is left and InvalidValue is raised.
Values kept in this way do not fit their annotation; only the reader of a peer's
responses and events is to use this module.
"""

from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec import inspect

from dapkit.protocol.base import OpenArguments, RawJson
from dapkit.protocol.codec import decode_as
from dapkit.protocol.errors import InvalidValue


class Violation(msgspec.Struct, frozen=True):
    """One place where a peer broke the schema."""

    path: str
    problem: str


def decode_leniently[T](kind: type[T], raw: bytes | RawJson | None, at: str = "$") -> tuple[T, list[Violation]]:
    """Read raw JSON as a given type, keeping what can be kept; say what was wrong.

    Raises:
        InvalidValue: nothing sensible is left.
        MalformedMessage: it is not JSON.

    """
    try:
        return decode_as(kind, raw, at), []
    except InvalidValue:
        reader = _Reader()
        value = reader.read(decode_as(object, raw), inspect.type_info(kind), at)
        return cast("T", value), reader.violations


class _Reader:
    """One lenient reading; `violations` grows as it goes."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def read(self, value: object, kind: inspect.Type, at: str) -> object:
        """Turn a JSON value into one of the given kind."""
        match kind, value:
            case inspect.UnionType(), _:
                return self._read_union(value, kind, at)
            case inspect.StructType(), dict():
                return self._read_object(value, kind, at)
            case inspect.ListType(), list():
                return [self.read(item, kind.item_type, f"{at}[{index}]") for index, item in enumerate(value)]
            case inspect.DictType(), dict():
                return {key: self.read(item, kind.value_type, f"{at}[{key!r}]") for key, item in value.items()}
            case inspect.LiteralType(), str():
                self._check_choice(value, kind, at)
            case ((inspect.IntType() | inspect.FloatType()), (int() | float())) if not isinstance(value, bool):
                return self._read_number(value, kind, at)
            case _ if not _fits(value, kind):
                raise InvalidValue(at, f"expected {_expected(kind)}, got {_shown(value)}")
        return value

    def _read_union(self, value: object, kind: inspect.UnionType, at: str) -> object:
        """Read with the alternative that suits; the schema's unions are told apart by JSON type."""
        others = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
        if value is None and len(others) < len(kind.types):
            return None
        for alternative in others:
            attempt = _Reader()
            try:
                read = attempt.read(value, alternative, at)
            except InvalidValue:
                continue
            if not attempt.violations:
                return read
        if len(others) == 1:
            return self.read(value, others[0], at)
        raise InvalidValue(at, f"expected {_expected(kind)}, got {_shown(value)}")

    def _read_object(self, members: dict[str, object], kind: inspect.StructType, at: str) -> object:
        values: dict[str, object] = {}
        for field in kind.fields:
            place = f"{at}.{field.encode_name}"
            if field.encode_name not in members:
                if field.required:
                    raise InvalidValue(place, "required field is missing")
            elif field.required:
                values[field.name] = self.read(members[field.encode_name], field.type, place)
            elif (member := members[field.encode_name]) is not None:
                try:
                    values[field.name] = self.read(member, field.type, place)
                except InvalidValue as error:
                    self._report(error.path, f"{error.problem}; {place} left out")
        if issubclass(kind.cls, OpenArguments):
            known = {field.encode_name for field in kind.fields} - {"extra"}
            values["extra"] = {name: member for name, member in members.items() if name not in known}
        return kind.cls(**values)

    def _check_choice(self, value: str, kind: inspect.LiteralType, at: str) -> None:
        if value not in kind.values:
            self._report(at, f"expected one of {', '.join(map(repr, kind.values))}, got {value!r}")

    def _read_number(self, value: float, kind: inspect.IntType | inspect.FloatType, at: str) -> float:
        if isinstance(kind, inspect.IntType) and isinstance(value, float):
            if not value.is_integer():
                raise InvalidValue(at, f"expected an integer, got {value!r}")
            self._report(at, f"expected an integer, got {value!r}")
            value = int(value)
        if (kind.ge is not None and value < kind.ge) or (kind.le is not None and value > kind.le):
            self._report(at, f"expected {kind.ge} to {kind.le}, got {value!r}")
        return value

    def _report(self, at: str, problem: str) -> None:
        self.violations.append(Violation(at, problem))


_NAMES: Mapping[type[inspect.Type], str] = {
    inspect.StructType: "an object",
    inspect.DictType: "an object",
    inspect.ListType: "an array",
    inspect.StrType: "a string",
    inspect.LiteralType: "a string",
    inspect.BoolType: "a boolean",
    inspect.IntType: "an integer",
    inspect.FloatType: "a number",
    inspect.NoneType: "null",
}


def _fits(value: object, kind: inspect.Type) -> bool:
    match kind:
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.NoneType():
            return value is None
        case _:
            return isinstance(kind, inspect.AnyType)


def _expected(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_expected(one) for one in kind.types)
    return _NAMES[type(kind)]


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "an array"
        case _:
            return f"{value!r:.60}"
