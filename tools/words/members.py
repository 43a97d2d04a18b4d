"""Members of classes that prose names, `Class.member`: each of them exists."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from words.modules import in_camel_case
from words.prose import comments_of, docs_of, of_page, python_files

_ELSEWHERE = {"Thread"}
"""Classes of the standard library that prose names, with names that classes of ours have, too."""

_MEMBER = re.compile(r"`(?:[a-z_]\w*\.)*([A-Z]\w*)\.([a-z_]\w*)(?:\(\))?`")


@dataclass(slots=True)
class _Class:
    """The members of all classes of one name, and the names of their bases."""

    members: set[str] = field(default_factory=set)
    bases: set[str] = field(default_factory=set)


def missing_members(files: Iterable[Path], package: Path) -> Iterator[str]:
    """Yield a sentence for each `Class.member` in docstrings, comments and pages whose class has no such member."""
    classes = _classes_of(package)
    root = package.parent.parent
    for file in files:
        text = file.read_text(encoding="utf-8")
        passages = (*docs_of(text), *comments_of(text)) if file.suffix == ".py" else of_page(text)
        for passage in passages:
            for owner, member in _MEMBER.findall(passage.text):
                if owner in classes.keys() - _ELSEWHERE and not _has(classes, owner, member):
                    yield f"{file.relative_to(root)}:{passage.line}: {owner} has no {member}"


def _classes_of(package: Path) -> dict[str, _Class]:
    classes: dict[str, _Class] = {}
    for file in python_files(package):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                described = classes.setdefault(node.name, _Class())
                described.bases |= {_name(base) for base in node.bases}
                described.members |= set(_members_of(node))
    return classes


def _members_of(node: ast.ClassDef) -> Iterator[str]:
    for inner in ast.walk(node):
        match inner:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name):  # what a class is made with, which its prose may name
                yield name


def _has(classes: dict[str, _Class], owner: str, member: str) -> bool:
    """Whether a class has a member; of a class with a base from elsewhere that cannot be known, and it is said to."""
    described = classes.get(owner)
    if described is None:
        return owner not in {"Protocol", "NamedTuple", "Exception", "RuntimeError", "ValueError", "Enum", "Struct"}
    names = described.members | {in_camel_case(name) for name in described.members}
    return member in names or any(_has(classes, base, member) for base in described.bases)


def _name(base: ast.expr) -> str:
    while isinstance(base, ast.Subscript):
        base = base.value
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
