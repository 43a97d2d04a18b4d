"""What the calls of a stepped line returned, in a scope of its own."""

from typing import Any

import pytest

from dapkit.python.debuggee.interpreter import limits
from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient

pytestmark = [pytest.mark.row("scopes, variables"), pytest.mark.each_python]

CALLS = """
    import functools
    import json
    import textwrap
    def inner(n):
        return n + 1
    def outer(n):
        return inner(n) * 10
    class Shop:
        def price(self, item="tea"):
            return {"tea": 3}[item]
        @staticmethod
        def numbers():
            yield from (1, 2)
    @functools.cache
    def cached(n):
        return n * n
    half = functools.partial(lambda n, by: n / by, by=2)
    shop = Shop()
    a = outer(inner(1)) + inner(5)
    b = [shop.price(), Shop.price(shop), cached(3), half(9)]
    c = len(b) + sum(shop.numbers())
    d = textwrap.dedent(" x")
    e = [inner(n) for n in range(1000)]
    f = 1
"""


def returned(peer: EngineClient, thread: int = 1) -> list[tuple[str, str]]:
    scopes = peer.ask("scopes", frameId=peer.stack(thread)[0]["id"])["scopes"]
    rows = [row for row in peer.rows(scopes[0]["variablesReference"]) if row["name"].startswith("(return) ")]
    assert all(row["presentationHint"]["attributes"] == ["readOnly"] for row in rows)
    return [(row["name"], row["value"]) for row in rows]


def stepped(peer: EngineClient, line: int, **launch: Any) -> EngineClient:  # noqa: ANN401 - launch arguments
    """Step over a line."""
    peer.configure(lines=[line], **launch)
    peer.stopped("breakpoint")
    peer.step("next")
    return peer


def test_step_over_a_line_shows_what_its_own_calls_returned_in_order(start: Start) -> None:
    peer = stepped(start(CALLS), 19)
    assert returned(peer) == [("(return) inner", "2"), ("(return) outer", "30"), ("(return) inner", "6")]
    peer.step("next")
    assert returned(peer) == [
        ("(return) Shop.price", "3"),
        ("(return) Shop.price", "3"),
        ("(return) cached", "9"),
        ("(return) <lambda>", "4.5"),
    ]


def test_native_functions_and_generators_return_nothing_to_show(start: Start) -> None:
    assert returned(stepped(start(CALLS), 21)) == []


@pytest.mark.parametrize(("just_my_code", "shown"), [(True, []), (False, [("(return) dedent", "'x'")])])
def test_library_functions_are_shown_where_library_code_is_stepped(
    start: Start, just_my_code: bool, shown: list[tuple[str, str]]
) -> None:
    assert returned(stepped(start(CALLS), 22, justMyCode=just_my_code)) == shown


def test_loop_of_calls_shows_the_first_of_them(start: Start) -> None:
    shown = returned(stepped(start(CALLS), 23))
    assert shown[:2] == [("(return) inner", "1"), ("(return) inner", "2")]
    assert len(shown) == limits.STEPPED_CALLS - 1  # one is that of `range`


def test_nothing_is_shown_where_the_client_does_not_want_it(start: Start) -> None:
    assert returned(stepped(start(CALLS), 19, showReturnValue=False)) == []


def test_results_are_shown_at_a_breakpoint_on_the_next_line_too(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[19, 20])
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1)
    peer.stopped("breakpoint")
    assert len(returned(peer)) == 3
    peer.go()
    assert peer.finish()[0] == 0


def test_recursion_returns_to_the_stepped_line_once(start: Start) -> None:
    peer = start(
        """
        def fact(n):
            return n * fact(n - 1) if n else 1
        def fib(n):
            return fib(n - 1) + fib(n - 2) if n > 1 else n
        a = fact(6)
        b = fib(15)
        c = 1
        """
    )
    assert returned(stepped(peer, 5)) == [("(return) fact", "720")]
    peer.step("next")
    [(name, value)] = returned(peer)
    assert name == "(return) fib"
    assert "is not known" in value


def test_awaited_coroutine_returns_its_result(start: Start) -> None:
    peer = start(
        """
        import asyncio
        async def fetch(n):
            await asyncio.sleep(0.001)
            return n * 2
        async def main():
            a = await fetch(1) + await fetch(2)
            return a
        asyncio.run(main())
        """
    )
    assert returned(stepped(peer, 6)) == [("(return) fetch", "2"), ("(return) fetch", "4")]


def test_call_that_raises_returns_nothing(start: Start) -> None:
    peer = start(
        """
        def fails():
            raise ValueError
        def works():
            return 1
        try:
            a = works() + fails()
        except ValueError:
            b = 2
        """
    )
    assert returned(stepped(peer, 6)) == [("(return) works", "1")]


def test_calls_of_other_threads_are_not_those_of_the_line(start: Start) -> None:
    peer = start(
        """
        import threading
        done = threading.Event()
        def shared(n):
            return n
        def other():
            while not done.is_set():
                shared("other")
        thread = threading.Thread(target=other)
        thread.start()
        a = shared("mine")
        done.set()
        """
    )
    shown = returned(stepped(peer, 10))
    peer.ask("next", threadId=1)
    assert shown[0][1] == "'mine'" or "is not known" in shown[0][1]
