"""Whether an exception will be caught, decided at the raise from the handlers on the stack.

Reads the exception tables and the first instructions of handlers (`except X:` loads X and
compares). What only running code could decide (a `with`, a computed class) is MAYBE.
Exceptions that C code swallows silently (`hasattr`, iteration) are MAYBE as well.
"""

from types import CodeType, FrameType
from typing import Final

from .. import limits
from ..bytecode.exception_table import handlers_of
from ..bytecode.instructions import instructions
from ..classes import is_a, mro

type Verdict = int
NO: Final = 0
MAYBE: Final = 1
YES: Final = 2

_NEUTRAL: Final = frozenset(
    ("PUSH_EXC_INFO", "NOP", "EXTENDED_ARG", "RESUME", "NOT_TAKEN", "TO_BOOL", "COPY", "POP_EXCEPT", "SWAP",
     "STORE_FAST", "DELETE_FAST", "STORE_NAME", "DELETE_NAME")
)  # fmt: skip
_SWALLOWED: Final = (AttributeError, IndexError, KeyError, TypeError, StopIteration, StopAsyncIteration)


class _Code:
    """A code object's handlers and instructions, read once."""

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept, so that its id stays its own
        self.table = handlers_of(code)
        self.instructions = instructions(code)
        self.index = {offset: at for at, (offset, _, _) in enumerate(self.instructions)}

    def handler(self, offset: int) -> int | None:
        """Return the index of the first instruction of the handler around an instruction."""
        for start, end, target in self.table:
            if start <= offset < end:
                return self.index.get(target)
        return None


_codes: dict[int, _Code] = {}


def _read(code: CodeType) -> _Code:
    known = _codes.get(id(code))
    if known is None:
        if len(_codes) >= limits.READ_CODES:
            _codes.clear()
        known = _codes[id(code)] = _Code(code)
    return known


def catches(frame: FrameType, exception: BaseException, offset: int) -> Verdict:
    """Say whether a frame would catch an exception that reaches it at an instruction."""
    read = _read(frame.f_code)
    for _ in range(100):  # a handler that raises again leads to the next one; never in circles, but be sure
        at = read.handler(offset)
        if at is None:
            return NO
        verdict, offset = _follow(read, at, frame, exception)
        if offset < 0:
            return verdict
    return MAYBE


def _follow(read: _Code, at: int, frame: FrameType, exception: BaseException) -> tuple[Verdict, int]:  # noqa: C901, PLR0911, PLR0912 - an interpreter: one case per instruction
    """Interpret the head of a handler: the verdict, or the instruction that raises again."""
    code = read.code
    stack: list[object] = []
    matched = False
    while at < len(read.instructions):
        offset, name, argument = read.instructions[at]
        at += 1
        if name in _NEUTRAL:
            continue
        match name:
            case "LOAD_GLOBAL" | "LOAD_NAME":
                stack.append(_name(frame, code.co_names[argument >> 1 if name == "LOAD_GLOBAL" else argument]))
            case "LOAD_FAST" | "LOAD_FAST_CHECK" | "LOAD_FAST_BORROW" | "LOAD_DEREF":
                stack.append(frame.f_locals.get(code._varname_from_oparg(argument)))  # type: ignore[attr-defined]  # as dis does
            case "LOAD_ATTR":
                held = stack.pop() if stack else None
                stack.append(getattr(held, "__dict__", {}).get(code.co_names[argument >> 1]))
            case "BUILD_TUPLE":
                parts = tuple(stack[-argument:]) if argument else ()
                del stack[-argument:]
                stack.append(parts)
            case "CHECK_EXC_MATCH":
                classes = stack.pop() if stack else None
                if not _are_exceptions(classes):
                    return MAYBE, -1
                matched = _matches(exception, classes)
            case "POP_JUMP_IF_FALSE" if not matched:
                target = offset + 2 + _caches(read, offset) + 2 * argument
                at = read.index.get(target, len(read.instructions))
            case "POP_JUMP_IF_FALSE" | "POP_TOP":
                return YES, -1
            case "RERAISE":
                return NO, offset
            case "END_ASYNC_FOR" | "CLEANUP_THROW":
                ends = StopAsyncIteration if name == "END_ASYNC_FOR" else StopIteration
                return (YES, -1) if is_a(exception, ends) else (NO, offset)
            case "WITH_EXCEPT_START" | "CHECK_EG_MATCH":
                return MAYBE, -1
            case _:
                return _after_finally(read, at)
    return MAYBE, -1


def _after_finally(read: _Code, at: int) -> tuple[Verdict, int]:
    """Find the end of a `finally`: it runs something, then raises again, unless it returns.

    Where it compares classes, it is not a `finally` but an `except` with an expression to compute.
    """
    for offset, name, _ in read.instructions[at:]:
        if name in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH"):
            return MAYBE, -1
        if name == "RERAISE":
            return NO, offset
        if name in ("RETURN_VALUE", "RETURN_CONST"):
            return YES, -1
    return MAYBE, -1


def _caches(read: _Code, offset: int) -> int:
    """Return the bytes of inline cache after an instruction: what lies before the next one."""
    following = read.instructions[read.index[offset] + 1][0]
    return following - offset - 2


def _name(frame: FrameType, name: str) -> object:
    for names in (frame.f_locals if frame.f_code.co_name == "<module>" else {}, frame.f_globals, frame.f_builtins):
        if name in names:
            return names[name]
    return None


def _are_exceptions(classes: object) -> bool:
    if isinstance(classes, tuple):
        return all(map(_are_exceptions, classes))
    return isinstance(classes, type) and issubclass(classes, BaseException)


def _matches(exception: BaseException, classes: object) -> bool:
    if isinstance(classes, tuple):
        return any(_matches(exception, kind) for kind in classes)
    return isinstance(classes, type) and classes in mro(exception)


def swallowed_below(frame: FrameType, exception: BaseException) -> bool:
    """Say whether C code that called this frame may swallow the exception without a trace."""
    if not is_a(exception, *_SWALLOWED):
        return False
    name = frame.f_code.co_name
    if name.startswith("__") and name.endswith("__"):
        return True
    caller = frame.f_back
    return (
        is_a(exception, AttributeError)
        and caller is not None
        and not {"hasattr", "getattr"}.isdisjoint(caller.f_code.co_names)
    )
