"""Functions of Python sources: where a test begins, and the first line of a function whose `def` is named."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dapkit.agent.calls.failures import InvalidArguments

type _Function = ast.FunctionDef | ast.AsyncFunctionDef


def place_of_test(node_id: str, folder: Path) -> str:
    """Return the place of a test's first line, as FILE:LINE.

    Args:
        node_id: as pytest takes it, such as `tests/test_a.py::TestA::test_b[1]`.
        folder: that the file is relative to.

    Raises:
        InvalidArguments: the file has no such test.

    """
    file, *names = node_id.partition("[")[0].split("::")
    path = folder / file
    scope: ast.AST | None = _tree(path)
    if scope is None:
        raise InvalidArguments(f"test: {path} cannot be read as Python")
    for name in names:
        scope = next((each for each in ast.iter_child_nodes(scope) if getattr(each, "name", None) == name), None)
        if scope is None:
            break
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        raise InvalidArguments(
            f"test: {path} has no test function {'::'.join(names) or '(none is named)'}",
            hint="Give the location of the function to trace beside the test.",
        )
    return f"{path}:{_first_statement(scope)}"


def first_line(item: Mapping[str, object], folders: Sequence[Path]) -> dict[str, object]:
    """Return a breakpoint on the first line of a function, if it is on the `def` of one; otherwise as it is."""
    file, line = item.get("file"), item.get("line")
    if isinstance(file, str) and isinstance(line, int) and file.endswith(".py"):
        path = next((folder / file for folder in folders if (folder / file).is_file()), None)
        tree = None if path is None else _tree(path)
        for function in () if tree is None else _functions(tree):
            if function.lineno <= line < _first_statement(function) and line <= function.body[0].lineno:
                return {**item, "line": _first_statement(function)}
    return dict(item)


def _tree(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _functions(tree: ast.Module) -> Iterator[_Function]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _first_statement(function: _Function) -> int:
    """Return the line of the first statement that is not the docstring."""
    has_more = len(function.body) > 1
    is_docstring = isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant)
    return function.body[1 if is_docstring and has_more else 0].lineno
