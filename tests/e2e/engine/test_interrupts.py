"""Ctrl-C in a debugged program arrives where it does in one that is not debugged."""

import pytest

from e2e.engine.conftest import Start

pytestmark = pytest.mark.each_python

DELEGATING = """
    import ctypes, functools, operator, sys
    send_signal = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)["raise"]
    def inner():
        try:
            yield
        except KeyboardInterrupt:
            yield "noticed inside"
    def outer():
        return (yield from inner())
    generator = outer()
    generator.send(None)
    calls = functools.partial(send_signal, 2), functools.partial(generator.send, None)
    print(list(map(operator.call, calls))[1])
"""


def test_interrupt_that_our_callback_runs_into_is_noticed_where_it_would_have_been(start: Start) -> None:
    peer = start(DELEGATING)
    peer.configure(breakpoints=[{"line": 14, "condition": "False"}])
    assert peer.finish()[:2] == (0, "noticed inside\n")
