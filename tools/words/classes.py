"""Public classes that share their name with another one: a name means one thing in the whole package."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from words.prose import python_files


def duplicates(package: Path) -> Iterator[str]:
    """Yield a sentence for each name that two public classes of a package have."""
    places = defaultdict(list)
    for file in python_files(package):
        for name in public_classes(file.read_text(encoding="utf-8")):
            places[name].append(str(file.relative_to(package.parent)))
    for name, files in sorted(places.items()):
        if len(files) > 1:
            yield f"{name} is the name of {len(files)} public classes: {', '.join(files)}"


def public_classes(code: str) -> Iterator[str]:
    """Yield the names of the public classes of a module, also of those that only a type checker sees."""
    pending: list[ast.stmt] = list(ast.parse(code).body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.If):
            pending[:0] = node.body
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
