"""Code objects in which RAISE need not be watched, because a later event comes before anything is lost.

From CPython 3.15 on RAISE can be watched by code object. With the filter `uncaught` alone it matters only where the
program would do something between the RAISE and the next event that shows the exception, which is RERAISE at the end of
handlers that do not take it, or PY_UNWIND where no handler is around. It does nothing there

* where the handler is a `with`, a bare `except`, or an `except` with plain names of classes and no `as`, or only cleans
  up after one of these: handlers are left as soon as no name fits;
* where no handler is around; but a `for` loop ends its iterator first, and so closes a generator, which may close
  objects that the user wants to look at. So nothing may raise in a loop outside of handlers.

In all other code (`finally`, generators, coroutines, comprehensions with handlers) RAISE is needed.
"""

from types import CodeType
from typing import Final

from ..bytecode.instructions import Instruction, handlers_of, instructions

_SKIPPED: Final = frozenset(("NOP", "NOT_TAKEN", "EXTENDED_ARG"))
_NAMES: Final = frozenset(
    ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "BUILD_TUPLE")
)
_CLEANUP: Final = ["COPY", "POP_EXCEPT", "RERAISE"]
_SILENT: Final = frozenset(
    ("RESUME", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
     "STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "LOAD_CONST", "LOAD_SMALL_INT",
     "LOAD_COMMON_CONSTANT", "PUSH_NULL", "POP_TOP", "POP_ITER", "END_FOR", "COPY", "SWAP", "PUSH_EXC_INFO",
     "POP_EXCEPT", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "POP_JUMP_IF_TRUE",
     "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE", "IS_OP", "RETURN_VALUE", "RERAISE", *_SKIPPED)
)  # fmt: skip
"""Instructions that raise nothing by themselves; RERAISE has an event of its own."""
_LONGEST_HANDLER: Final = 100


def is_seen_later(code: CodeType) -> bool:
    """Return whether each exception of a code object is seen early enough without RAISE."""
    ranges = handlers_of(code)
    content = instructions(code)
    index = {offset: at for at, (offset, _, _) in enumerate(content)}
    for target in {target for _, _, target in ranges}:
        if target not in index or not _does_nothing(content, index, index[target]):
            return False
    return not any(
        name not in _SILENT and not any(start <= offset < end for start, end, _ in ranges)
        for offset, name in _inside_loops(content)
    )


def _next(content: list[Instruction], at: int) -> int:
    while at < len(content) and content[at][1] in _SKIPPED:
        at += 1
    return at


def _does_nothing(content: list[Instruction], index: dict[int, int], at: int) -> bool:
    """Return whether a handler does nothing that the program could notice, unless it takes the exception."""
    if [name for _, name, _ in content[at : at + len(_CLEANUP)]] == _CLEANUP:
        return True
    if content[at][1] != "PUSH_EXC_INFO":
        return False
    at += 1
    for _ in range(_LONGEST_HANDLER):
        at = _next(content, at)
        if at >= len(content):
            return False
        name = content[at][1]
        if name in ("WITH_EXCEPT_START", "POP_TOP", "RERAISE"):
            return True
        while name in _NAMES:
            at = _next(content, at + 1)
            name = content[at][1] if at < len(content) else ""
        jump = _next(content, at + 1)
        if name != "CHECK_EXC_MATCH" or jump >= len(content) or content[jump][1] != "POP_JUMP_IF_FALSE":
            return False
        at = index.get(_target(content, jump), len(content))
    return False


def _target(content: list[Instruction], at: int) -> int:
    """Return where a jump forward leads: it counts from the instruction behind it, inline caches included."""
    following = content[at + 1][0] if at + 1 < len(content) else content[at][0] + 2
    return following + 2 * content[at][2]


def _inside_loops(content: list[Instruction]) -> list[tuple[int, str]]:
    """Return offset and name of the instructions that run while a `for` loop has its iterator on the stack."""
    inside: list[tuple[int, str]] = []
    end = -1
    for at, (offset, name, _) in enumerate(content):
        if name == "FOR_ITER":
            end = max(end, _target(content, at))
        elif offset < end:
            inside.append((offset, name))
    return inside
