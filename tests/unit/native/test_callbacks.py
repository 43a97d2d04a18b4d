"""Callbacks in C: which lines they serve, what they count, and what they hand over to Python."""

import gc
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType

import pytest

from dapkit.python.debuggee.interpreter import native
from unit.native.frames import check_of

DISABLE = sys.monitoring.DISABLE
LINE = sys.monitoring.events.LINE


def code_here() -> CodeType:
    return sys._getframe(1).f_code


def nothing() -> None:
    """Do nothing."""


def passed(hits: native.Hits, times: int) -> list[int]:
    """Return which of so many hits a hit condition lets pass."""
    stopped: list[int] = []
    check = check_of(None, code_here(), 1, lambda: stopped.append(hit), nothing, hits=hits)
    assert check is not None
    for hit in range(1, times + 1):  # noqa: B007 - read by the lambda
        check(code_here(), 1)
    return stopped


@pytest.mark.parametrize(
    ("hits", "stops"),
    [
        (("==", 5), [5]),
        ((">=", 5), [5, 6, 7]),
        ((">", 5), [6, 7]),
        (("<", 3), [1, 2]),
        (("<=", 3), [1, 2, 3]),
        (("!=", 3), [1, 2, 4, 5, 6, 7]),
        (("%", 3), [3, 6]),
    ],
)
def test_hit_conditions_choose_the_hits(hits: native.Hits, stops: list[int]) -> None:
    assert passed(hits, 7) == stops


@pytest.mark.parametrize("hits", [("%", 0), ("=", 1), ("==", 2**70)])
def test_hit_condition_that_cannot_be_counted_in_c_is_left_to_python(hits: native.Hits) -> None:
    assert check_of(None, code_here(), 1, nothing, nothing, hits=hits) is None


def test_code_objects_of_one_breakpoint_share_its_count() -> None:
    stops: list[str] = []
    count = native.counter()

    def check(name: str) -> Callable[..., object]:
        made = native.line_check(
            code_here(),
            1,
            condition=None,
            hits=("==", 4),
            count=count,
            hit=lambda *_: stops.append(name),
            careful=lambda _: None,
        )
        assert made is not None
        return made

    first, second = check("first"), check("second")
    assert count() == 1  # the careful way counts with the same
    for each in (first, second):
        each(first_code := next(iter(_codes(each))), 1)
        assert first_code is _codes(each)[0]
    assert stops == []
    second(_codes(second)[0], 1)
    assert stops == ["second"]


def _codes(check: object) -> list[CodeType]:
    return [one for one in gc.get_referents(check) if isinstance(one, CodeType)]


def test_only_hits_whose_condition_is_true_are_counted() -> None:
    stops: list[int] = []
    check = check_of("i % 2 == 0", code_here(), 1, lambda: stops.append(i), nothing, hits=("==", 3))
    assert check is not None
    for i in range(10):  # noqa: B007 - read by the condition
        check(code_here(), 1)
    assert stops == [4]


def test_other_lines_and_other_code_are_disabled() -> None:
    check = check_of("True", code_here(), 7, lambda: "stopped", nothing)
    assert check is not None
    assert check(code_here(), 7) == "stopped"
    assert check(code_here(), 8) is DISABLE
    assert check(nothing.__code__, 7) is DISABLE


def test_hit_gets_the_frame_the_code_and_the_line() -> None:
    got: list[object] = []
    made = native.line_check(
        code_here(),
        3,
        condition=None,
        hits=("==", 1),
        count=native.counter(),
        hit=lambda *all_: got.extend(all_),
        careful=print,
    )
    assert made is not None
    made(code_here(), 3)
    assert got == [sys._getframe(), code_here(), 3]


def test_depth_tells_how_many_calls_lie_between() -> None:
    frames: list[FrameType] = []
    made = native.line_check(
        code_here(),
        3,
        condition=None,
        hits=(">=", 1),
        count=native.counter(),
        hit=lambda frame, _code, _line: frames.append(frame),
        careful=print,
    )
    assert made is not None
    code = code_here()

    def between(depth: int) -> None:
        made(code, 3, depth)

    between(2)
    assert frames == [sys._getframe()]
    with pytest.raises(ValueError, match="not that deep"):
        between(10_000)


def test_condition_of_other_code_than_the_frames_is_left_to_the_careful_way() -> None:
    said: list[str] = []

    def program(_first: int, second: int) -> int:
        return second

    check = check_of("second == 1", program.__code__, 1, lambda: said.append("hit"), lambda: said.append("careful"))
    assert check is not None

    def other(first: int, another: int) -> None:
        check(program.__code__, 1)
        assert first == another

    other(1, 1)
    assert said == ["careful"]


def test_keyboard_interrupt_in_a_condition_is_the_programs() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    check = check_of("interrupt()", code_here(), 1, nothing, nothing)
    assert check is not None
    with pytest.raises(KeyboardInterrupt):
        check(code_here(), 1)
    assert callable(interrupt)  # a variable of this frame


def test_names_in_a_class_body_are_those_of_the_class_first() -> None:
    said: list[str] = []
    namespace: dict[str, object] = {"value": "global", "said": said, "check": None}
    body = "class K:\n value = 'class'\n check(1)\nvalue2 = 2\ncheck(2)\n"
    module = compile(body, "<body>", "exec")
    klass = next(const for const in module.co_consts if isinstance(const, CodeType))
    checks = {
        1: check_of("value == 'class' and len(value) == 5", klass, 1, lambda: said.append("class"), nothing),
        2: check_of("value == 'global' and value2 == 2", module, 1, lambda: said.append("module"), nothing),
    }

    def serve(which: int) -> None:
        check = checks[which]
        assert check is not None
        check(klass if which == 1 else module, 1, 2)

    namespace["check"] = serve
    exec(module, namespace)  # noqa: S102 - a program to look at
    assert said == ["class", "module"]


def test_namespace_that_is_no_dict_is_left_to_the_careful_way() -> None:
    said: list[str] = []

    class Namespace(dict[str, object]):
        def __missing__(self, name: str) -> object:
            raise KeyError(name)

    module = compile("check()", "<body>", "exec")
    check = check_of("value == 1", module, 1, lambda: said.append("hit"), lambda: said.append("careful"))
    assert check is not None
    exec(module, {}, Namespace(value=1, check=lambda: check(module, 1, 2)))  # noqa: S102 - a program to look at
    assert said == ["careful"]


@pytest.mark.parametrize("routed", [False, True])
def test_check_may_be_dropped_while_its_condition_runs(tool: int, *, routed: bool) -> None:
    ran: list[str] = []
    alive: list[object] = []

    class Eager:
        def __eq__(self, other: object) -> bool:
            sys.monitoring.register_callback(tool, LINE, None)
            alive.clear()
            gc.collect()
            ran.append("compared")
            return True

        __hash__ = object.__hash__

    def program(value: object) -> object:
        result = value
        return result  # noqa: RET504 - a line after the one to stop at

    line = program.__code__.co_firstlineno + 1
    check = check_of("value == 1", program.__code__, line, lambda: ran.append("hit"), nothing)
    assert check is not None
    if routed:
        check = native.router({line: (program.__code__, check)})
    sys.monitoring.register_callback(tool, LINE, check)
    alive.append(check)
    del check
    sys.monitoring.set_local_events(tool, program.__code__, LINE)
    program(Eager())
    sys.monitoring.set_local_events(tool, program.__code__, 0)
    assert ran == ["compared", "hit"]


def test_threads_count_each_hit_once(tool: int) -> None:
    class Switching:
        def __eq__(self, other: object) -> bool:
            return bool([None for _ in range(3)])  # Python code: the interpreter may switch threads here

        __hash__ = object.__hash__

    def program(times: int, value: object) -> None:
        for _ in range(times):
            value  # noqa: B018 - a line to stop at

    count = native.counter()
    stops: list[object] = []
    check = native.line_check(
        program.__code__,
        program.__code__.co_firstlineno + 2,
        condition=("compare", "==", ("local", "value"), ("constant", 1)),
        hits=("==", 2000),
        count=count,
        hit=lambda *_: stops.append(1),
        careful=lambda _: None,
    )
    sys.monitoring.register_callback(tool, LINE, check)
    sys.monitoring.set_local_events(tool, program.__code__, LINE)
    threads = [threading.Thread(target=program, args=(500, Switching())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.monitoring.set_local_events(tool, program.__code__, 0)
    assert (stops, count()) == ([1], 2001)


def test_router_finds_the_callback_of_a_line_in_its_code() -> None:
    table: native.Table = {
        3: (code_here(), lambda code, line: (code, line)),
        4: (nothing.__code__, lambda _code, _line: "of nothing"),
        5: (None, lambda _code, _line: "of any code"),
    }
    route = native.router(table)
    assert route is not None
    assert route(code_here(), 3) == (code_here(), 3)
    assert route(code_here(), 4) is DISABLE
    assert route(nothing.__code__, 4) == "of nothing"
    assert route(nothing.__code__, 5) == "of any code"
    assert route(code_here(), 6) is DISABLE


def test_router_remembers_no_line_that_its_table_has_not() -> None:
    route = native.router({3: (code_here(), lambda _code, line: line)})
    assert route is not None
    assert [route(code_here(), line) for line in (3, 3, 4, 3)] == [3, 3, DISABLE, 3]
    assert route(nothing.__code__, 3) is DISABLE
    assert route(code_here(), 3) == 3
    with pytest.raises(TypeError):
        route(code_here(), "3")  # type: ignore[arg-type]  # what is no line


def test_router_passes_errors_on() -> None:
    route = native.router({3: (None, lambda *_: 1 // 0)})
    assert route is not None
    with pytest.raises(ZeroDivisionError):
        route(code_here(), 3)


def test_clock_calls_python_at_its_target_only(tool: int) -> None:
    arrived: list[int] = []
    clock = native.clock(lambda _code, line: arrived.append(line))

    def program() -> int:
        total = 0
        for i in range(100):
            total += i
        return total

    clock.target = 150
    sys.monitoring.register_callback(tool, LINE, clock)
    sys.monitoring.set_local_events(tool, program.__code__, LINE)
    program()
    sys.monitoring.set_local_events(tool, program.__code__, 0)
    assert len(arrived) == 1
    assert clock.count == 203
    clock.count = 0
    assert clock(1, 2) is None
    assert clock.count == 1


def test_callbacks_are_collected_with_the_cycles_they_are_in() -> None:
    class Owner:
        check: object

    def make() -> weakref.ref[Owner]:
        owner = Owner()
        owner.check = check_of("True", code_here(), 1, lambda: owner, nothing)
        return weakref.ref(owner)

    ghost = make()
    gc.collect()
    assert ghost() is None


@pytest.mark.parametrize(
    "tree",
    [
        (),
        ("constant",),
        ("unknown", None),
        (1, 2),
        ("local", 3),
        ("local", "x", ("constant", 1)),
        ("compare", "<>", ("constant", 1), ("constant", 2)),
        ("compare", "<", ("constant", 1)),
        ("binary", "**", ("constant", 1), ("constant", 2)),
        ("unary", "!", ("constant", 1)),
        ("not", "x", ("constant", 1)),
        ("and", None, ("constant", 1)),
        ("and", None, ("constant", 1), ("unknown", 2)),
        ("and", None, *[("constant", 1)] * 9),
        "constant",
    ],
)
def test_malformed_tree_is_refused(tree: tuple[object, ...]) -> None:
    from dapkit.python.debuggee import _native

    with pytest.raises(ValueError, match="condition"):
        _native.line_check(code_here(), 1, tree, None, _native.counter(), print, print)


def test_calls_with_wrong_arguments_are_refused() -> None:
    code = code_here()
    check = check_of("True", code, 1, nothing, nothing)
    assert check is not None
    calls: list[Callable[[], object]] = [
        lambda: check(1),
        lambda: check(1, 2, 3, 4),
        lambda: check(code=1, line=2),
        lambda: check(code, "x"),
        lambda: check(code, 1, "x"),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        native.counter()(1)  # type: ignore[call-arg]  # wrong on purpose


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """Have Ctrl-C raise its exception, also where a shell has started the tests in the background and ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
@pytest.mark.parametrize("comes_again", [True, False])
def test_interrupt_in_a_callback_is_pending_once_more_or_raised(*, comes_again: bool) -> None:
    errors: list[BaseException] = []

    def interrupted(*given: object) -> object:
        if given == (1, 2):
            return "result"
        raise KeyboardInterrupt

    def asked(error: BaseException) -> bool:
        errors.append(error)
        return comes_again

    callback = native.interruptible(interrupted, asked)
    assert callback(1, 2) == "result"
    with pytest.raises(KeyboardInterrupt) as raised:
        list(map(callback, (3,)))
    assert [type(error) for error in errors] == [KeyboardInterrupt]
    assert (raised.value is errors[0]) is not comes_again


def test_other_errors_of_an_interruptible_callback_are_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        native.interruptible(lambda: 1 // 0, lambda _: True)()
