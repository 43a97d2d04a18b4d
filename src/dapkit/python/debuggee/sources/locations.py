"""Where values and their names are defined: functions, classes, methods, modules, generators, properties."""

import _ast
import sys
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

from ..interpreter import limits
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import ClassSet, is_a, module_of, names_in_class, namespace, qualified_name

_OF_CODE: Final = {
    id(FunctionType): "__code__",
    id(GeneratorType): "gi_code",
    id(CoroutineType): "cr_code",
    id(AsyncGeneratorType): "ag_code",
}
_AROUND_FUNCTIONS: Final = ClassSet(MethodType, staticmethod, classmethod)


class Location:
    """Something defined in a source, for a client to ask about."""

    what = "location"

    def __init__(self, value: object) -> None:
        self.value = value


def is_located(value: object) -> bool:
    """Return whether a value may be defined in a source."""
    kind = type(value)
    if id(kind) in _OF_CODE or kind is property or kind in _AROUND_FUNCTIONS:
        return True
    if kind is ModuleType:
        return type(namespace(value).get("__file__")) is str
    return is_a(value, type) and bool(_file_of_class(value))


def locate(value: Any) -> tuple[str, int, CodeType | None]:  # noqa: ANN401 - see is_located
    """Return the file name, as code objects have it, and the line of a definition, and some code that is defined there.

    Raises:
        RequestRefused: if it cannot be found.

    """
    kind = type(value)
    if kind is property:
        value = next((part for part in (value.fget, value.fset, value.fdel) if part is not None), None)
    elif kind in _AROUND_FUNCTIONS:
        value = value.__func__
    kind = type(value)
    if id(kind) in _OF_CODE:
        code: CodeType = kind.__dict__[_OF_CODE[id(kind)]].__get__(value)
        return code.co_filename, code.co_firstlineno, code
    if kind is ModuleType:
        return str(namespace(value).get("__file__")), 1, None
    if is_a(value, type):
        return _class_location(value)
    raise RequestRefused("it is not defined in a source that could be shown")


def _file_of_class(value: type) -> str:
    loaded = sys.modules.get(module_of(value))
    file = namespace(loaded).get("__file__") if is_a(loaded, ModuleType) else None
    return file if type(file) is str and not file.endswith((".so", ".pyd")) else ""


def _class_location(value: type) -> tuple[str, int, CodeType | None]:
    """Find a class by the line it remembers (3.13), or by its name in the source."""
    file = _file_of_class(value)
    names = names_in_class(value)
    line = names.get("__firstlineno__")
    codes = [member.__code__ for member in names.values() if type(member) is FunctionType]
    code = codes[0] if codes and all(code.co_filename == codes[0].co_filename for code in codes) else None
    file = file if code is None else code.co_filename
    if type(line) is int:
        return file, line, code
    name = qualified_name(value)
    class_node = _find_class(file, name.split("."))
    if not class_node and codes:
        class_node = min(code.co_firstlineno for code in codes)
    if not class_node:
        raise RequestRefused(f"the definition of class {name} was not found in {file or 'any source'}")
    return file, class_node, code


def _find_class(file: str, path: list[str]) -> int:
    try:
        with open(file, "rb") as source:
            tree: Any = compile(
                source.read(limits.DEFINITION_BYTES), file, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True
            )
    except (OSError, SyntaxError, ValueError):
        return 0
    for name in path:
        if name != "<locals>":
            tree = next((node for node in _definitions(tree) if node.name == name), None)
            if tree is None:
                return 0
    return int(tree.lineno) if isinstance(tree, _ast.ClassDef) else 0


def _definitions(tree: Any) -> list[Any]:  # noqa: ANN401 - a node with a body
    """Return the classes and functions in a body, those under `if` and `try` included."""
    nodes: list[Any] = []
    todo = list(tree.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, _ast.ClassDef | _ast.FunctionDef | _ast.AsyncFunctionDef):
            nodes.append(node)
        else:
            for field in ("body", "orelse", "handlers", "finalbody"):
                todo += getattr(node, field, None) or []
    return nodes
