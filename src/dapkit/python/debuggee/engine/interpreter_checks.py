"""The engine's assumptions about CPython that may change without notice, each with a check.

All checks run whenever the engine is loaded, which takes about a millisecond. If one fails, the debugger refuses
to start and names it. On a version newer than NEWEST_TESTED, where all of them pass, it starts with one sentence.

Two more kinds of internals are checked where they are used, since something else serves if they differ:

    native/calls.c, frames.c, starts.c   fields of the thread state and of functions in C, found by experiment;
                                         Python does the same, or it is not done (`native.HAS_ROOM` and its kin)
    native/time_travel/                  free lists, opcodes of RESUME, counters of the collector, by version: time
                                         travel refuses untested versions (`time_travel.replay_backend`)
"""

import sys
from collections.abc import Callable, Generator
from opcode import opmap
from types import FrameType
from typing import Any, Final, NamedTuple

from ..connection.framing import body_of
from ..connection.json_reader import read_json
from ..data_breakpoints.name_offsets import reads_of_global, sites_of_variable
from ..exceptions.handlers import MAYBE, NO, YES, catches
from ..execution.arguments import ParameterStores
from ..interpreter.hidden_frames import hidden_frame
from ..sources.compilation import compiled, warning_filters
from ..sources.files import body_offset, resume_offset

NEWEST_TESTED: Final = (3, 15)
"""The newest version of Python that the tests keep running."""

_VERSION: Final = ".".join(map(str, sys.version_info[:2]))
_NEWEST: Final = ".".join(map(str, NEWEST_TESTED))

_KNOWN_OPCODES: Final = frozenset((
    "CALL", "CALL_FUNCTION_EX", "CALL_INTRINSIC_1", "CALL_INTRINSIC_2", "CALL_KW", "CHECK_EG_MATCH", "CHECK_EXC_MATCH",
    "COPY_FREE_VARS", "DELETE_DEREF", "DELETE_FAST", "KW_NAMES", "LOAD_CLASSDEREF", "LOAD_CLOSURE", "LOAD_DEREF",
    "LOAD_FAST", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_FAST_CHECK",
    "LOAD_FAST_LOAD_FAST", "LOAD_FROM_DICT_OR_DEREF", "POP_EXCEPT", "PUSH_EXC_INFO", "RAISE_VARARGS", "RERAISE",
    "RESUME", "STORE_DEREF", "STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_MAYBE_NULL", "STORE_FAST_STORE_FAST",
    "WITH_EXCEPT_START",
))  # fmt: skip
_WATCHED_WORDS: Final = ("CALL", "DEREF", "EXC", "FAST", "RAISE", "RESUME")
"""Of names of opcodes: the engine must know all instructions that have one."""


class Internal(NamedTuple):
    """One thing that is relied on.

    Attributes:
        name: the assumption, as a sentence's object: "CPython has changed ...".
        used_for: the feature that needs it.
        holds: says whether it is as expected; an exception says that it is not.

    """

    name: str
    used_for: str
    holds: Callable[[], bool]


class ChangedInternal(RuntimeError):
    """The interpreter differs from the engine's assumptions; the text names the difference."""


def is_newer() -> bool:
    """Return whether this version of Python is newer than any that was tested."""
    return sys.version_info[:2] > NEWEST_TESTED


def check() -> None:
    """Run all checks.

    Raises:
        ChangedInternal: one has failed.

    """
    for internal in internals():
        try:
            detail = "" if internal.holds() else "not as expected"
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
        if detail:
            raise ChangedInternal(
                f"Python {_VERSION} has changed {internal.name}, which the debugger needs for {internal.used_for} "
                f"({detail}). dapkit was tested with Python 3.12 to {_NEWEST}."
            )


def remark() -> str:
    """Return the sentence for a version that is newer than any that was tested; an empty text for others."""
    if not is_newer():
        return ""
    return (
        f"dapkit was tested with Python 3.12 to {_NEWEST}, and this is {_VERSION}: its assumptions about the "
        "interpreter was checked, and is as expected."
    )


# Checks


def _opcodes_are_known() -> bool:
    watched = {name for name in opmap if any(word in name for word in _WATCHED_WORDS)}
    return not {name for name in watched if not name.startswith("INSTRUMENTED_")} - _KNOWN_OPCODES


def _code_begins_with_resume() -> bool:
    code = _guarded.__code__
    generator: Any = (letter for letter in _VERSION)
    created = generator.gi_frame.f_lasti  # it begins behind the instruction that created it, and a POP_TOP
    begins = resume_offset(generator.gi_code)
    return 0 <= resume_offset(code) < body_offset(code) <= len(code.co_code) and created < begins <= created + 4


def _unseen_frames_are_left_out() -> bool:
    def caller() -> FrameType:
        return sys._getframe(1)

    @hidden_frame
    def between() -> FrameType:
        return caller()

    return between() is sys._getframe()


def _guarded() -> Generator[None]:
    try:
        yield
    except (KeyError, ValueError):
        return


def _cleaned_up(values: list[int]) -> Generator[None]:
    try:
        yield
    finally:
        values.clear()


def _in_context(context: Any) -> Generator[None]:  # noqa: ANN401 - a context manager of any kind
    with context:
        yield


class _Context:
    def __enter__(self) -> None: ...
    def __exit__(self, *details: object) -> None: ...


def _handlers_are_read() -> bool:
    verdicts: list[int] = []
    suspended: Any  # the typed library knows nothing of a generator's frame
    for suspended, error in (
        (_guarded(), KeyError()),
        (_guarded(), TypeError()),
        (_cleaned_up([]), KeyError()),
        (_in_context(_Context()), KeyError()),
    ):
        next(suspended)
        frame: FrameType = suspended.gi_frame
        verdicts.append(catches(frame, error, frame.f_lasti).verdict)
        suspended.close()
    del suspended, frame  # the frame of a generator that was closed leads to ours, and would be in a circle
    return verdicts == [YES, NO, NO, MAYBE]


def _assigning(one: Any, two: Any, three: Any) -> object:  # noqa: ANN401 - anything
    one = two
    two, three = three, one
    del three
    return [each for each in (one, two, _VERSION)]  # noqa: C416 - it is there for its bytecode


def _stores_are_read() -> bool:
    code = _assigning.__code__
    sites = sites_of_variable(code, "two")
    stores = ParameterStores(code).offsets
    return (
        set(stores) == {"one", "two", "three"}
        and len(sites.writes) == 1
        and len(sites.reads) == 2
        and len(reads_of_global(code, "_VERSION")) == 1
    )


def _messages_are_coded() -> bool:
    body = body_of({"text": 'ä"\n\U0001f600', "list": [None, True, 1, 1.5]})
    expected = '{"text":"ä\\"\\n\U0001f600","list":[null,true,1,1.5]}'
    return body.decode() == expected and read_json('["\\u00e4\\"\\ud83d\\ude00", -1e3]') == ['ä"\U0001f600', -1000.0]


def _warnings_are_kept_quiet() -> bool:
    filters = warning_filters()
    loud: Any = ("error", None, SyntaxWarning, None, 0)
    filters.insert(0, loud)
    try:
        compiled("'\\d'")
    finally:
        filters.remove(loud)
    return True


_FORK_EXEC: Final = {0: "args", 1: "executable_list", 4: "cwd", 5: "env", 21: "preexec_fn"}


def _programs_are_started_as_expected() -> bool:
    function = getattr(sys.modules.get("_posixsubprocess"), "fork_exec", None)
    signature = getattr(function, "__text_signature__", None)
    if signature is None:
        return True  # not loaded yet, or replaced by the program
    names = [name.strip() for name in signature.strip("()").split(",")[1:]]
    return all(names[place] == name for place, name in _FORK_EXEC.items())


def internals() -> tuple[Internal, ...]:
    """Return all of them: made anew, so that the program's `gc` lists no extra object."""
    return (
        Internal(
            "names of bytecode instructions", "handlers of exceptions, data breakpoints and steps", _opcodes_are_known
        ),
        Internal("where the code of a function begins", "lines and function breakpoints", _code_begins_with_resume),
        Internal(
            "which frames it shows", "keeping its own frames out of the program's stack", _unseen_frames_are_left_out
        ),
        Internal("how code catches exceptions", "knowing whether an exception is uncaught", _handlers_are_read),
        Internal("how code stores variables", "data breakpoints and restarting frames", _stores_are_read),
        Internal("the C functions of the module json", "its messages", _messages_are_coded),
        Internal("how warnings are filtered", "compiling without warnings of its own", _warnings_are_kept_quiet),
        Internal("how programs are started", "following child processes", _programs_are_started_as_expected),
    )
