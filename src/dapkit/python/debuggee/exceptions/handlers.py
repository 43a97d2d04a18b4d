"""Whether a frame will catch an exception, read from its code.

Reads the exception tables and the first instructions of handlers (`except X:` loads X and
compares). A decision that needs running code (a `with`, a computed class) is MAYBE.
Exceptions that C code swallows silently (`hasattr`, iteration) are MAYBE as well.
"""

from opcode import opname
from types import CodeType, FrameType, ModuleType
from typing import Final, NamedTuple

from ..bytecode.instructions import Instruction, handlers_of, instructions
from ..interpreter import limits
from ..interpreter.frame_locals import locals_of
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import is_a, mro, mro_of, names_in_class
from ..sources.imported_modules import names_of

type Verdict = int
NO: Final = 0
MAYBE: Final = 1
YES: Final = 2

_NEUTRAL: Final = frozenset(
    ("PUSH_EXC_INFO", "NOP", "EXTENDED_ARG", "RESUME", "NOT_TAKEN", "TO_BOOL", "COPY", "POP_EXCEPT", "SWAP",
     "STORE_FAST", "DELETE_FAST", "STORE_NAME", "DELETE_NAME")
)  # fmt: skip
_LOCAL: Final = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF")
_IMPORTLIB: Final = "<frozen importlib._bootstrap>"
_IMPORTING: Final = frozenset(("IMPORT_NAME", "IMPORT_FROM", "LOAD_NAME", "LOAD_GLOBAL"))
"""The last two resolve lazy imports."""
_SWALLOWED: Final = (AttributeError, IndexError, KeyError, TypeError, StopIteration, StopAsyncIteration)


class LoadedName(NamedTuple):
    """A name that a handler loads, or an attribute of the module of that name, and its value."""

    is_local: bool
    name: str
    attribute: str | None
    value: object


class Finding(NamedTuple):
    """A verdict, and the names that it depends on; None if it depends on values that cannot be looked up so."""

    verdict: Verdict
    names: tuple[LoadedName, ...] | None = ()


class _Code:
    """A code object's handlers, read once, and its instructions, read where there is a handler to look at."""

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept, so that its id stays its own
        self.table = handlers_of(code)
        self.instructions: list[Instruction] = []
        self.index: dict[int, int] = {}

    def handler(self, offset: int) -> int | None:
        """Return the index of the first instruction of the handler around an instruction."""
        for start, end, target in self.table:
            if start <= offset < end:
                if not self.instructions:
                    self.instructions = instructions(self.code)
                    self.index = {offset: at for at, (offset, _, _) in enumerate(self.instructions)}
                return self.index.get(target)
        return None


_codes: dict[int, _Code] = {}


def _read(code: CodeType) -> _Code:
    decoded = _codes.get(id(code))
    if decoded is None:
        if len(_codes) >= limits.READ_CODES:
            _codes.clear()
        decoded = _codes[id(code)] = untrack(_Code(code))
    return decoded


def catches(frame: FrameType, exception: BaseException, offset: int) -> Finding:
    """Return whether a frame would catch an exception that reaches it at an instruction."""
    if not frame.f_code.co_exceptiontable:
        return Finding(NO)
    decoded = _read(frame.f_code)
    names = _Names(frame)
    for _ in range(100):  # a handler that raises again leads to the next one; never in circles, but be sure
        at = decoded.handler(offset)
        if at is None:
            return names.finding(NO)
        verdict, offset = _follow(decoded, at, names, exception)
        if offset < 0:
            return names.finding(verdict)
    return Finding(MAYBE)


class _Names:
    """The names that handlers of a frame load."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame
        self._loaded: list[LoadedName] = []
        self._all_known = True

    def finding(self, verdict: Verdict) -> Finding:
        """Return the finding that rests on the loaded names; MAYBE rests on nothing: it is never wrong."""
        return Finding(verdict, () if verdict == MAYBE else tuple(self._loaded) if self._all_known else None)

    def load(self, name: str, *, is_local: bool) -> object:
        """Return the value of a name."""
        value = locals_of(self._frame).get(name) if is_local else _global(self._frame, name)
        self._loaded.append(LoadedName(is_local, name, None, value))
        return value

    def attribute(self, owner: object, name: str) -> object:
        """Return an attribute of the last loaded value, without running code of the program."""
        last = self._loaded[-1] if self._loaded else None
        value = _stored(owner, name)
        if type(owner) is ModuleType and last is not None and last.value is owner and last.attribute is None:
            self._loaded[-1] = LoadedName(last.is_local, last.name, name, value)
        else:
            self._all_known = False
        return value


def _stored(owner: object, name: str) -> object:
    names = names_of(owner)
    if names is not None:
        return names.get(name)
    for kind in mro_of(owner) if is_a(owner, type) else mro(owner):
        members = names_in_class(kind)
        if name in members:
            return members[name]
    return None


def _follow(decoded: _Code, at: int, names: _Names, exception: BaseException) -> tuple[Verdict, int]:  # noqa: C901, PLR0911, PLR0912 - an interpreter: one case per instruction
    """Interpret the head of a handler: the verdict, or the instruction that raises again."""
    code = decoded.code
    stack: list[object] = []
    matched = False
    while at < len(decoded.instructions):
        offset, name, argument = decoded.instructions[at]
        at += 1
        if name in _NEUTRAL:
            continue
        match name:
            case "LOAD_GLOBAL" | "LOAD_NAME":
                loaded = code.co_names[argument >> 1 if name == "LOAD_GLOBAL" else argument]
                stack.append(names.load(loaded, is_local=False))
            case _ if name in _LOCAL:
                loaded = code._varname_from_oparg(argument)  # type: ignore[attr-defined]  # as dis does
                stack.append(names.load(loaded, is_local=True))
            case "LOAD_ATTR":
                top = stack.pop() if stack else None
                stack.append(names.attribute(top, code.co_names[argument >> 1]))
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
                target = offset + 2 + _caches(decoded, offset) + 2 * argument
                at = decoded.index.get(target, len(decoded.instructions))
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
                return _after_finally(decoded, at)
    return MAYBE, -1


def _after_finally(decoded: _Code, at: int) -> tuple[Verdict, int]:
    """Find the end of a `finally`: it runs something, then raises again, unless it returns.

    Where it compares classes, it is not a `finally` but an `except` with an expression to compute.
    """
    for offset, name, _ in decoded.instructions[at:]:
        if name in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH"):
            return MAYBE, -1
        if name == "RERAISE":
            return NO, offset
        if name in ("RETURN_VALUE", "RETURN_CONST"):
            return YES, -1
    return MAYBE, -1


def _caches(decoded: _Code, offset: int) -> int:
    """Return the bytes of inline cache after an instruction, up to the next one."""
    following = decoded.instructions[decoded.index[offset] + 1][0]
    return following - offset - 2


def _global(frame: FrameType, name: str) -> object:
    for names in (frame.f_globals, frame.f_builtins):
        if name in names:
            return names[name]
    return None


def _are_exceptions(classes: object) -> bool:
    if type(classes) is tuple:
        return all(map(_are_exceptions, classes))
    return is_a(classes, type) and any(kind is BaseException for kind in mro_of(classes))


def _matches(exception: BaseException, classes: object) -> bool:
    if type(classes) is tuple:
        return any(_matches(exception, kind) for kind in classes)
    return any(kind is classes for kind in mro(exception))


def is_swallowed_below(code: CodeType, exception: BaseException) -> bool:
    """Return whether C code that calls this code by itself may swallow the exception without a trace."""
    name = code.co_name
    return name.startswith("__") and name.endswith("__") and is_a(exception, *_SWALLOWED)


def is_import_of_c_code(frame: FrameType, exception: BaseException) -> bool:
    """Return whether C code imports in a frame, which then may do without the module that is not there."""
    code, caller = frame.f_code, frame.f_back
    if code.co_name != "_find_and_load" or code.co_filename != _IMPORTLIB or not is_a(exception, ImportError):
        return False
    if caller is None:
        return True
    return caller.f_code.co_filename != _IMPORTLIB and opname[caller.f_code.co_code[caller.f_lasti]] not in _IMPORTING


def swallows_from_below(code: CodeType, exception: BaseException) -> bool:
    """Return whether C code that this code calls may swallow an exception of something that it calls in turn."""
    return is_a(exception, AttributeError) and not {"hasattr", "getattr"}.isdisjoint(code.co_names)
