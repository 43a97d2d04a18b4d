"""Whether a handler will catch an exception, told from the code."""
# ruff: noqa: SIM105, S110, E722 - the handlers are the cases

import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType

import pytest

from dapkit.python.debuggee.exceptions.handlers import MAYBE, NO, YES, catches

type Case = Callable[[Callable[[], None]], object]


def plain(fail: Callable[[], None]) -> None:
    fail()


def same(fail: Callable[[], None]) -> None:
    try:
        fail()
    except KeyError:
        pass


def base(fail: Callable[[], None]) -> None:
    try:
        fail()
    except (OSError, LookupError) as error:
        str(error)


def other(fail: Callable[[], None]) -> None:
    try:
        fail()
    except OSError:
        pass


def second(fail: Callable[[], None]) -> None:
    try:
        fail()
    except OSError:
        pass
    except KeyError:
        pass


def anything(fail: Callable[[], None]) -> None:
    try:
        fail()
    except:
        pass


def local_name(fail: Callable[[], None]) -> None:
    errors = (KeyError,)
    try:
        fail()
    except errors:
        pass


def attribute(fail: Callable[[], None]) -> None:
    try:
        fail()
    except sys.modules["builtins"].KeyError:
        pass


def finally_passes(fail: Callable[[], None]) -> None:
    try:
        fail()
    finally:
        str(1)


def finally_returns(fail: Callable[[], None]) -> int:
    try:
        fail()
    finally:
        return 1  # noqa: B012 - the case


def nested(fail: Callable[[], None]) -> None:
    try:
        try:
            fail()
        except OSError:
            pass
        finally:
            str(1)
    except KeyError:
        pass


def with_statement(fail: Callable[[], None]) -> None:
    with nullcontext():
        fail()


def group(fail: Callable[[], None]) -> None:
    try:
        fail()
    except* KeyError:
        pass


def in_a_handler(fail: Callable[[], None]) -> None:
    try:
        int("x")
    except ValueError:
        fail()


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (plain, NO),
        (same, YES),
        (base, YES),
        (other, NO),
        (second, YES),
        (anything, YES),
        (local_name, YES),
        (attribute, MAYBE),
        (finally_passes, NO),
        (finally_returns, YES),
        (nested, YES),
        (with_statement, MAYBE),
        (group, MAYBE),
        (in_a_handler, NO),
    ],
    ids=lambda case: getattr(case, "__name__", str(case)),
)
def test_handlers_are_read_from_the_code(case: Case, verdict: int) -> None:
    seen: list[int] = []

    def look() -> None:
        frame: FrameType | None = sys._getframe(1)
        assert frame is not None
        seen.append(catches(frame, KeyError(1), frame.f_lasti).verdict)

    case(look)
    assert seen == [verdict]
