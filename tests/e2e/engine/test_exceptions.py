"""Stops at exceptions, and what is told of them."""

import time
from typing import Any

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Message, Refused

pytestmark = pytest.mark.each_python

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


@pytest.mark.parametrize("filters", [["uncaught", "userUnhandled"], ["raised"]])
def test_program_whose_name_does_not_end_in_py_stops_at_its_own_exceptions_alone(
    start: Start, filters: list[str]
) -> None:
    peer = start("import os\n{}[os.sep]\n", name="script")
    peer.configure(filters=filters)
    assert peer.stopped("exception")["text"] == "KeyError"
    assert peer.at() == ("<module>", 2)


@pytest.mark.row("exceptionInfo")
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
    assert details["stackTrace"].splitlines()[-2:] == [
        '    raise ValueError("bad", 1) from error',
        "ValueError: ('bad', 1)",
    ]
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


THROUGH_GENERATORS = """
    import asyncio
    def numbers():
        yield 1
        raise KeyError
    def text():
        return "".join(str(number) for number in numbers())
    async def low():
        raise ValueError
    async def high():
        await low()
    try: text()
    except KeyError as error: kept = error
    try: asyncio.run(high())
    except ValueError: pass
    raise kept
"""


def test_raised_stops_once_for_an_exception_that_leaves_generators_and_coroutines(start: Start) -> None:
    peer = start(THROUGH_GENERATORS)
    peer.configure(filters=["raised"])
    for place in (("numbers", 4), ("low", 8), ("<module>", 15)):
        peer.stopped("exception")
        assert peer.at() == place
        peer.go()
    assert peer.finish()[0] == 1


THROUGH_CONTEXTS = """
    import contextlib
    @contextlib.contextmanager
    def around():
        yield
    def main():
        with around(): raise KeyError
    main()
"""


def test_raised_stops_once_for_an_exception_that_leaves_the_context_of_a_generator(start: Start) -> None:
    peer = start(THROUGH_CONTEXTS)
    peer.configure(filters=["raised"])
    peer.stopped("exception")
    assert peer.at() == ("main", 6)
    peer.go()
    assert peer.finish()[0] == 1


HANDLED_ON_THE_WAY = """
    def low():
        raise KeyError
    def middle():
        try: low()
        except KeyError:
            try: int("x")
            except ValueError: pass
            raise
    def main():
        middle()
    main()
"""


def test_raised_stops_once_for_an_exception_whose_handler_catches_another(start: Start) -> None:
    peer = start(HANDLED_ON_THE_WAY)
    peer.configure(filters=["raised"])
    for text, place in (("KeyError", ("low", 2)), ("ValueError", ("middle", 6))):
        assert peer.stopped("exception")["text"] == text
        assert peer.at() == place
        peer.go()
    assert peer.finish()[0] == 1


@pytest.mark.thorough
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


def test_exit_stops_the_program_unless_its_code_means_success(start: Start) -> None:
    peer = start(
        """
        import sys, threading
        class Code(int):
            def __eq__(self, other): raise KeyError("is not asked")
            __hash__ = int.__hash__
        class Leave(SystemExit):
            code = property(lambda self: 1)
        def leave(how):
            try:
                raise how
            except SystemExit:
                pass
        for _ in range(2):
            for how in (SystemExit(0), SystemExit(), Leave(0), SystemExit(Code(0)), SystemExit(Code(2)), Leave("no")):
                leave(how)
        sys.exit(3)
        """
    )
    peer.configure(filters=["raised", "uncaught"])
    for how in ("SystemExit(2)", "Leave('no')") * 2:
        assert peer.stopped("exception")["text"].endswith(how.partition("(")[0])
        assert eval(peer.value("repr(how)")) == how  # noqa: S307 - a text
        peer.go()
    peer.stopped("exception")
    assert peer.at() == ("<module>", 15)
    peer.go()
    assert peer.finish()[0] == 3


EXCLUDED = {"rules": [{"path": "**", "include": False}], "justMyCode": False}


@pytest.mark.thorough
@pytest.mark.parametrize("filters", [["uncaught"], ["userUnhandled"], ["uncaught", "userUnhandled"]])
@pytest.mark.parametrize(
    ("target", "launch", "code"), [("f", EXCLUDED, 1), ("f", {**EXCLUDED, "justMyCode": True}, 1), ("print", {}, 0)]
)
def test_error_that_passes_through_no_code_that_is_shown_does_not_stop(
    start: Start, filters: list[str], target: str, launch: dict[str, Any], code: int
) -> None:
    peer = start(
        f"""
        import json, threading
        def f(): raise AssertionError('x')
        for target in ({target}, json.loads):
            thread = threading.Thread(target=target, args=('x',) * (target is not f))
            thread.start()
            thread.join()
        {target}()
        """
    )
    peer.configure(filters=filters, **launch)
    assert peer.finish()[0] == code
    assert not [event for event in peer.events() if event["event"] == "stopped"]


@pytest.mark.parametrize("filters", [["uncaught"], ["userUnhandled"]])
def test_error_that_nothing_handles_stops_in_the_function_that_raises_it(start: Start, filters: list[str]) -> None:
    peer = start("def f(): raise AssertionError('x')\nf()\n")
    peer.configure(filters=filters)
    assert peer.stopped("exception")["text"] == "AssertionError"
    assert peer.at() == ("f", 1)
    peer.go()
    assert peer.finish()[0] == 1


@pytest.mark.parametrize(
    "attempt",
    ["try: raise KeyError(1)\n    except Wanted: pass", "try: f()\n    except Wanted: pass"],
    ids=["same frame", "caller"],
)
def test_exception_stops_once_what_its_handler_names_has_changed(start: Start, attempt: str) -> None:
    peer = start(
        f"def f(): raise KeyError(1)\nWanted = LookupError\ndef g():\n    {attempt}\n"
        "for _ in range(3): g()\nWanted = OSError\ng()\n"
    )
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    assert peer.stack()[-1]["line"] == 8


@pytest.mark.thorough
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


MANY_CAUGHT = """
    import contextlib, threading
    def busy():
        for _ in range(6000):
            try:
                raise KeyError
            except KeyError:
                pass
    def fail(kind=ValueError):
        raise kind
    def closing(log):
        try:
            yield 1
        finally:
            log.append("closed")
    def mismatch():
        try:
            fail(LookupError)
        except KeyError:
            pass
    def same(kind):
        try:
            raise kind
        except KeyError:
            pass
    def final(log):
        try:
            raise ValueError
        finally:
            log.append("final")
    def loop(log):
        for _ in closing(log):
            int("x")
    def handler():
        try:
            fail(KeyError)
        except KeyError:
            raise ValueError
    def named():
        try:
            fail(KeyError)
        except KeyError as log:
            raise ValueError
    def within():
        with contextlib.suppress(KeyError):
            raise ValueError
    def thrown(log):
        generator = closing(log)
        next(generator)
        generator.throw(ValueError)
    def native():
        return [1, int("x")]
    def main():
        busy()
        log = []
        {body}
    {start}
"""


@pytest.mark.thorough
@pytest.mark.parametrize("start_of_main", ["main()", "threading.Thread(target=main).start()"], ids=["main", "thread"])
@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("fail()", ("fail", 9)),
        ("mismatch()", ("fail", 9)),
        ("same(KeyError); same(ValueError)", ("same", 22)),
        ("final(log)", ("final", 27)),
        ("loop(log)", ("loop", 32)),
        ("handler()", ("handler", 37)),
        ("named()", ("named", 42)),
        ("within()", ("within", 45)),
        ("thrown(log)", ("closing", 12)),
        ("native()", ("native", 51)),
    ],
)
def test_uncaught_exception_stops_as_early_after_many_that_were_caught(
    start: Start, body: str, place: tuple[str, int], start_of_main: str
) -> None:
    peer = start(MANY_CAUGHT.format(body=body, start=start_of_main))
    peer.configure(filters=["uncaught"])
    thread = peer.stopped("exception")["threadId"]
    assert peer.at(thread) == place
    log = peer.locals(thread).get("log")
    assert log is None or log["value"] in ("[]", "KeyError()")
    peer.go(thread)
    peer.finish()
    assert len([event for event in peer.events() if event["event"] == "stopped"]) == 1


@pytest.mark.parametrize(
    ("kind", "end", "place"),
    [
        ("closing", "throw(ValueError)", ("closing", 6)),
        ("handing_on", "throw(ValueError)", ("closing", 6)),
        ("failing", "close()", ("failing", 13)),
    ],
)
def test_uncaught_exception_stops_as_early_in_a_generator_suspended_since_before_many_were_caught(
    start: Start, kind: str, end: str, place: tuple[str, int]
) -> None:
    peer = start(
        f"""
        def busy():
            for _ in range(6000):
                try: raise KeyError
                except KeyError: pass
        def closing(log):
            try: yield 1
            finally: log.append("closed")
        def handing_on(log):
            yield from closing(log)
        def failing(log):
            try: yield 1
            finally:
                try: raise ValueError
                finally: log.append("failed")
        def main():
            log = []
            generator = {kind}(log)
            next(generator)
            busy()
            generator.{end}
        main()
        """
    )
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    assert peer.at() == place
    assert peer.locals()["log"]["value"] == "[]"
    peer.go()
    peer.finish()


@pytest.mark.parametrize("busy", ["", "busy()"], ids=["few caught", "many caught"])
@pytest.mark.parametrize("attempt", ["fail()", "raise ValueError"], ids=["of a call", "of its own"])
@pytest.mark.thorough
def test_exception_stops_in_the_function_of_its_handler_that_raises_it_again(
    start: Start, attempt: str, busy: str
) -> None:
    peer = start(
        f"""
        def busy():
            for _ in range(6000):
                try: raise KeyError
                except KeyError: pass
        def fail(): raise ValueError
        def again(log):
            try: raise
            finally: log.append("again")
        def main():
            {busy or "pass"}
            log = []
            try: {attempt}
            except ValueError: again(log)
        main()
        """
    )
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    raised = [("fail", 5), ("main", 12)] if "fail" in attempt else [("main", 12)]
    stack = [(frame["name"], frame["line"]) for frame in peer.stack()]
    assert stack == [*raised, ("again", 7), ("main", 13), ("<module>", 14)]
    assert peer.locals(frame=len(raised))["log"]["value"] == "[]"
    peer.go()
    peer.finish()
    assert len([event for event in peer.events() if event["event"] == "stopped"]) == 1


def test_each_uncaught_exception_stops_after_many_that_were_caught(start: Start) -> None:
    body = (
        "for _ in range(3): thread = threading.Thread(target=same, args=(ValueError,)); thread.start(); thread.join()"
    )
    peer = start(MANY_CAUGHT.format(body=body, start="main()"))
    peer.configure(filters=["uncaught"])
    for _ in range(3):
        thread = peer.stopped("exception")["threadId"]
        assert peer.at(thread) == ("same", 22)
        peer.go(thread)
    assert peer.finish()[0] == 0


def test_filters_that_change_after_many_exceptions_were_caught_count_at_once(start: Start) -> None:
    peer = start(MANY_CAUGHT.format(body="same(KeyError); same(KeyError)  # STOP\n        fail()", start="main()"))
    peer.ask("setFunctionBreakpoints", breakpoints=[{"name": "same"}])
    peer.configure(filters=["uncaught"])
    peer.stopped("function breakpoint")
    peer.ask("setExceptionBreakpoints", filters=["raised"])
    peer.go()
    peer.stopped("exception")
    assert peer.at() == ("same", 22)
    peer.ask("setExceptionBreakpoints", filters=["uncaught"])
    peer.go()
    peer.stopped("function breakpoint")
    peer.go()
    peer.stopped("exception")
    assert peer.at() == ("fail", 9)
    peer.go()
    peer.finish()


def test_step_from_an_uncaught_exception_stops_in_the_finally_of_a_caller_after_many_were_caught(start: Start) -> None:
    body = "try: same(ValueError)\n        finally: log.append(1)"
    peer = start(MANY_CAUGHT.format(body=body, start="main()"))
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    assert peer.at() == ("same", 22)
    place = peer.step()
    while place[0] == "same":  # where RAISE is watched, the frame goes on to its handler
        place = peer.step()
    assert place == ("main", 56)
    peer.go()
    peer.finish()


def test_exception_stops_that_is_raised_after_an_earlier_stop_and_many_that_were_caught(start: Start) -> None:
    thread = "thread = threading.Thread(target=same, args=(ValueError,)); thread.start(); thread.join()"
    peer = start(MANY_CAUGHT.format(body=f"{thread}; busy(); {thread}; busy(); final(log)", start="main()"))
    peer.configure(filters=["uncaught"])
    for place in (("same", 22), ("same", 22), ("final", 27)):
        number = peer.stopped("exception")["threadId"]
        assert peer.at(number) == place
        peer.go(number)
    peer.finish()


def test_step_that_an_exception_ends_stops_in_the_caller_after_many_were_caught(start: Start) -> None:
    peer = start(MANY_CAUGHT.format(body="same(KeyError); mismatch()", start="main()"))
    peer.ask("setFunctionBreakpoints", breakpoints=[{"name": "mismatch"}])
    peer.configure(filters=["uncaught"])
    peer.stopped("function breakpoint")
    peer.step()
    peer.send("next", threadId=1)
    peer.stopped("exception")
    assert peer.at() == ("fail", 9)
    peer.go()
    peer.finish()


@pytest.mark.row("setExceptionBreakpoints")
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


IN_LIBRARIES = """
    import json, unittest
    from shop.errors import Redirect, Sold
    from asyncio import CancelledError
    class T(unittest.TestCase):
        def test_1(self): json.loads("")
        def test_2(self): self.skipTest("not now")
        def test_3(self): raise Redirect
        def test_4(self): raise CancelledError
        def test_5(self):
            try: import nothing_of_this_name
            except ImportError: pass
            import broken
        def test_6(self): raise Sold
        def test_7(self): raise type("WebSocketDisconnect", (Exception,), {"__module__": "starlette.websockets"})
    unittest.main(argv=["prog"], exit=False)
    def last(): json.loads("")
    last()
"""


def test_user_unhandled_shows_the_line_of_the_program_and_leaves_control_flow_alone(start: Start) -> None:
    peer = start(IN_LIBRARIES)
    (peer.folder / "shop").mkdir()
    (peer.folder / "shop" / "errors.py").write_text("class Redirect(Exception): pass\nclass Sold(Redirect): pass\n")
    (peer.folder / "broken.py").write_text("from json import nothing_of_this_name\n")
    rules = [{"exception": "shop.*.Sold", "include": True}, {"exception": "shop.errors.Redirect", "include": False}]
    peer.configure(filters=["userUnhandled"], rules=rules)
    places: list[tuple[str, int]] = []
    while len(places) < 4:
        peer.stopped("exception")
        places.append(peer.at())
        assert peer.value("1 + 1") == "2"
        assert peer.ask("exceptionInfo", threadId=1)["breakMode"] == "userUnhandled"
        peer.go()
    assert places == [("T.test_1", 5), ("<module>", 1), ("T.test_6", 13), ("last", 16)]
    assert peer.finish()[0] == 1
    assert sum(event["event"] == "stopped" for event in peer.events()) == len(places)


UNPICKLED_TRACEBACK = """
    class Failed(Exception): pass
    stub = compile("\\n\\n\\nraise __traceback_maker", __file__, "exec").replace(co_name="work")
    def made_again():
        try: exec(stub, {"__file__": __file__, "__name__": "prog"})
        except Exception as error: return error.__traceback__.tb_next
    import json
    def with_traceback(_): raise Failed("far away").with_traceback(made_again())
    json.loads("{}", object_hook=with_traceback)
"""
"""As tblib does for each frame of a traceback that it has unpickled."""


@pytest.mark.parametrize("filters", [["raised"], ["userUnhandled"]])
def test_code_by_which_tblib_makes_a_traceback_again_stops_nothing(start: Start, filters: list[str]) -> None:
    peer = start(UNPICKLED_TRACEBACK)
    peer.configure(filters=filters)
    assert peer.stopped("exception")["text"] == "__main__.Failed"
    peer.go()
    assert peer.finish()[0] == 1
    assert sum(event["event"] == "stopped" for event in peer.events()) == 1


SWALLOWED_BY_C = """
    import io, threading
    class Proxy(io.TextIOBase):
        def __getattr__(self, name): raise AttributeError(name)
    local = threading.local()
    def work(): local.proxy = Proxy()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    kept = Proxy()
"""
"""The finalizers of both, at the end of a thread and of the program, look for an attribute."""


def test_exceptions_that_c_code_swallows_with_no_frame_below_are_not_uncaught(start: Start) -> None:
    peer = start(SWALLOWED_BY_C)
    peer.configure(filters=["uncaught", "userUnhandled"])
    assert peer.finish()[0] == 0
    assert not [event for event in peer.events() if event["event"] == "stopped"]


C_CODE_IMPORTS = """
    import os, sys, warnings
    warnings.simplefilter("ignore")
    os.environ["PYTHONBREAKPOINT"] = "no_such_module.function"
    for _ in range(3): sys.__breakpointhook__()
"""
"""It looks for the module, and warns if there is none."""


@pytest.mark.parametrize("filters", [["uncaught"], ["uncaught", "userUnhandled"]])
def test_import_that_c_code_does_without_is_not_uncaught(start: Start, filters: list[str]) -> None:
    peer = start(C_CODE_IMPORTS)
    peer.configure(filters=filters)
    assert peer.finish()[0] == 0
    assert not [event for event in peer.events() if event["event"] == "stopped"]


@pytest.mark.parametrize("imports", ["import no_such_module", "__import__('no_such_module')"])
def test_import_that_fails_is_uncaught(start: Start, imports: str) -> None:
    peer = start(f"{C_CODE_IMPORTS}\n    def f():\n        {imports}\n    f()\n")
    peer.configure(filters=["uncaught"])
    assert peer.stopped("exception")["text"] == "ModuleNotFoundError"
    assert "f" in [frame["name"] for frame in peer.ask("stackTrace", threadId=1)["stackFrames"]]
    peer.go()
    assert peer.finish()[0] == 1


@pytest.mark.parametrize(
    ("just_my_code", "place"), [(True, ("f", 2)), (False, ("loads", 0))], ids=["own code alone", "all code"]
)
def test_raised_stops_in_libraries_where_they_are_shown(
    start: Start, *, just_my_code: bool, place: tuple[str, int]
) -> None:
    peer = start("import json\ndef f(): json.loads(b'\\xff')\ntry: f()\nexcept ValueError: pass\n")
    peer.configure(filters=["raised"], justMyCode=just_my_code)
    peer.stopped("exception")
    name, line = peer.at()
    assert (name, line) == place if just_my_code else name != "f"


def test_exceptions_that_imports_catch_inside_stop_nowhere(start: Start) -> None:
    peer = start("import colorsys\nx = 1\n")
    rules = [{"path": str(peer.folder), "include": True}]
    peer.configure(filters=["raised"], rules=rules, justMyCode=False)
    assert peer.finish()[0] == 0
    assert not [event for event in peer.events() if event["event"] == "stopped"]


@pytest.mark.row("exceptionInfo")
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
    assert details["evaluateName"] == "__exception__"
    assert peer.value(first["evaluateName"] + ".args") == "('a',)"
    assert peer.value(second["evaluateName"] + ".__class__.__name__", "repl") == "'Bad'"


@pytest.mark.row("exceptionInfo")
def test_exception_info_elsewhere_is_refused(start: Start) -> None:
    peer = start("x = 1\n")
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    with pytest.raises(Refused, match="not stopped at an exception"):
        peer.ask("exceptionInfo", threadId=1)


def set_exceptions(peer: EngineClient, **arguments: object) -> list[Message]:
    answers: list[Message] = peer.ask("setExceptionBreakpoints", **arguments)["breakpoints"]
    return answers


def configure_then(peer: EngineClient, **arguments: object) -> list[Message]:
    """Start the program with exception breakpoints of any kind."""
    peer.ask("initialize", adapterID="test")
    peer.ask("launch")
    answers = set_exceptions(peer, **arguments)
    peer.ask("configurationDone")
    return answers


def stops(peer: EngineClient) -> list[tuple[str, str]]:
    """Let the program go on at each stop; return the exceptions and break modes."""
    found: list[tuple[str, str]] = []
    while True:
        while not peer.ended and not any(event["event"] == "stopped" for event in peer.unseen):
            message = peer.read(time.monotonic() + DEADLINE)
            if message is not None and message["type"] == "event":
                peer.unseen.append(message)
        if not any(event["event"] == "stopped" for event in peer.unseen):
            return found
        stopped = peer.stopped("exception")
        mode = peer.ask("exceptionInfo", threadId=stopped["threadId"])["breakMode"]
        found.append((stopped["text"], mode))
        peer.go(stopped["threadId"])


MANY = """
    import json
    class Own(LookupError): pass
    for raising in ("int('x')", "{}['k']", "[][1]", "open('/nowhere')", "json.loads('')", "raise Own('own')"):
        try:
            exec(raising)
        except Exception:
            pass
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("KeyError", ["KeyError"]),
        ("KeyError, OSError", ["KeyError", "FileNotFoundError"]),
        ("LookupError", ["KeyError", "IndexError", "__main__.Own"]),
        ("LookupError, not KeyError", ["IndexError", "__main__.Own"]),
        ("not LookupError, not ValueError", ["FileNotFoundError"]),
        ("!Exception", []),
        ("json.JSONDecodeError", ["json.decoder.JSONDecodeError"]),
        ("__main__.Own", ["__main__.Own"]),
        ("other.Own", []),
        ("exc.errno == 2", ["FileNotFoundError"]),
        ("isinstance(exception, LookupError) and 'own' in str(exc)", ["__main__.Own"]),
        ("raising[0] == '['", ["IndexError"]),
    ],
)
@pytest.mark.row("setExceptionBreakpoints")
def test_condition_limits_a_filter_to_types_or_by_an_expression(start: Start, condition: str, names: list[str]) -> None:
    peer = start(MANY)
    answers = configure_then(peer, filterOptions=[{"filterId": "raised", "condition": condition}])
    assert answers == [{"verified": True}]
    assert stops(peer) == [(name, "always") for name in names]


def test_condition_that_raises_counts_as_false_and_is_told_once_for_each_reason(start: Start) -> None:
    peer = start("for i in range(3):\n    try: int('x')\n    except ValueError: pass\n")
    configure_then(peer, filterOptions=[{"filterId": "raised", "condition": "exc.errno == 2"}])
    assert stops(peer) == []
    told = [event["body"]["output"] for event in peer.events() if event["event"] == "output"]
    assert told == [
        (
            "The condition 'exc.errno == 2' of an exception breakpoint raised AttributeError: "
            "'ValueError' object has no attribute 'errno' for ValueError; it counts as false there.\n"
        )
    ]


def test_bad_condition_is_an_error_on_its_breakpoint_alone(start: Start) -> None:
    peer = start(MANY)
    answers = configure_then(
        peer,
        filters=["uncaught"],
        filterOptions=[
            {"filterId": "raised", "condition": "exc.errno =="},
            {"filterId": "raised", "condition": "KeyError"},
            {"filterId": "raised", "condition": 7},
        ],
        exceptionOptions=[{"path": "KeyError", "breakMode": "always"}],
    )
    assert [answer["verified"] for answer in answers] == [True, False, True, False, False]
    assert "invalid syntax" in answers[1]["message"]
    assert answers[3]["message"] == "condition is 7, expected a text"
    assert answers[4]["message"] == "path is 'KeyError', expected a list of segments"
    assert stops(peer) == [("KeyError", "always")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([{"breakMode": "always", "path": [{"names": ["Python Exceptions"]}, {"names": ["KeyError", "OSError"]}]}],
         [("KeyError", "always"), ("FileNotFoundError", "always")]),
        ([{"breakMode": "always", "path": [{"names": ["LookupError"]}, {"names": ["KeyError"], "negate": True}]}],
         [("IndexError", "always"), ("__main__.Own", "always")]),
        ([{"breakMode": "always"}, {"breakMode": "never", "path": [{"names": ["Exception"]}]}], []),
        ([{"breakMode": "unhandled"}], []),
    ],
)  # fmt: skip
@pytest.mark.row("setExceptionBreakpoints")
def test_exception_options_select_by_a_path_of_names(
    start: Start, options: list[Message], expected: list[tuple[str, str]]
) -> None:
    peer = start(MANY)
    assert configure_then(peer, exceptionOptions=options) == [{"verified": True}] * len(options)
    assert stops(peer) == expected


def test_wrong_exception_breakpoints_are_refused_with_what_is_expected(start: Start) -> None:
    peer = start("x = 1\n")
    for arguments, said in (
        ({"filters": "raised"}, "filters is 'raised', expected a list of texts"),
        ({"filterOptions": [{"filterId": "x"}]}, "exception filter 'x' is unknown; there are raised, uncaught"),
        ({"filterOptions": ["raised"]}, r"filterOptions is \['raised'\], expected a list of objects"),
        ({"exceptionOptions": [{"breakMode": "now"}]}, "breakMode is 'now', expected never, always, unhandled or"),
    ):
        with pytest.raises(Refused, match=said):
            set_exceptions(peer, **arguments)
    assert set_exceptions(peer) == []


UNCAUGHT_WAYS = {
    "library": "import json\ndef a(): json.loads('')\ndef b(): a()\nb()",
    "callback": "import functools\ndef k(a, b): json.loads('')\nimport json\ndef f(): sorted([1, 2], "
    "key=functools.cmp_to_key(k))\nf()",
    "reraise": "def f():\n    try: {}['k']\n    except KeyError: raise\ndef g(): f()\ng()",
    "raise again": "def f():\n    try: {}['k']\n    except KeyError as e: raise e\ndef g(): f()\ng()",
    "from": "def f():\n    try: {}['k']\n    except KeyError as e: raise ValueError('v') from e\ndef g(): f()\ng()",
    "finally": "def f():\n    try: {}['k']\n    finally: x = 1\ndef g():\n    try: f()\n    finally: print()\ng()",
    "with": "import contextlib, json\n@contextlib.contextmanager\ndef c():\n    try: yield\n    finally: x = 1\n"
    "def f():\n    with c(), open('/dev/null'): json.loads('')\nf()",
    "group": "def f(): raise ExceptionGroup('g', [KeyError(1), OSError(2)])\ndef g():\n    try: f()\n"
    "    except* KeyError: pass\ng()",
    "thread": "import threading, json\nt = threading.Thread(target=lambda: json.loads(''))\nt.start()\nt.join()",
    "future": "import concurrent.futures as c, json\nwith c.ThreadPoolExecutor() as e:\n"
    "    e.submit(json.loads, '').result()",
    "generator": "import json\ndef g():\n    yield json.loads('')\ndef f():\n    for x in g(): pass\nf()",
    "task": "import asyncio, json\nasync def f(): json.loads('')\nasync def g(): await asyncio.gather(f(), f())\n"
    "asyncio.run(g())",
}


@pytest.mark.thorough
@pytest.mark.parametrize("way", UNCAUGHT_WAYS)
@pytest.mark.parametrize("filters", [["uncaught"], ["raised", "uncaught"]])
def test_uncaught_exception_stops_exactly_once_as_such(start: Start, way: str, filters: list[str]) -> None:
    peer = start(UNCAUGHT_WAYS[way] + "\n")
    peer.configure(filters=filters)
    found = stops(peer)
    if filters == ["uncaught"] or way in ("library", "callback", "finally", "thread", "generator"):
        assert [mode for _, mode in found] == ["unhandled"]
    assert found.count(("unhandled", found[-1][0])) <= 1


KEPT = """
    def work():
        raise ValueError("first")
    def again(error):
        raise error
    try:
        work()
    except ValueError as error:
        kept = error
    def retry():
        for _ in range(2):
            try:
                again(kept)
            except ValueError as error:
                last = error
        again(last)
    retry()
"""


@pytest.mark.row("setExceptionBreakpoints")
def test_exception_that_was_kept_is_shown_where_it_is_raised_again(start: Start) -> None:
    peer = start(KEPT)
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    assert [(frame["name"], frame["line"]) for frame in peer.stack()] == [("again", 4), ("retry", 15), ("<module>", 16)]
    peer.go()
    assert peer.finish()[0] == 1


@pytest.mark.row("setExceptionBreakpoints")
def test_group_of_exceptions_is_described_by_its_text(start: Start) -> None:
    peer = start("raise ExceptionGroup('both', [ValueError(1), KeyError(2)])\n")
    peer.configure(filters=["uncaught"])
    assert peer.stopped("exception")["description"] == "ExceptionGroup: both (2 sub-exceptions)"


TRACED = """
    class Odd(Exception):
        def __str__(self):
            return "told by its own code"
    def deep(n):
        if n:
            return deep(n - 1)
        {}["key"]
    def load():
        try:
            deep(120)
        except KeyError as error:
            raise Odd from error
    def work():
        try:
            load()
        except Odd:
            raise ExceptionGroup("both", [ValueError("one"), TypeError("two")])
    work()
"""


@pytest.mark.row("exceptionInfo")
def test_stack_trace_is_what_python_prints_with_causes_contexts_and_groups(start: Start) -> None:
    peer = start(TRACED)
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    trace = peer.ask("exceptionInfo", threadId=1)["details"]["stackTrace"]
    file = peer.folder / "prog.py"

    def at(line: int, name: str, text: str) -> str:
        return f'  File "{file}", line {line}, in {name}\n    {text}\n'

    header = "Traceback (most recent call last):\n"
    assert trace == (
        header
        + at(10, "load", "deep(120)")
        + at(6, "deep", "return deep(n - 1)") * 3
        + "  [Previous line repeated 117 more times]\n"
        + at(7, "deep", '{}["key"]')
        + "KeyError: 'key'\n"
        + "\nThe above exception was the direct cause of the following exception:\n\n"
        + header
        + at(15, "work", "load()")
        + at(12, "load", "raise Odd from error")
        + "Odd: told by its own code\n"
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + header
        + at(18, "<module>", "work()")
        + at(17, "work", 'raise ExceptionGroup("both", [ValueError("one"), TypeError("two")])')
        + "ExceptionGroup: both (2 sub-exceptions)\n"
        + "  +---------------- 1 ----------------\n  | ValueError: one\n"
        + "  +---------------- 2 ----------------\n  | TypeError: two\n"
        + "  +------------------------------------\n"
    )


@pytest.mark.row("exceptionInfo")
def test_exceptions_that_are_linked_from_many_places_are_described_once(start: Start) -> None:
    peer = start(
        """
        error = ValueError("innermost")
        for depth in range(8):
            last = error
            error = ExceptionGroup(f"group {depth}", [last] * 8)
            error.__context__ = last
        raise error
        """
    )
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    details = peer.ask("exceptionInfo", threadId=1)["details"]
    assert details["stackTrace"].count("During handling of the above exception") == 8
    assert [inner["message"] for inner in details["innerException"]] == ["group 6 (8 sub-exceptions)"] * 9


def test_stack_trace_of_a_deep_recursion_of_two_functions_has_its_ends(start: Start) -> None:
    peer = start(
        """
        def one(n):
            two(n)
        def two(n):
            one(n - 1) if n else 1 / 0
        one(200)
        """
    )
    peer.configure(filters=["uncaught"])
    peer.stopped("exception")
    lines = peer.ask("exceptionInfo", threadId=1)["details"]["stackTrace"].splitlines()
    assert lines[2] == "    one(200)"
    assert "  [303 more frames]" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
