"""Which names a package makes public, where each is defined, and which page of the reference shows it.

Pages show them by a directive, which `docs/show_names.py` carries out:

    ```{public-names} dapkit.protocol
    :within: dapkit.protocol.generated.sources
    ```

`within` and `except` limit it to the names that are defined in a module or below it, or that are not.
"""

import ast
import functools
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    "dapkit.protocol",
    "dapkit.endpoint",
    "dapkit.transport",
    "dapkit.adapter",
    "dapkit.client",
    "dapkit.proxy",
)
"""The packages whose names are in the reference; the later ones may use those before them."""

SOURCES = Path(__file__).resolve().parent.parent / "src"
REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

_DIRECTIVE = re.compile(r"^```\{public-names\} (?P<package>\S+)\n(?P<options>(?::.*\n)*)```$", re.MULTILINE)
_OPTION = re.compile(r"^:(within|except): (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """Where a name gets its value: the module, the statement, and the string that describes it, if there is one."""

    module: str
    statement: ast.stmt
    description: str | None

    def is_within(self, module: str) -> bool:
        """Tell whether a module, or one below it, defines the name."""
        return f"{self.module}.".startswith(f"{module}.")


@functools.cache
def public_names(package: str) -> Mapping[str, Definition]:
    """Find the definitions of all names in `__all__`, in the order of their modules, and in each from the top."""
    names: list[str] = importlib.import_module(package).__all__
    definitions = {name: _definition(package, name) for name in names}
    modules = list(dict.fromkeys(definition.module for definition in definitions.values()))
    return dict(sorted(definitions.items(), key=lambda item: (modules.index(item[1].module), item[1].statement.lineno)))


def owner(module: str) -> str | None:
    """Return the package to which a module belongs."""
    return next((package for package in PACKAGES if f"{module}.".startswith(f"{package}.")), None)


def chosen(package: str, *, within: str = "", without: str = "") -> Mapping[str, Definition]:
    """Choose the names that a directive shows."""
    return {
        name: definition
        for name, definition in public_names(package).items()
        if (not within or definition.is_within(within)) and not (without and definition.is_within(without))
    }


def shown_on(text: str) -> Iterator[str]:
    """Find the names that a page shows, in full."""
    for directive in _DIRECTIVE.finditer(text):
        options = dict(_OPTION.findall(directive["options"]))
        names = chosen(directive["package"], within=options.get("within", ""), without=options.get("except", ""))
        yield from (f"{directive['package']}.{name}" for name in names)


def _definition(module: str, name: str) -> Definition:
    """Follow the imports of a name to the module that defines it."""
    below = _statements(module)
    for index, statement in enumerate(below):
        match statement:
            case ast.ImportFrom(module=str(source), names=aliases) if _imports(aliases, name, source):
                return _definition(source, name)
            case ast.ClassDef(name=defined) | ast.FunctionDef(name=defined) | ast.AsyncFunctionDef(name=defined) if (
                defined == name
            ):
                return Definition(module, statement, ast.get_docstring(statement))
            case (
                ast.Assign(targets=[ast.Name(id=defined)])
                | ast.AnnAssign(target=ast.Name(id=defined))
                | ast.TypeAlias(name=ast.Name(id=defined))
            ) if defined == name:
                return Definition(module, statement, _string(below[index + 1 :]))
            case _:
                pass
    raise LookupError(f"{module} does not define {name}")


def _imports(aliases: Iterable[ast.alias], name: str, source: str) -> bool:
    names = [alias.name for alias in aliases]
    return name in names or (names == ["*"] and name in importlib.import_module(source).__all__)


def _string(rest: list[ast.stmt]) -> str | None:
    match rest:
        case [ast.Expr(value=ast.Constant(value=str(text))), *_]:
            return text
        case _:
            return None


@functools.cache
def _statements(module: str) -> list[ast.stmt]:
    path = SOURCES.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8")).body
