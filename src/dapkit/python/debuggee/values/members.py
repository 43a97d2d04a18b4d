"""Attributes of a value, found without asking the value.

They are read from where they are stored: `__dict__`, slots, and the fields that types of the standard library
have in C. A member that would run code, above all a property, is found by its name only, and read when the client asks.
Nothing here calls `dir`, `getattr` or anything else that a class can redefine.
"""

import sys
from collections.abc import Iterable
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

from ..interpreter.safe_types import (
    FROZENDICT,
    ClassSet,
    defined,
    entries,
    is_a,
    module_of,
    mro_of,
    names_in_class,
    namespace,
    once_per_class,
    plain_text,
    simple_name,
    stored,
)
from .row_types import (
    CLASSES,
    FUNCTIONS,
    GROUPS,
    HIDE,
    INLINE,
    PLAIN,
    PRIVATE,
    SPECIAL,
    Presentation,
    ValueRow,
    VariableGroup,
)
from .storage import Attribute, GlobalVariable

CHILDLESS: Final = ClassSet(
    *(int, float, complex, bool, str, bytes, bytearray, type(None), type(...), type(NotImplemented)),
    *(list, tuple, dict, set, frozenset, FunctionType, BuiltinFunctionType, MethodType),
    *FROZENDICT,
)
"""Types whose own objects have no attributes worth a look."""
_CALLABLES: Final = ClassSet(
    *(FunctionType, BuiltinFunctionType, MethodType, type(list.append), type(object.__init__)),
    *(staticmethod, classmethod),
)
_IN_C: Final = ClassSet(MemberDescriptorType, GetSetDescriptorType)
_PLAIN_FIELDS: Final = (("collections", "_tuplegetter"), ("_ctypes", "CField"))
_WARNING: Final = ("co_lnotab",)
"""Fields that give a warning to the program when they are read."""
_COMPUTED: Final = (
    *("__bound__", "__constraints__", "__default__", "__isabstractmethod__", "__parameters__", "__value__"),
    *(("__annotations__",) if sys.version_info >= (3, 14) else ()),  # PEP 649
)
"""Fields that run code of the program when they are read, as the text of an annotation or of `type X = ...`."""
_FIELDS_OF_ARRAYS: Final = ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides")
_FRAMES: Final = ((CoroutineType, "cr_frame"), (GeneratorType, "gi_frame"), (AsyncGeneratorType, "ag_frame"))
_AWAITED: Final = ("cr_await", "gi_yieldfrom", "ag_await")
KEYWORDS: Final = (
    *("False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del"),
    *("elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda"),
    *("nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"),
)


def members(value: object, path: str) -> list[ValueRow]:
    """Return the attributes of a value: plain ones first, then private, then special ones."""
    if type(value) in CHILDLESS:
        return []
    rows = _fields(value, path)
    if is_a(value, BaseException):
        for name in ("args", "__cause__", "__context__"):
            rows[name] = attribute_row(value, name, stored(value, name), path)
            rows[name].kind = "data"
    is_class = is_a(value, type)
    for key, member in list(namespace(value).items()):
        name = plain_text(key)
        if name and not (is_class and name in rows):
            # A key of a class of its own may not be found by its text.
            where = path if type(key) is str else ""
            row = attribute_row(value, name, member, where, in_class=is_class)
            if name in rows and type(defined(type(value), name)) is property:
                row.path = f"{path}.__dict__[{name!r}]" if path else ""  # the property hides it
            rows[name] = row
    if "_value_" in rows and "_name_" in rows and "value" in rows:  # a member of an Enum
        for public, private in (("name", "_name_"), ("value", "_value_")):
            rows[public] = ValueRow(public, rows[private].value, _dotted(path, public))
    return sorted(rows.values(), key=lambda row: rank(row.name))


def _fields(value: object, path: str) -> dict[str, ValueRow]:
    """Return the attributes that the classes of a value describe."""
    rows_by_name: dict[str, ValueRow] = {}
    for name, descriptor, is_lazy in _described(value):
        if name in _AWAITED and is_executed(value):
            continue  # 3.12 would take it from where there is nothing
        if is_lazy:
            rows_by_name[name] = lazy_row(value, name, path, descriptor)
            continue
        try:
            field_value = type(descriptor).__get__(descriptor, value, type(value))
        except Exception:  # noqa: S112 - a field that holds nothing now
            continue
        rows_by_name[name] = attribute_row(value, name, field_value, path)
    return rows_by_name


def is_executed(value: Any) -> bool:  # noqa: ANN401 - any value
    """Return whether a value is a coroutine or generator that is being executed."""
    frame = next((getattr(value, field) for kind, field in _FRAMES if type(value) is kind), None)
    return frame is not None and frame.f_back is not None


def rank(name: str) -> int:
    """Return whether a name is plain (0), private (1) or special (2)."""
    return 2 if name.startswith("__") and name.endswith("__") else 1 if name.startswith("_") else 0


def arranged(rows: list[ValueRow], part: str, presentation: Presentation) -> list[ValueRow]:
    """Return the rows of one group; for PLAIN the rows in no group, and a row for each group."""
    by_group: dict[str, list[ValueRow]] = {PLAIN: []}
    for row in rows:
        group = _group(row)
        way = presentation.get(group)
        if way != HIDE:
            by_group.setdefault(PLAIN if way == INLINE else group, []).append(row)
    if not by_group[PLAIN]:
        # An object is not opened only to find one more thing to open.
        by_group[PLAIN] = by_group.pop(PRIVATE, [])
        if not by_group[PLAIN] and len(by_group) == 2:
            return rows if part == PLAIN else []
    if part != PLAIN:
        return by_group.get(part, [])
    groups = [(name, by_group[name]) for name in GROUPS if name in by_group]
    return by_group[PLAIN] + [
        ValueRow(name, VariableGroup(name, len(grouped)), kind="virtual") for name, grouped in groups
    ]


def _group(row: ValueRow) -> str:
    if row.kind == "data":
        return PLAIN
    order = rank(row.name)
    if order == 2:
        return SPECIAL
    if not row.lazy:
        if is_function(row.value):
            return FUNCTIONS
        if is_a(row.value, type):
            return CLASSES
    return PRIVATE if order == 1 else PLAIN


def is_function(value: object) -> bool:
    """Return whether a value is a function or method of any kind."""
    return type(value) in _CALLABLES


@once_per_class
def _described(value: object) -> list[tuple[str, Any, bool]]:
    """Return the attributes that classes define: name, descriptor, and whether reading it runs code of the program."""
    kind = type(value)
    by_name: dict[str, tuple[str, Any, bool]] = {}
    properties = _property_types()
    numpy_scalar = namespace(sys.modules.get("numpy")).get("generic")
    for base in reversed(mro_of(kind)):
        names = names_in_class(base)
        if base is numpy_scalar:
            return []  # a number like any other
        for key, member in list(names.items()):
            name = plain_text(key)
            by_name.pop(name, None)  # overridden
            if rank(name) == 2:
                continue
            if type(member) in _IN_C:
                by_name[name] = (name, member, not is_trusted_field(base, names, name))
            elif type(member) in properties:
                by_name[name] = (name, member, True)
            elif (module_of(type(member)), simple_name(type(member))) in _PLAIN_FIELDS:
                by_name[name] = (name, member, False)
    return list(by_name.values())


def is_trusted_field(base: type, names: Any, name: str) -> bool:  # noqa: ANN401 - a mapping proxy
    """Return whether a field that is implemented in C may be read at once: it is a slot, or of the standard library."""
    if "__slots__" in names:
        return True
    if name in _COMPUTED:
        return False
    top = module_of(base).partition(".")[0]
    if top == "numpy":
        return name in _FIELDS_OF_ARRAYS
    return top in sys.stdlib_module_names and top != "_ctypes" and name not in _WARNING


def _property_types() -> ClassSet:
    names = {"functools": "cached_property", "types": "DynamicClassAttribute", "enum": "property"}
    return ClassSet(property, *_loaded(names))


def _loaded(names: dict[str, str]) -> list[type]:
    """Return the loaded ones of some classes, by module."""
    classes = [namespace(sys.modules.get(module)).get(name) for module, name in names.items()]
    return [kind for kind in classes if is_a(kind, type)]


def attribute_row(owner: object, name: str, value: object, path: str, *, in_class: bool = False) -> ValueRow:
    """Return the row of an attribute that a value has."""
    return ValueRow(name, value, _path_to(owner, name, value, path, in_class=in_class), stored=Attribute(owner, name))


def lazy_row(owner: object, name: str, path: str, declared: object) -> ValueRow:
    """Return the row of an attribute that is only read when a client asks for it."""
    return ValueRow(
        name, None, _dotted(path, name), stored=Attribute(owner, name), lazy=True, kind="property", declared=declared
    )


def _path_to(owner: object, name: str, value: object, path: str, *, in_class: bool) -> str:
    """Return the expression for an attribute: with a dot, unless that would give something else."""
    if not path:
        return ""
    dotted = _dotted(path, name)
    if in_class:
        plain = type(value) is FunctionType or defined(type(value), "__get__") is None
        return dotted if plain and dotted and name not in type.__dict__ else f"{path}.__dict__[{name!r}]"
    if not dotted:
        return f"{path}.__dict__[{name!r}]"
    own_way = defined(type(owner), "__getattribute__")
    if own_way is not object.__getattribute__ and type(owner) is not ModuleType:
        return f"object.__getattribute__({path}, {name!r})"
    return dotted


def _dotted(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name.isidentifier() and name not in KEYWORDS else ""


def namespace_rows(names: dict[str, object], shadowed: Iterable[str] = ()) -> list[ValueRow]:
    """Return the variables of a module; `shadowed` names need another expression than the name."""
    hidden = set(shadowed)
    is_fixed = is_a(names, *FROZENDICT)  # as those that `exec` was given
    rows = [
        ValueRow(
            name,
            value,
            f"globals()[{name!r}]" if name in hidden else name,
            stored=None if is_fixed else GlobalVariable(names, name),
        )
        for name, value in entries(names)
        if type(name) is str
    ]
    return sorted(rows, key=lambda row: rank(row.name))
