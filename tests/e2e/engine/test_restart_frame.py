"""`restartFrame`: the newest frame begins again, with the arguments that it was called with."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Refused

pytestmark = [pytest.mark.row("stepInTargets, gotoTargets, goto, restartFrame"), pytest.mark.each_python]


def restart(peer: EngineClient, thread: int = 1) -> None:
    top = peer.stack(thread)[0]
    assert top["canRestart"] is True
    peer.ask("restartFrame", frameId=top["id"])
    peer.stopped("restart")


def test_arguments_are_kept_where_the_function_stops_before_it_assigns_to_them(start: Start) -> None:
    peer = start(
        """
        def read(): return [1, 2]
        def work(data, n):
            found = []
            for one in data:
                found.append(one)
            data = None
            n += 1
            return n
        work(read(), len(read()))
        """
    )
    peer.configure(lines=[5, 8])
    peer.stopped("breakpoint")
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[{"line": 8}])
    peer.go()
    peer.stopped("breakpoint")
    assert peer.value("data, n") == "(None, 3)"
    restart(peer)
    assert (peer.at(), peer.value("data, n")) == (("work", 3), "([1, 2], 2)")


def test_arguments_that_a_loop_may_have_assigned_to_are_not_taken_for_the_first_ones(start: Start) -> None:
    peer = start(
        """
        def read(): return 3
        def work(n):
            while n:
                x = n
                try:
                    n -= 1
                    1 / 0
                except ZeroDivisionError:
                    n = n - 1 if n else n
            return n
        work(read())
        """
    )
    peer.configure(breakpoints=[{"line": 4, "condition": "n == 1"}])
    peer.stopped("breakpoint")
    assert peer.stack()[0]["canRestart"] is False
    with pytest.raises(Refused, match=r"assigns to its parameters n, and their values .* the call has computed them"):
        peer.ask("restartFrame", frameId=peer.stack()[0]["id"])


def test_calls_are_noted_once_the_function_has_stopped_and_as_long_as_it_has_a_breakpoint(start: Start) -> None:
    peer = start(
        """
        def value(n): return n
        def work(n, *, more=1):
            more = n = n + more
            x = 1
            return x
        for i in range(6):
            work(value(i), more=value(i))
        import sys
        print(sys.monitoring.get_local_events(0, work.__code__))
        """
    )
    source = {"path": str(peer.folder / "prog.py")}
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    assert peer.stack()[0]["canRestart"] is False
    for i in (1, 2):
        peer.go()
        peer.stopped("breakpoint")
        assert peer.value("n, more") == f"({2 * i}, {2 * i})"
        restart(peer)
        assert (peer.at(), peer.value("n, more")) == (("work", 3), f"({i}, {i})")
        peer.go()
        peer.stopped("breakpoint")
    peer.ask("setBreakpoints", source=source, breakpoints=[])
    restart(peer)
    peer.go()
    assert peer.finish()[:2] == (0, "0\n")


def test_no_more_calls_are_noted_than_is_worth_the_time(start: Start) -> None:
    peer = start(
        """
        import sys
        def value(n): return n
        def work(n):
            n = n - 1
            x = 1
        for i in range(20_002):
            if i == 20_001:
                events = sys.monitoring.get_local_events(0, work.__code__) & sys.monitoring.events.PY_RETURN
            work(value(i))
        """
    )
    peer.configure(breakpoints=[{"line": 5, "condition": "n in (1, 2, 20000)"}])
    for known in (False, True, False):
        peer.stopped("breakpoint")
        assert peer.stack()[0]["canRestart"] is known
        if not known and peer.value("n") == "20000":
            assert peer.value("events") == "0"
        peer.go()
    assert peer.finish()[0] == 0


def test_frames_of_recursion_and_those_that_end_by_exceptions_are_not_mixed_up(start: Start) -> None:
    peer = start(
        """
        def value(n): return n
        def work(n):
            first = n
            n = None
            if first > 1:
                work(value(first - 1))
            if first % 3:
                raise ValueError(first)
        for i in range(1, 9):
            try:
                work(value(i))
            except ValueError:
                pass
        """
    )
    peer.configure(breakpoints=[{"line": 5}, {"line": 7, "condition": "first in (3, 6)"}])
    seen: list[str] = []
    for _ in range(25):
        peer.stopped("breakpoint")
        first = peer.value("first")
        if first != "1" or seen:  # the very first call is over before anything is noted
            restart(peer)
            assert peer.value("(n, first)") == f"({first}, {first})"
            peer.go()
            peer.stopped("breakpoint")
        seen.append(first)
        peer.go()
    assert {"1", "2", "3", "4", "5"} <= set(seen)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("work(local, 2 * local - 1)", "(5, 9)"),
        ("work(-local)", "(-5, 'b')"),
        ("work(b=(local, 'x'), a=None)", "(None, (5, 'x'))"),
        ("work(*pair)", "(7, 8)"),
        ("work(1, *pair[:1])", None),
        ("work(1, **named)", None),
        ("K().method(local)", None),
        ("k.method(local)", "(5, 'b')"),
        ("K.method(k, local, b=1)", "(5, 1)"),
        ("k.of_class(local)", "(5, 'b')"),
        ("k.static(local)", "(5, 'b')"),
        ("K(local)", "(5, 'b')"),
        ("decorated(local, b=3)", "(5, 3)"),
        ("work(shared, 1)", None),
        ("work(GLOBAL, 1)", None),
        ("work(k.attribute, 1)", None),
        ("work(computed(), 1)", None),
        ("work(local, (local := 6))", None),
        ("list(map(work, [1]))", None),
        ("any(gen(local))", None),
        ("asyncio.run(awaiting())", "(5, 'b')"),
    ],
)
def test_arguments_are_read_in_the_call_where_they_are_what_they_were(
    start: Start, call: str, expected: str | None
) -> None:
    peer = start(
        f"""
        import asyncio, functools
        GLOBAL = 1
        def spoil(a, b): return None, None
        def work(a, b="b"):
            a, b = spoil(a, b)
            return a
        def decorate(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper
        @decorate
        def decorated(a, b="b"):
            a, b = spoil(a, b)
            return a
        class K:
            attribute = 1
            def __init__(self, a=None, b="b"):
                if a is None: return
                a, b = spoil(a, b)
                a = a
            def method(self, a, b="b"):
                a, b = spoil(a, b)
                return a
            @classmethod
            def of_class(cls, a, b="b"):
                a, b = spoil(a, b)
                return a
            @staticmethod
            def static(a, b="b"):
                a, b = spoil(a, b)
                return a
        def gen(a, b="b"):
            a, b = spoil(a, b)
            yield a
        async def job(a, b="b"):
            a, b = spoil(a, b)
            return a
        async def awaiting(local=5):
            return await job(local)
        def computed(): return 1
        def main():
            local = 5
            shared = 6
            pair = (7, 8)
            named = {{"b": 2}}
            k = K()
            def inner():
                nonlocal shared
                shared = 7
            {call}
        main()
        """
    )
    text = (peer.folder / "prog.py").read_text().splitlines()
    after = [at + 2 for at, line in enumerate(text) if line.strip() == "a, b = spoil(a, b)"]
    peer.configure(lines=after)
    peer.stopped("breakpoint")
    assert peer.value("a, b") == "(None, None)"
    if expected is None:
        assert peer.stack()[0]["canRestart"] is False
    else:
        restart(peer)
        assert peer.value("a, b") == expected
