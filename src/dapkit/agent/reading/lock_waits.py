"""Which thread waits for which lock, and which has it: by the locks themselves, and by the sources of the calls."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from dapkit.agent.results.stacks import LockWait
from dapkit.protocol.locks import LockPlace, TakenLock

type ReadLines = Callable[[Path], list[str] | None]


class _Sources:
    """Syntax trees of source files, each read once."""

    def __init__(self, read_lines: ReadLines) -> None:
        self._read = read_lines
        self._trees: dict[str, ast.Module | None] = {}

    def tree(self, path: str) -> ast.Module | None:
        if path not in self._trees:
            lines = self._read(Path(path))
            try:
                self._trees[path] = None if lines is None else ast.parse("\n".join(lines))
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = None
        return self._trees[path]


def lock_waits(
    locks: Sequence[TakenLock], names: Mapping[int, str], read_lines: ReadLines, *, is_own: Callable[[str], bool]
) -> list[LockWait]:
    """Return the locks for which threads wait, or whose owner has ended or knows nothing of it.

    A lock inside a library, such as the one on which a condition waits, counts only if it is known who has it.

    Args:
        locks: those that are taken.
        names: of the threads, by id.
        read_lines: returns the lines of a source file; None if it cannot be read.
        is_own: whether a source file is the user's own code.

    """
    sources = _Sources(read_lines)
    rows = []
    for lock in locks:
        waiters = {place.thread_id: place for place in lock.places if _waits(sources.tree(place.path), place)}
        holders = [place.thread_id for place in lock.places if _has(sources.tree(place.path), place)]
        holder = lock.owner_id
        if holder is None and lock.ended_owner is None:
            holder = next((each for each in holders if each not in waiters), None)
        waiters.pop(-1 if holder is None else holder, None)
        is_strange = lock.owner_id is not None and all(place.thread_id != lock.owner_id for place in lock.places)
        is_known = holder is not None or lock.ended_owner is not None
        if not (waiters or is_strange or lock.ended_owner is not None):
            continue
        if not is_known and not any(is_own(place.path) for place in waiters.values()):
            continue
        expressions = [place.expression for place in waiters.values()] or [place.expression for place in lock.places]
        rows.append(
            LockWait(
                lock=expressions[0] if expressions else "?",
                kind=lock.kind,
                waiting=[f"{_name(names, each)} at {place.path}:{place.line}" for each, place in waiters.items()],
                holder=None if holder is None else _name(names, holder),
                ended_owner=lock.ended_owner,
                is_strange=is_strange,
            )
        )
    return rows


def circle(waits: Sequence[LockWait]) -> list[str] | None:
    """Return the names of threads of which each waits for a lock that the next has, and the last for the first's."""
    waits_for = {name.partition(" at ")[0]: wait.holder for wait in waits if wait.holder for name in wait.waiting}
    for first in waits_for:
        way = [first]
        while (following := waits_for.get(way[-1])) is not None and following not in way:
            way.append(following)
        if following == first:
            return way
    return None


def _name(names: Mapping[int, str], thread: int) -> str:
    return names.get(thread, f"thread {thread}")


def _waits(tree: ast.Module | None, place: LockPlace) -> bool:
    """Whether a call stands where it takes a lock, and waits for it."""
    for node in () if tree is None else ast.walk(tree):
        match node:
            case ast.With() if node.lineno <= place.line < node.body[0].lineno:
                if any(ast.unparse(item.context_expr) == place.expression for item in node.items):
                    return True
            case ast.Call(func=ast.Attribute(attr="acquire", value=lock)) if _is_at(node, place.line):
                if ast.unparse(lock) == place.expression and not _may_fail(node):
                    return True
    return False


def _has(tree: ast.Module | None, place: LockPlace) -> bool:
    """Whether a call stands inside the block that has taken a lock."""
    return any(
        isinstance(node, ast.With)
        and node.body[0].lineno <= place.line <= (node.end_lineno or node.lineno)
        and any(ast.unparse(item.context_expr) == place.expression for item in node.items)
        for node in (() if tree is None else ast.walk(tree))
    )


def _may_fail(call: ast.Call) -> bool:
    """Whether a call of `acquire` does not wait for ever."""
    return any(isinstance(each, ast.Constant) and each.value is False for each in _arguments(call))


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (each.value for each in call.keywords)


def _is_at(node: ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
