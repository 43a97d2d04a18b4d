"""Ways of exceptions that are known pass without a word, in C as in Python; all else is asked about."""

import contextlib
import gc
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import pytest

from dapkit.python.debuggee.exceptions.catch_cache import CATCHES, ENDS, PASSES, PASSING, CatchCache, origin_of
from dapkit.python.debuggee.exceptions.handlers import NO, LoadedName, catches, is_swallowed_below, swallows_from_below
from dapkit.python.debuggee.interpreter import limits, native

EVENTS = sys.monitoring.events


class Watch:
    """Looks thoroughly at what is not known, as the table of exception breakpoints does."""

    def __init__(self, tool: int, *, deep: bool) -> None:
        self.known = CatchCache()
        self.known.clear(deep=deep)
        self.asked: list[str] = []
        self._tool = tool
        for event, callback in (
            (EVENTS.RAISE, self.known.on_raise(self._raised)),
            (EVENTS.RERAISE, self.known.on_reraise(self._raised)),
            (EVENTS.PY_UNWIND, self.known.on_unwind(self._unwound)),
        ):
            sys.monitoring.register_callback(tool, event, callback)

    def of(self, work: Callable[[], object], *, raises: int = EVENTS.RAISE) -> list[str]:
        """Return what was asked about while something worked."""
        self.asked = []
        sys.monitoring.set_events(self._tool, raises | EVENTS.RERAISE | EVENTS.PY_UNWIND)
        try:
            work()
        finally:
            sys.monitoring.set_events(self._tool, 0)
        return self.asked

    def _raised(self, _code: CodeType, offset: int, exception: BaseException) -> None:
        self._look(sys._getframe(self.known.depth), offset, exception)

    def _look(self, newest: FrameType, offset: int, exception: BaseException) -> None:
        self.asked.append(f"{type(exception).__name__} in {newest.f_code.co_name}")
        frame: FrameType | None = newest
        while frame is not None:
            at = offset if frame is newest else frame.f_lasti
            verdict, names = catches(frame, exception, at)
            is_caught = verdict != NO or is_swallowed_below(frame.f_code, exception)
            swallows = swallows_from_below(frame.f_code, exception)
            outcome = CATCHES if is_caught else PASSES
            self.known.note(
                frame.f_code,
                at,
                type(exception),
                outcome,
                generation=self.known.generation,
                names=names or (),
                swallows=swallows,
            )
            if is_caught or (swallows and frame is not newest):
                return
            frame = frame.f_back

    def _unwound(self, _code: CodeType, offset: int, exception: BaseException) -> None:
        frame = sys._getframe(self.known.depth)
        caller = frame.f_back
        assert caller is not None
        if self.known.looks_late and origin_of(exception, frame) != PASSING:
            self._look(frame, offset, exception)
        self.asked.append(f"unwound into {caller.f_code.co_name}")
        self.known.note_ordinary(caller.f_code, generation=self.known.generation)


@pytest.fixture(params=["in C", "in Python"])
def watching(
    request: pytest.FixtureRequest, tool: int, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Watch]]:
    monkeypatch.setattr(native, "CAN_FOLLOW", request.param == "in C")
    yield lambda *, deep=True: Watch(tool, deep=deep)
    for event in (EVENTS.RAISE, EVENTS.RERAISE, EVENTS.PY_UNWIND):
        sys.monitoring.register_callback(tool, event, None)
    native.forget_places()


type Watching = Callable[..., Watch]


def fail() -> None:
    raise KeyError


def through() -> None:
    try:
        fail()
    finally:
        str(1)


def caught() -> None:
    with contextlib.suppress(IndexError):
        try:
            through()
        except OSError:
            pass
        except LookupError:
            pass


def test_exception_that_something_catches_is_asked_about_once_on_all_its_way(watching: Watching) -> None:
    watch = watching()
    assert watch.of(caught)[0] == "KeyError in fail"
    assert watch.of(caught) == []


def test_exception_is_asked_about_where_it_leaves_a_frame_if_its_raise_was_not_watched(watching: Watching) -> None:
    watch = watching()
    watch.known.watch_raises(by_code=True)
    assert watch.of(caught, raises=0)[0] == "KeyError in fail"
    assert watch.of(caught, raises=0) == []

    def open_call() -> None:
        through()

    watch.known.note(open_call.__code__, 0, KeyError, ENDS, generation=watch.known.generation)
    with contextlib.suppress(KeyError):
        watch.of(open_call, raises=0)
    assert "KeyError in fail" in watch.asked


def test_exception_is_not_asked_about_where_it_leaves_a_frame_of_which_raise_is_watched(watching: Watching) -> None:
    watch = watching()
    watch.known.watch_raises(by_code=True)
    for function in (fail, through, caught):
        watch.known.note_ordinary(function.__code__, generation=watch.known.generation)
    for function in (fail, caught):
        watch.known.note_raises(function.__code__, seen_later=False)
    asked = watch.of(caught, raises=0)
    assert "KeyError in fail" not in asked
    assert "KeyError in through" in asked  # a `finally`, of which nothing is noted


def test_raise_is_switched_off_in_code_in_which_it_is_of_no_use(watching: Watching) -> None:
    known = CatchCache()
    asked: list[CodeType] = []
    on_raise = known.on_raise(lambda code, _offset, _exception: asked.append(code))
    known.clear(deep=True)
    known.watch_raises(by_code=True)
    watching()  # which forgets all notes afterwards
    code = fail.__code__
    assert on_raise(code, 0, KeyError()) is None
    assert asked == [code]
    known.note_raises(code, seen_later=True)
    assert on_raise(code, 0, KeyError()) is sys.monitoring.DISABLE
    known.watch_raises(by_code=False)
    assert on_raise(code, 0, KeyError()) is None
    assert asked == [code, code]


def test_throw_into_code_is_asked_about_until_it_is_noted_whether_raise_is_of_use_there(watching: Watching) -> None:
    known = CatchCache()
    asked: list[CodeType] = []
    on_throw = known.on_throw(lambda code, _offset, _exception: asked.append(code))
    known.clear(deep=True)
    watching()  # which forgets all notes afterwards
    code = fail.__code__
    assert on_throw(code, 0, KeyError()) is None
    assert asked == []  # RAISE is watched everywhere
    known.watch_raises(by_code=True)
    assert on_throw(code, 0, KeyError()) is None
    assert asked == [code]
    known.note_raises(code, seen_later=False)
    assert on_throw(code, 0, KeyError()) is None
    assert asked == [code]


class NameThatRunsCode(str):
    """A key that hashes as the name does, so that looking that up compares the two."""

    __slots__ = ()
    on_look: Callable[[], object] = staticmethod(lambda: None)

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        NameThatRunsCode.on_look()
        return str(self) == other


@pytest.mark.parametrize("event", ["RAISE", "RERAISE"])
def test_callback_that_is_dropped_while_it_looks_a_name_up_asks_all_the_same(tool: int, event: str) -> None:
    handlers = {"RAISE": "except Wanted: pass", "RERAISE": "finally: pass"}
    names: dict[Any, Any] = {"Wanted": KeyError}
    exec(  # noqa: S102 - a function whose globals are ours
        f"def work():\n try:\n  try: raise KeyError\n  {handlers[event]}\n except Wanted: pass\n except KeyError: pass",
        names,
    )
    work = names["work"]
    asked: list[int] = []
    fillers: list[object] = []
    known = CatchCache()

    def thorough(code: CodeType, offset: int, exception: BaseException) -> None:
        asked.append(offset)
        names = (LoadedName(is_local=False, name="Wanted", attribute=None, value=KeyError),)
        known.note(code, offset, type(exception), CATCHES, generation=known.generation, names=names)

    def drop() -> None:
        NameThatRunsCode.on_look = staticmethod(lambda: None)
        sys.monitoring.register_callback(tool, getattr(EVENTS, event), None)
        fillers.extend(native.counter() for _ in range(100))  # one of them where it was

    sys.monitoring.register_callback(tool, getattr(EVENTS, event), native.raise_callback(event, thorough, set()))
    sys.monitoring.set_events(tool, getattr(EVENTS, event))
    try:
        work()
        before = list(asked)
        del names["Wanted"]
        names[NameThatRunsCode("Wanted")] = ValueError
        NameThatRunsCode.on_look = staticmethod(drop)
        work()
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.register_callback(tool, getattr(EVENTS, event), None)
        NameThatRunsCode.on_look = staticmethod(lambda: None)
        native.forget_places()
    assert asked == [*before, before[0]]


def test_raises_that_were_let_pass_are_counted_until_there_are_many(
    watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RAISES_WATCHED_EVERYWHERE", 5)
    watch = watching()
    watch.of(caught)
    assert not watch.known.is_busy()
    for _ in range(5):
        watch.of(caught)
    assert watch.known.is_busy()
    assert not watch.known.is_busy()


class Silent:
    def __getattr__(self, name: str) -> object:
        raise AttributeError(name)

    def __getitem__(self, index: int) -> object:
        raise IndexError(index)

    @property
    def nothing(self) -> object:
        raise AttributeError("nothing")


def swallowed() -> None:
    hasattr(Silent(), "x")
    getattr(Silent(), "nothing", None)
    list(Silent())  # type: ignore[call-overload]  # iterates by its items
    with contextlib.suppress(KeyError):
        fail()


def test_exception_that_c_code_or_a_with_statement_swallows_is_asked_about_once(watching: Watching) -> None:
    watch = watching()
    assert [asked for asked in watch.of(swallowed) if "unwound" not in asked] == [
        "AttributeError in __getattr__",
        "AttributeError in nothing",
        "IndexError in __getitem__",
        "KeyError in fail",
    ]
    assert watch.of(swallowed) == []


NAMED = """
def caught(kind=None):
    try: fail()
    except {}: pass
"""


@pytest.mark.parametrize(
    ("named", "change", "restore"),
    [
        ("Error", "Error = OSError", "Error = KeyError"),
        ("(OSError, Error)", "Error = IndexError", "Error = LookupError"),
        ("errors.Error", "errors.Error = OSError", "errors.Error = KeyError"),
        ("KeyError", "KeyError = OSError", "del KeyError"),
        ("kind", "caught.__defaults__ = (OSError,)", "caught.__defaults__ = (KeyError,)"),
        ("kinds", "kinds = (OSError,)", "kinds = (OSError, KeyError)"),
    ],
)
def test_handler_counts_as_long_as_what_it_names_is_the_same(
    watching: Watching, named: str, change: str, restore: str
) -> None:
    watch = watching()
    names: dict[str, Any] = {
        "fail": fail,
        "Error": KeyError,
        "kinds": (KeyError,),
        "errors": types.ModuleType("errors"),
    }
    exec(NAMED.format(named), names)  # noqa: S102 - a program to look at
    exec("errors.Error = KeyError\ncaught.__defaults__ = (KeyError,)", names)  # noqa: S102 - the same

    def call() -> None:
        with contextlib.suppress(KeyError):
            names["caught"]()

    watch.of(call)
    assert watch.of(call) == []
    exec(change, names)  # noqa: S102 - the same
    assert "KeyError in fail" in watch.of(call)
    watch.of(call)
    assert watch.of(call) == []
    exec(restore, names)  # noqa: S102 - the same
    assert "KeyError in fail" in watch.of(call)


def test_same_call_is_asked_about_where_another_caller_does_not_catch(watching: Watching) -> None:
    def open_call() -> None:
        through()

    watch = watching()
    watch.of(caught)
    watch.known.note(open_call.__code__, 0, KeyError, ENDS, generation=watch.known.generation)
    with contextlib.suppress(KeyError):
        watch.of(open_call)
    assert "KeyError in fail" in watch.asked


def test_what_is_caught_in_an_older_frame_is_asked_about_unless_those_count(watching: Watching) -> None:
    def at_once() -> None:
        with contextlib.suppress(KeyError):
            raise KeyError

    watch = watching(deep=False)
    for _ in range(2):
        assert "KeyError in fail" in watch.of(caught)
    watch.of(at_once)
    assert watch.of(at_once) == []


def test_exception_that_is_raised_again_or_was_reported_is_asked_about(watching: Watching) -> None:
    kept = KeyError("kept")

    def fail_again() -> None:
        raise kept

    def again() -> None:
        for _ in range(2):
            with contextlib.suppress(KeyError):
                fail_again()

    watch = watching()
    watch.of(again)
    assert watch.of(again) == ["KeyError in fail_again"] * 2
    watch.known.reported.add(id(kept))
    assert watch.of(again) == ["KeyError in fail_again"] * 2


@pytest.mark.thorough
def test_notes_keep_no_types_alive_and_are_forgotten(watching: Watching) -> None:
    names: dict[str, Any] = {}
    exec("class Own(Exception): pass\ndef work():\n    try: raise Own\n    except Own: pass\n", names)  # noqa: S102 - the same
    watch = watching()
    watch.of(names["work"])
    assert watch.of(names["work"]) == []
    watch.known.clear()
    assert watch.of(names["work"]) == ["Own in work"]
    own = weakref.ref(names["Own"])
    names.clear()
    gc.collect()
    assert own() is None


def test_what_was_found_before_a_change_does_not_count_after_it(watching: Watching) -> None:
    watch = watching()
    generation = watch.known.generation
    watch.known.clear()
    watch.known.note(fail.__code__, 0, KeyError, CATCHES, generation=generation)
    assert "KeyError in fail" in watch.of(caught)
