"""Modules that docstrings and comments name: each of them exists.

A dotted name from `dapkit` on is a module, maybe with a name that it defines; on a page it may be a setting or a
command of the extension for VS Code. A path of two or more parts is the end of the path of a file or folder. A single
word in backticks is anything that the code has a name for: a module, a function, a parameter, a word of the protocol.
What has been renamed is none of these any more.
"""

import ast
import builtins
import keyword
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from words.prose import Passage, comments_of, docs_of, of_page, python_files, texts_of, tokens_of

_DOTTED = re.compile(r"`(dapkit(?:\.[A-Za-z_]\w*)+)")
_PATH = re.compile(r"(?<![\w./~$*{<-])((?:[a-z_]\w*/)+(?:[a-z_]\w*\.(?:py|c|toml)))(?![\w/])")
_FOLDER = re.compile(r"`((?:[a-z_]\w*/)+)`")
_WORD = re.compile(r"(?<!`)`([A-Za-z]\w*)`(?!`)")

_EXAMPLES = ("tests/",)
"""Where paths of examples begin."""

_ELSEWHERE = {"export", "gather", "nohup", "su"}
"""Commands of shells, and a function of asyncio."""


def missing_modules(package: Path) -> Iterator[str]:
    """Yield a sentence for each name in the prose of a package that stands for nothing."""
    known = _known(package)
    for file in python_files(package):
        code = file.read_text(encoding="utf-8")
        for passage in (*docs_of(code), *comments_of(code)):
            where = f"{file.relative_to(package.parent.parent)}:{passage.line}"
            yield from (f"{where}: there is no {name}" for name in _missing_in(passage, package, known))


def missing_in_page(page: Path, package: Path) -> Iterator[str]:
    """Yield a sentence for each dotted name on a page that stands for nothing."""
    for passage in of_page(page.read_text(encoding="utf-8")):
        for name in _DOTTED.findall(passage.text):
            if not (exists(name, package) or name in _of_extension(package.parent.parent)):
                yield f"{page.name}:{passage.line}: there is no {name}"


def _missing_in(passage: Passage, package: Path, known: frozenset[str]) -> Iterator[str]:
    yield from (name for name in _DOTTED.findall(passage.text) if not exists(name, package))
    for path in (*_PATH.findall(passage.text), *_FOLDER.findall(passage.text)):
        if not path.startswith(_EXAMPLES) and not _is_there(path, package):
            yield path
    yield from (word for word in _WORD.findall(passage.text) if word not in known and not word.isupper())


def _known(package: Path) -> frozenset[str]:
    """Return every name that the package has, in Python, in C and in data; and those of Python itself."""
    known = {*dir(builtins), *keyword.kwlist, *sys.stdlib_module_names, *_ELSEWHERE}
    for file in package.rglob("*"):
        known |= {file.stem, file.name}
        if file.suffix == ".py":
            code = file.read_text(encoding="utf-8")
            known |= {token.string for token in tokens_of(code) if token.type == tokenize.NAME}
            known |= {passage.text for passage in texts_of(code) if len(passage.text) < 80}
        elif file.suffix in {".c", ".h", ".toml"}:
            known |= set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    return frozenset(known | {in_camel_case(name) for name in known})


def in_camel_case(name: str) -> str:
    """Return a name as it is on the wire: `linesStartAt1` of `lines_start_at1`."""
    first, *rest = name.split("_")
    return "".join([first, *(part.capitalize() for part in rest)])


def exists(dotted: str, package: Path) -> bool:
    """Whether a dotted name is a module of the package, or something that one of its modules defines or imports."""
    place, names = package, dotted.split(".")[1:]
    while names and (place / names[0]).is_dir():
        place /= names.pop(0)
    modules = [place / f"{name}{suffix}" for name in names[:1] for suffix in (".py", ".pyi")]
    module = next((file for file in modules if file.is_file()), None)
    names = names if module is None else names[1:]
    return not names or names[0] in _names_of(module or place / "__init__.py")


@cache
def _names_of(file: Path) -> frozenset[str]:
    """Return what a module defines or imports at its top, and what its `__all__` or `__getattr__` offers."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if file.is_file() else ():
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Import() | ast.ImportFrom():
                names |= {alias.asname or alias.name for alias in node.names}
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case ast.Constant(value=str()):
                names.add(str(node.value))
    return frozenset(names)


@cache
def _of_extension(root: Path) -> frozenset[str]:
    """Return the settings and commands of the extension for VS Code."""
    file = root / "editors/vscode/package.json"
    return frozenset(re.findall(r'"(dapkit\.\w+)"', file.read_text(encoding="utf-8")) if file.is_file() else ())


def _is_there(path: str, package: Path) -> bool:
    """Whether a path is the end of that of a file or folder of the project."""
    root = package.parent.parent
    if (root / path).exists():
        return True
    return any(str(found).endswith(f"/{path.rstrip('/')}") for found in _paths(package))


@cache
def _paths(package: Path) -> tuple[Path, ...]:
    return (package, *package.rglob("*"))
