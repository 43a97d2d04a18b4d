"""Locks and threads for which threads wait, and their holders, as far as the source shows.

A thread whose newest call stands at `with LOCK:` or `LOCK.acquire()` waits for that; one that is inside the block of
`with LOCK:` has it. Two such expressions mean the same lock if they are the same names from the same object on, or the
same global names of one file. Where the variables of a call were not read, an expression that begins with a local name
means a lock of that thread only: who has it is not known then. A lock of a library is of interest only where a thread
has it. Blocks on which no thread waits are not examined, since most blocks of `with` have nothing to do with locks. A
thread that is in `Thread.join` waits for the one whose calls began with that object.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dapkit.python.stacks.threads import DumpedThread, Frame

type Read = Callable[[str], str | None]
"""Returns the text of a source file as the program sees it; None if it cannot be read."""

type _Identity = tuple[int | str, str, int]
"""Of a lock: the object or file that its expression begins with, the expression, and 0.

A local name of which the object is not known has the number of the thread instead of 0.
"""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something that a thread waits for.

    Attributes:
        thread: that waits.
        expression: the awaited object, as the source writes it; empty for the end of a thread.
        frame: where.
        holders: threads that have it, as far as that is known.

    """

    thread: DumpedThread
    expression: str
    frame: Frame
    holders: tuple[DumpedThread, ...]


class _Sources:
    """Syntax trees of source files, each read once."""

    def __init__(self, read_file: Read) -> None:
        self._read = read_file
        self._trees: dict[str, ast.AST | None] = {}

    def tree(self, file: str) -> ast.AST | None:
        if file not in self._trees:
            text = self._read(file)
            try:
                self._trees[file] = None if text is None else ast.parse(text)
            except (SyntaxError, ValueError, RecursionError):
                self._trees[file] = None
        return self._trees[file]

    def nodes_at(self, frame: Frame) -> Iterator[ast.AST]:
        """Yield the nodes that have the line of a call."""
        tree = self.tree(frame.file) if frame.line else None
        todo: list[ast.AST] = [] if tree is None else [tree]
        while todo:
            node = todo.pop()
            yield node
            todo += [each for each in ast.iter_child_nodes(node) if _has_line(each, frame.line)]


def waits_of(threads: Sequence[DumpedThread], read_file: Read) -> list[Wait]:
    """Return the waits of threads."""
    sources = _Sources(read_file)
    sought = {
        index: (_identity(sources, thread, thread.frames[0], expression), ast.unparse(expression))
        for index, thread in enumerate(threads)
        if thread.frames and not thread.is_running and (expression := _awaited(sources, thread.frames[0])) is not None
    }
    identities = {identity for identity, _ in sought.values()}
    holders: dict[_Identity, list[DumpedThread]] = {}
    for thread in threads if identities else ():
        for identity in {*_held(sources, thread, identities)}:
            holders.setdefault(identity, []).append(thread)
    locks = [
        Wait(
            threads[index],
            text,
            threads[index].frames[0],
            tuple(thread for thread in holders.get(identity, ()) if thread is not threads[index]),
        )
        for index, (identity, text) in sought.items()
    ]
    return [*(wait for wait in locks if wait.frame.is_own or wait.holders), *_joins(threads)]


def circle_in(waits: Sequence[Wait]) -> list[Wait]:
    """Return waits of which each is for the thread of the next, and the last for the first."""
    of_thread = {wait.thread.number: wait for wait in waits}
    for first in waits:
        way: list[Wait] = []
        wait: Wait | None = first
        while wait is not None and wait not in way:
            way.append(wait)
            wait = of_thread.get(wait.holders[0].number) if wait.holders else None
        if wait is first:
            return way
    return []


def _awaited(sources: _Sources, frame: Frame) -> ast.expr | None:
    """Return the lock that a call waits for where it stands."""
    for node in sources.nodes_at(frame):
        match node:
            case ast.With(items=items):
                for item in items:
                    if _is_at(item.context_expr, frame.line) and _root(item.context_expr) is not None:
                        return item.context_expr
            case ast.Call(func=ast.Attribute(attr="acquire", value=lock)):
                if _is_at(node, frame.line) and _root(lock) is not None:
                    return lock
    return None


def _held(sources: _Sources, thread: DumpedThread, identities: set[_Identity]) -> Iterator[_Identity]:
    """Yield the locks that a thread has taken on the way to where it is."""
    for frame in thread.frames:
        for node in sources.nodes_at(frame):
            if isinstance(node, ast.With) and _is_inside(node, frame.line):
                for item in node.items:
                    if _root(item.context_expr) is not None:
                        identity = _identity(sources, thread, frame, item.context_expr)
                        if identity in identities:
                            yield identity


def _joins(threads: Sequence[DumpedThread]) -> Iterator[Wait]:
    for thread in threads:
        for frame in thread.frames:
            if frame.function == "Thread.join" and "self" in frame.roots:
                ended = [other for other in threads if _begins_with(other, frame.roots["self"])]
                at = next((caller for caller in thread.frames if caller.is_own), frame)
                yield Wait(thread, "", at, tuple(ended))
                break


def _begins_with(thread: DumpedThread, address: int) -> bool:
    return any(
        frame.function.startswith("Thread._boot") and frame.roots.get("self") == address for frame in thread.frames
    )


def _is_at(node: ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _is_inside(node: ast.With, line: int) -> bool:
    return node.body[0].lineno <= line <= (node.end_lineno or node.lineno)


def _root(expression: ast.expr) -> str | None:
    """Return the name that a chain of attributes begins with; None for anything else."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None


def _identity(sources: _Sources, thread: DumpedThread, frame: Frame, expression: ast.expr) -> _Identity:
    root, text = _root(expression) or "", ast.unparse(expression)
    if root in frame.roots:
        return frame.roots[root], text.removeprefix(root), 0
    is_unknown = not frame.has_roots and _is_local(sources, frame, root)
    return frame.file, text, thread.number if is_unknown else 0


def _is_local(sources: _Sources, frame: Frame, name: str) -> bool:
    """Return whether a name is a variable, or a parameter, of a function around the line of a call."""
    for node in sources.nodes_at(frame):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = list(ast.walk(node))
            if any(isinstance(part, ast.Global) and name in part.names for part in inside):
                return False
            for part in inside:
                if isinstance(part, ast.arg) and part.arg == name:
                    return True
                if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
                    return True
    return False


def _has_line(node: ast.AST, line: int) -> bool:
    """Whether a line is one of a node; of nodes without lines, such as the cases of `match`, that is not known."""
    first = getattr(node, "lineno", line)
    return first <= line <= (getattr(node, "end_lineno", None) or line)
