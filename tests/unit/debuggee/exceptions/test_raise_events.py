"""Code in which RAISE is of no use: what the program does before a later event decides."""
# ruff: noqa: SIM105, S110, E722 - the handlers are the cases

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from dapkit.python.debuggee.exceptions.raise_events import is_seen_later


def run(*_values: object) -> None:
    raise KeyError


def plain() -> None:
    run(1)


def names() -> None:
    try:
        run()
    except OSError:
        pass
    except (KeyError, TypeError):
        run()


def bare() -> None:
    try:
        run()
    except ValueError:
        pass
    except:
        pass


def context() -> None:
    with contextlib.nullcontext():
        run()


def loop_around_handler() -> None:
    for _ in range(3):
        try:
            run()
        except KeyError:
            pass


def loop_that_raises_nothing() -> int:
    value = 0
    for value in (1, 2):  # noqa: B007 - its last value is returned
        pass
    return value


def final() -> None:
    try:
        run()
    finally:
        run()


def named() -> None:
    try:
        run()
    except KeyError as error:
        run(error)


def computed() -> None:
    try:
        run()
    except type(KeyError()):
        pass


def attribute() -> None:
    try:
        run()
    except contextlib.suppress:  # type: ignore[misc]  # no exception, but nobody looks
        pass


def group() -> None:
    try:
        run()
    except* KeyError:
        pass


def loop() -> None:
    for value in (1, 2):
        run(value)


def loop_around_context() -> None:
    for _ in range(3):
        with contextlib.nullcontext():
            run()


def comprehension() -> list[None]:
    return [print(value) for value in (1, 2)]


def generator() -> Iterator[None]:
    yield print()


async def coroutine() -> None:
    run()


async def asynchronous_loop(values: AsyncIterator[object]) -> None:
    async for value in values:
        run(value)


@pytest.mark.parametrize("code", [plain, names, bare, context, loop_around_handler, loop_that_raises_nothing])
def test_raise_is_of_no_use_where_nothing_happens_before_a_later_event(code: Callable[..., object]) -> None:
    assert is_seen_later(code.__code__)


@pytest.mark.parametrize(
    "code",
    [
        final,
        named,
        computed,
        attribute,
        group,
        loop,
        loop_around_context,
        comprehension,
        generator,
        coroutine,
        asynchronous_loop,
    ],
)
def test_raise_is_watched_where_the_program_would_run_on_before_a_later_event(code: Callable[..., object]) -> None:
    assert not is_seen_later(code.__code__)
