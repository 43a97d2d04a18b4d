"""Fitting a JSON value to a type field by field, when the fast decoder has refused it.

In strict mode this finds the first fault and describes it precisely. In lenient mode it makes the best of the value and
reports every fault. The schema decides which values are faults; this module knows the kinds of type that the generated
classes use, and accepts a value of any other kind.
"""

from collections.abc import Callable, Mapping

from msgspec import inspect, structs

from dapkit.protocol.base import OpenArguments
from dapkit.protocol.errors import InvalidValue

_NAMES: Mapping[type[inspect.Type], str] = {
    inspect.StructType: "an object",
    inspect.DictType: "an object",
    inspect.ListType: "an array",
    inspect.StrType: "a string",
    inspect.LiteralType: "a string",
    inspect.BoolType: "true or false",
    inspect.IntType: "an integer",
    inspect.FloatType: "a number",
    inspect.NoneType: "null",
}
_FITS: Mapping[type[inspect.Type], type] = {
    inspect.StrType: str,
    inspect.BoolType: bool,
    inspect.NoneType: type(None),
    inspect.StructType: dict,
    inspect.DictType: dict,
    inspect.ListType: list,
    inspect.LiteralType: str,
}


def first_fault(value: object, kind: object, at: str) -> InvalidValue | None:
    """Find the first place where a JSON value does not fit a type, if it is of a kind known here."""

    def raise_fault(problem: str, path: str) -> None:
        raise InvalidValue(problem, path=path)

    try:
        _Fitting(raise_fault, strict=True).fit(value, inspect.type_info(kind), at)
    except InvalidValue as fault:
        return fault
    return None


def fit_leniently(value: object, kind: object, at: str, report: Callable[[str, str], None]) -> object:
    """Make a value of a type from a JSON value as far as it goes; `report(problem, path)` each fault.

    Raises:
        InvalidValue: the fault is not in an optional field, and cannot be kept.

    """
    return _Fitting(report, strict=False).fit(value, inspect.type_info(kind), at)


class _Fitting:
    """One walk through a value and its type. A fault that can be lived with goes to `report`."""

    def __init__(self, report: Callable[[str, str], None], *, strict: bool) -> None:
        self._report = report
        self._strict = strict

    def fit(self, value: object, kind: inspect.Type, at: str) -> object:
        """Return the value as the kind asks for; raise InvalidValue if it cannot be used."""
        match kind, value:
            case inspect.UnionType(), _:
                return self._fit_union(value, kind, at)
            case inspect.StructType(), dict():
                return self._fit_object(value, kind, at)
            case inspect.ListType(), list():
                return [self.fit(item, kind.item_type, f"{at}[{index}]") for index, item in enumerate(value)]
            case inspect.DictType(), dict():
                return {key: self.fit(item, kind.value_type, f'{at}["{key}"]') for key, item in value.items()}
            case inspect.LiteralType(), str():
                self._check_choice(value, kind, at)
            case ((inspect.IntType() | inspect.FloatType()), _):
                return self._fit_number(value, kind, at)
            case _ if not isinstance(value, _FITS.get(type(kind), object)):
                raise InvalidValue(f"expected {_expected(kind)}, got {_shown(value)}", path=at)
        return value

    def _fit_union(self, value: object, kind: inspect.UnionType, at: str) -> object:
        """Fit to the alternative that suits; the schema's unions are told apart by JSON type."""
        others = [choice for choice in kind.types if not isinstance(choice, inspect.NoneType)]
        if value is None and len(others) < len(kind.types):
            return None
        if len(others) == 1:
            return self.fit(value, others[0], at)
        suited = next((choice for choice in others if _suits(value, choice)), None)
        if suited is None:
            raise InvalidValue(f"expected {_expected(kind)}, got {_shown(value)}", path=at)
        return self.fit(value, suited, at)

    def _fit_object(self, members: dict[str, object], kind: inspect.StructType, at: str) -> object:
        values: dict[str, object] = {}
        for field in kind.fields:
            place = f"{at}.{field.encode_name}"
            member = members.get(field.encode_name)
            if field.required:
                if field.encode_name not in members:
                    raise InvalidValue("required field is missing", path=place)
                values[field.name] = self.fit(member, field.type, place)
            elif member is not None:
                try:
                    values[field.name] = self.fit(member, field.type, place)
                except InvalidValue as fault:
                    if self._strict:
                        raise
                    self._report(f"{fault.problem}; {place} is left out", fault.path)
        if issubclass(kind.cls, OpenArguments):
            values["extra"] = other_members(kind.cls, members)
        try:
            return kind.cls(**values)
        except (TypeError, ValueError) as error:  # which msgspec treats as a wrong value in `__post_init__`
            raise InvalidValue(str(error), path=at) from error

    def _check_choice(self, value: str, kind: inspect.LiteralType, at: str) -> None:
        if value not in kind.values:
            self._report(f"expected one of {', '.join(map(repr, kind.values))}, got {value!r:.60}", at)

    def _fit_number(self, value: object, kind: inspect.IntType | inspect.FloatType, at: str) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidValue(f"expected {_expected(kind)}, got {_shown(value)}", path=at)
        if isinstance(value, float) and isinstance(kind, inspect.IntType):
            if not value.is_integer():
                raise InvalidValue(f"expected {_expected(kind)}, got {_shown(value)}", path=at)
            self._report(f"expected {_expected(kind)}, got {_shown(value)}", at)
            value = int(value)
        if (kind.ge is not None and value < kind.ge) or (kind.le is not None and value > kind.le):
            self._report(f"expected {_expected(kind)} from {kind.ge} to {kind.le}, got {_shown(value)}", at)
        return value


def other_members(kind: type[OpenArguments[object]], members: Mapping[str, object]) -> dict[str, object]:
    """Take the members of an open object that are not fields of its class."""
    own = {field.encode_name for field in structs.fields(kind)} - {"extra"}
    return {name: member for name, member in members.items() if name not in own}


def _suits(value: object, kind: inspect.Type) -> bool:
    match kind:
        case inspect.LiteralType():
            return value in kind.values
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case _:
            return isinstance(value, _FITS.get(type(kind), object))


def _expected(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.UnionType):
        return " or ".join(dict.fromkeys(_expected(choice) for choice in kind.types))
    return _NAMES.get(type(kind), "another value")


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return "an object"
        case list():
            return "an array"
        case _:
            return f"{value!r:.60}"
