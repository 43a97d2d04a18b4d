"""Stops at exceptions, and what is told of them."""

import pytest

from e2e.debuggee.conftest import Start
from e2e.debuggee.peer import Refused

CHAIN = """
    def low():
        raise KeyError("k")
    def high():
        try:
            low()
        except KeyError as error:
            raise ValueError("bad", 1) from error
    def main():
        value = 42
        high()
    main()
"""


def test_uncaught_exception_stops_at_the_raise_with_the_stack_intact(start: Start) -> None:
    peer = start(CHAIN)
    peer.configure(filters=["uncaught"])
    stopped = peer.stopped("exception")
    assert stopped["text"] == "ValueError"
    assert stopped["description"] == "ValueError: ('bad', 1)"
    assert peer.at() == ("high", 7)
    assert peer.locals(frame=1)["value"]["value"] == "42"
    info = peer.ask("exceptionInfo", threadId=1)
    assert (info["exceptionId"], info["breakMode"]) == ("ValueError", "unhandled")
    assert info["description"] == "('bad', 1)"
    details = info["details"]
    assert (details["typeName"], details["fullTypeName"]) == ("ValueError", "ValueError")
    assert details["stackTrace"].splitlines()[-1].endswith("line 7, in high")
    [inner] = details["innerException"]
    assert (inner["typeName"], inner["message"]) == ("KeyError", "'k'")
    peer.go()
    code, _, errors = peer.finish()
    assert code == 1
    assert errors.splitlines()[-1] == "ValueError: ('bad', 1)"


def test_raised_stops_once_per_raise_in_the_first_frame_of_the_program(start: Start) -> None:
    peer = start(
        """
        import json
        def parse():
            return json.loads("nonsense")
        def main():
            try:
                parse()
            except ValueError:
                pass
            for x in iter([]):
                pass
            next(iter(()), None)
            raise SystemExit(4)
        main()
        """
    )
    peer.configure(filters=["raised"])
    assert peer.stopped("exception")["text"] == "json.decoder.JSONDecodeError"
    assert peer.at() == ("parse", 3)
    assert peer.ask("exceptionInfo", threadId=1)["breakMode"] == "always"
    peer.go()
    assert peer.stopped("exception")["text"] == "SystemExit"
    peer.go()
    assert peer.finish()[0] == 4


@pytest.mark.parametrize(
    "body",
    [
        "try: f()\nexcept KeyError: pass",
        "try: f()\nexcept (OSError, LookupError) as e: pass",
        "try: f()\nexcept: pass",
        "try:\n    try: f()\n    except OSError: pass\n    finally: x = len('1')\nexcept KeyError: pass",
        "import contextlib\nwith contextlib.suppress(KeyError): f()",
        "hasattr(P(), 'p')\ngetattr(P(), 'p', 1)",
        "list(S())\nfor _ in S(): pass",
        "import concurrent.futures as c\nwith c.ThreadPoolExecutor() as e: print(type(e.submit(f).exception()))",
        "import asyncio as io\nasync def a():\n    try: await io.create_task(g())\n    except: pass\nio.run(a())",
        "raise SystemExit(0)",
        "try: f()\nexcept* KeyError: pass",
        "def gen():\n    try: yield\n    except KeyError: pass\n    yield\ng = gen(); next(g); g.throw(KeyError())",
    ],
)
def test_exception_that_is_caught_does_not_stop_as_uncaught(start: Start, body: str) -> None:
    peer = start(
        "def f(): raise KeyError(1)\nasync def g(): f()\n"
        "class P:\n    @property\n    def p(self): raise AttributeError('p')\n"
        "class S:\n    def __getitem__(self, i):\n        if i > 2: raise IndexError(i)\n        return i\n"
        + body
        + "\n"
    )
    peer.configure(filters=["uncaught"])
    assert peer.finish()[0] == 0
    assert not [event for event in peer.events() if event["event"] == "stopped"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("try: f()\nexcept OSError: pass", ("f", 1)),
        ("try: f()\nfinally: x = len('1')", ("f", 1)),
        ("try: f()\nexcept KeyError: raise", ("f", 1)),
        ("try: f()\nexcept KeyError as e: raise e", ("f", 1)),
        ("import threading\nt = threading.Thread(target=f); t.start(); t.join()", ("f", 1)),
        ("import asyncio\nasyncio.run(g())", ("f", 1)),
        ("import contextlib\nwith contextlib.nullcontext(): f()", ("f", 1)),
        ("import contextlib\nwith contextlib.suppress(OSError): f()", ("f", 1)),
        ("import nothing_of_this_name", ("<module>", 3)),
        ("def g():\n    yield f()\nlist(g())", ("f", 1)),
    ],
)
def test_exception_that_nothing_catches_stops(start: Start, body: str, place: tuple[str, int]) -> None:
    peer = start("def f(): raise KeyError(1)\nasync def g(): f()\n" + body + "\n")
    peer.configure(filters=["uncaught"])
    thread = peer.stopped("exception")["threadId"]
    frames = [frame for frame in peer.stack(thread) if "presentationHint" not in frame]
    assert (frames[0]["name"], frames[0]["line"]) == place
    peer.go(thread)
    peer.finish()
    assert len([event for event in peer.events() if event["event"] == "stopped"]) == 1


def test_user_unhandled_stops_where_the_exception_will_reach_a_library(start: Start) -> None:
    peer = start(
        """
        import unittest
        class T(unittest.TestCase):
            def test(self):
                self.helper()
            def helper(self):
                raise KeyError(1)
            def test_fine(self):
                try:
                    self.helper()
                except KeyError:
                    pass
        unittest.main()
        """
    )
    peer.configure(filters=["userUnhandled"])
    assert peer.stopped("exception")["text"] == "KeyError"
    assert [frame["name"] for frame in peer.stack()[:2]] == ["T.helper", "T.test"]
    assert peer.ask("exceptionInfo", threadId=1)["breakMode"] == "userUnhandled"


def test_exception_info_tells_notes_groups_and_survives_a_raising_str(start: Start) -> None:
    peer = start(
        """
        class Bad(Exception):
            def __str__(self): raise RuntimeError("no text")
        a = ValueError("a"); a.add_note("first"); a.add_note("second")
        raise ExceptionGroup("many", [a, Bad()])
        """
    )
    peer.configure(filters=["raised"])
    peer.stopped("exception")
    details = peer.ask("exceptionInfo", threadId=1)["details"]
    first, second = details["innerException"]
    assert first["message"] == "a\nfirst\nsecond"
    assert second["message"] == "<str of __main__.Bad raised RuntimeError: no text>"
    assert second["fullTypeName"] == "__main__.Bad"


def test_exception_info_elsewhere_is_refused(start: Start) -> None:
    peer = start("x = 1\n")
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    with pytest.raises(Refused, match="not stopped at an exception"):
        peer.ask("exceptionInfo", threadId=1)
