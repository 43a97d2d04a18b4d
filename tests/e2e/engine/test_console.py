"""evaluate in its contexts: the console above all."""

import time

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Message, Refused

pytestmark = pytest.mark.row("evaluate")

PROGRAM = """
    import threading, time
    shared = {"k": [1, 2]}
    class Thing:
        made = 1
        def __init__(self): self.stored = 5
        @property
        def computed(self):
            print("computed")
            return 6
        def method(self): return 7
    def double(number):
        result = number * 2
        return result
    def work(n):
        thing = Thing()
        items = [10, 20]
        text = "x" * 5000
        stop = 1
        return stop
    work(1)
    print("end", shared)
"""
IN_WORK, IN_DOUBLE = 19, 12


def at_work(start: Start, seconds: float = 30) -> EngineClient:
    peer = start(PROGRAM)
    peer.configure(lines=[IN_WORK], evaluateTimeout=seconds)
    peer.stopped("breakpoint")
    return peer


@pytest.fixture(scope="module")
def standing(start_shared: Start) -> EngineClient:
    """Return a program that stands at work, in which tests only look."""
    return at_work(start_shared)


def repl(peer: EngineClient, text: str, frame: int = 0) -> Message:
    frame_id = peer.stack()[frame]["id"]
    body: Message = peer.ask("evaluate", expression=text, context="repl", frameId=frame_id)
    return body


def test_last_value_is_in_an_underscore_that_the_program_does_not_see(start: Start) -> None:
    peer = at_work(start)
    assert repl(peer, "n + 41")["result"] == "42"
    assert repl(peer, "_ * 2")["result"] == "84"
    assert repl(peer, "None")["result"] == "None"
    assert repl(peer, "[_ for i in items]")["result"] == "[84, 84]"
    assert repl(peer, "import builtins; hasattr(builtins, '_'), '_' in globals()")["result"] == "(True, False)"
    assert peer.value("__import__('builtins').__dict__.get('_', 'gone')") == "'gone'"
    repl(peer, "_ = 'mine'")
    assert repl(peer, "_")["result"] == "'mine'"


def test_values_of_earlier_lines_are_output_that_can_be_opened(start: Start) -> None:
    peer = at_work(start)
    assert repl(peer, "items\nshared\nn")["result"] == "1"
    first, second = peer.event("output"), peer.event("output")
    assert (first["output"], first["category"], second["output"]) == ("[10, 20]\n", "console", "{'k': [1, 2]}\n")
    assert [row["value"] for row in peer.rows(first["variablesReference"])] == ["10", "20"]


@pytest.mark.each_python
def test_await_at_top_level_runs_in_plain_code(start: Start) -> None:
    peer = at_work(start)
    assert repl(peer, "import asyncio\nawait asyncio.sleep(0.01, 'slept')")["result"] == "'slept'"
    assert repl(peer, "x = [await asyncio.sleep(0, i) for i in range(3)]\nx")["result"] == "[0, 1, 2]"
    with pytest.raises(Refused, match="ValueError: no"):
        repl(peer, "async def fails():\n    raise ValueError('no')\nawait fails()")
    peer.go()
    assert peer.finish()[0] == 0


COROUTINES = """
    import asyncio
    async def ticker(seen):
        for number in range(3):
            await asyncio.sleep(0.005)
            seen.append(number)
    async def fetch(queue):
        return await queue.get()
    async def main():
        queue = asyncio.Queue()
        seen = []
        task = asyncio.create_task(ticker(seen))
        asyncio.get_running_loop().call_later(0.01, queue.put_nowait, "item")
        here = 1
        await task
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(5)))
        print(seen, here)
    asyncio.run(main())
"""


@pytest.mark.each_python
def test_await_in_a_stopped_coroutine_is_run_by_its_own_loop(start: Start) -> None:
    peer = start(COROUTINES)
    peer.configure(lines=[13])
    peer.stopped("breakpoint")
    assert repl(peer, "await fetch(queue)")["result"] == "'item'"
    assert repl(peer, "await asyncio.sleep(0.02); asyncio.current_task().get_name()")["result"] == "'Task-1'"
    assert repl(peer, "await asyncio.wait_for(task, 1); seen")["result"] == "[0, 1, 2]"
    peer.go()
    assert peer.finish() == (0, "[0, 1, 2] 1\n", "")


@pytest.mark.each_python
def test_breakpoint_in_an_evaluated_call_stops_and_the_answer_comes_after(start: Start) -> None:
    peer = at_work(start)
    source = {"path": str(peer.folder / "prog.py")}
    peer.ask("setBreakpoints", source=source, breakpoints=[{"line": IN_WORK}, {"line": IN_DOUBLE}])
    frame = peer.stack()[0]["id"]
    asked = peer.send("evaluate", expression="double(n + 20)", context="repl", frameId=frame)
    assert peer.stopped("breakpoint")["hitBreakpointIds"]
    assert [one["name"] for one in peer.stack()] == ["double", "<module>", "work", "<module>"]
    assert peer.locals()["number"]["value"] == "21"
    assert peer.value("number + 1") == "22"
    with pytest.raises(Refused, match="belongs to stop 1, the program is at stop 2"):
        peer.ask("scopes", frameId=frame)
    assert peer.step() == ("double", IN_DOUBLE + 1)
    assert peer.value("result", frame=0) == "42"
    peer.go()
    again = peer.stopped("pause")
    assert again["description"] == "Back from an evaluation"
    assert peer.answer(asked)["body"]["result"] == "42"
    assert peer.at() == ("work", IN_WORK)
    assert peer.value("n") == "1"
    peer.go()
    assert peer.finish() == (0, "end {'k': [1, 2]}\n", "")


def test_stop_inside_an_evaluation_does_not_use_up_its_time(start: Start) -> None:
    peer = at_work(start, seconds=0.5)
    source = {"path": str(peer.folder / "prog.py")}
    peer.ask("setBreakpoints", source=source, breakpoints=[{"line": IN_DOUBLE}])
    asked = peer.send("evaluate", expression="double(1)", context="repl", frameId=peer.stack()[0]["id"])
    peer.stopped("breakpoint")
    assert peer.silent("stopped", 0.8)
    peer.go()
    peer.stopped("pause")
    assert peer.answer(asked)["body"]["result"] == "2"


def test_program_can_be_ended_from_within_an_evaluation(start: Start) -> None:
    peer = at_work(start)
    source = {"path": str(peer.folder / "prog.py")}
    peer.ask("setBreakpoints", source=source, breakpoints=[{"line": IN_DOUBLE}])
    peer.send("evaluate", expression="double(1)", context="repl", frameId=peer.stack()[0]["id"])
    peer.stopped("breakpoint")
    peer.ask("terminate")
    code, _, errors = peer.finish()
    assert (code, errors) == (-2, "")  # nobody but us has interrupted it


def test_watch_does_not_stop_at_breakpoints(start: Start) -> None:
    peer = at_work(start)
    source = {"path": str(peer.folder / "prog.py")}
    peer.ask("setBreakpoints", source=source, breakpoints=[{"line": IN_DOUBLE}])
    assert peer.value("double(3)") == "6"


@pytest.mark.each_python
def test_exception_filters_do_not_stop_in_an_evaluation(start: Start) -> None:
    peer = at_work(start)
    peer.ask("setExceptionBreakpoints", filters=["raised", "uncaught"])
    with pytest.raises(Refused, match="KeyError: 'nothing'"):
        repl(peer, "shared['nothing']")
    assert peer.value("n") == "1"


@pytest.mark.thorough
@pytest.mark.row("cancel, progress")
@pytest.mark.parametrize("expression", ["while True: pass", "time.sleep(60)", "threading.Event().wait()"])
def test_cancel_interrupts_an_evaluation(start: Start, expression: str) -> None:
    peer = at_work(start)
    asked = peer.send("evaluate", expression=expression, context="repl", frameId=peer.stack()[0]["id"])
    assert peer.ask("threads")
    assert peer.ask("cancel", requestId=asked) is None
    answers = [message for message in peer.messages if message.get("request_seq") == asked]
    assert [answer["message"] for answer in answers] == ["cancelled"]
    assert value_once_free(peer, "n") == "1"
    peer.go()
    peer.finish()
    assert sum(message.get("request_seq") == asked for message in peer.messages) == 1


def value_once_free(peer: EngineClient, expression: str) -> str:
    """Evaluate in a thread that may be busy yet: a request that it cannot begin soon is refused."""
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            return peer.value(expression)
        except Refused:
            assert time.monotonic() < deadline


@pytest.mark.row("cancel, progress")
@pytest.mark.parametrize("endless", ["[1 for _ in iter(int, 1)]", "all(iter(lambda: 1, 2))"])
def test_interruption_within_a_callback_of_the_debugger_ends_the_evaluation(start: Start, endless: str) -> None:
    peer = at_work(start)
    for number in range(5):  # the client fails the test if the engine reports an error of its own
        begun = peer.folder / f"begun-{number}"
        expression = f"open({str(begun)!r}, 'w').close() or {endless}"
        asked = peer.send("evaluate", expression=expression, context="repl", frameId=peer.stack()[0]["id"])
        deadline = time.monotonic() + DEADLINE
        while not begun.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        peer.ask("cancel", requestId=asked)
        assert value_once_free(peer, "1 + 1") == "2"
    assert "Internal error" not in str(peer.messages)


@pytest.mark.row("cancel, progress")
def test_cancel_of_what_is_answered_or_unknown_does_nothing(start: Start) -> None:
    peer = at_work(start)
    peer.ask("cancel", requestId=1)
    peer.ask("cancel", requestId=9999)
    peer.ask("cancel")
    assert peer.value("n") == "1"


def test_time_limit_of_the_console_is_an_option(start: Start) -> None:
    peer = at_work(start, seconds=0.3)
    with pytest.raises(Refused, match=r"did not end"):
        repl(peer, "while True: pass")


def test_wrong_time_limit_is_refused(start: Start) -> None:
    peer = start("pass")
    peer.ask("initialize", adapterID="test")
    with pytest.raises(Refused, match="evaluateTimeout is -1, expected seconds, 0 for no limit"):
        peer.ask("launch", evaluateTimeout=-1)


def test_changes_are_told_of_and_looks_are_not(start: Start) -> None:
    peer = at_work(start)
    repl(peer, "n")
    peer.value("n")
    assert peer.silent("invalidated", 0.05)
    repl(peer, "n = 5")
    assert peer.event("invalidated") == {"areas": ["variables"]}
    repl(peer, "items.append(1)")
    assert peer.event("invalidated") == {"areas": ["variables"]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("n", "1"),
        ("shared['k'][-1]", "2"),
        ("thing.stored", "5"),
        ("thing.made", "1"),
        ("Thing.made", "1"),
        ("threading.current_thread", "<function current_thread at"),
        ("thing.method", "<function Thing.method at"),
        ("items", "[10, 20]"),
        ("len", "<built-in function len>"),
        ("n + 41 == 42", "True"),
        ("double.__name__", "'double'"),
        ("Thing.__name__", "'Thing'"),
        ("thing.__class__", "<class '__main__.Thing'>"),
    ],
)
def test_hover_reads_what_is_stored(standing: EngineClient, expression: str, value: str) -> None:
    assert standing.value(expression, context="hover").startswith(value)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("thing.computed", "computed is a property; a hover does not run it"),
        ("thing.method()", "a hover calls nothing"),
        ("n + items", "a hover does not calculate with list"),
        ("2 ** n", "a hover calls nothing"),
        ("(y := 1)", "a hover calls nothing"),
        ("thing['k']", "a hover reads items of built-in containers, not of __main__.Thing"),
        ("items[7]", "IndexError"),
        ("shared[thing]", "a hover does not look for a __main__.Thing"),
        ("thing.nothing", "no attribute 'nothing' of __main__.Thing can be found without running code"),
        ("nothing", "NameError: name 'nothing' is not defined"),
        ("def", "SyntaxError"),
    ],
)
def test_hover_refuses_what_would_run_code(standing: EngineClient, expression: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        standing.value(expression, context="hover")
    assert said in str(refused.value)


def test_refused_hover_has_run_nothing(start: Start) -> None:
    peer = at_work(start)
    for expression in ("thing.computed", "thing.method()", "shared[thing]", "shared.clear()"):
        with pytest.raises(Refused):
            peer.value(expression, context="hover")
    peer.go()
    assert peer.finish() == (0, "end {'k': [1, 2]}\n", "")


def test_contexts_differ_in_how_much_they_show(start: Start) -> None:
    peer = at_work(start)
    assert len(peer.value("text", context="clipboard")) == 5002
    assert len(peer.value("text", context="repl")) == 5002
    assert len(peer.value("text", context="variables")) <= 1000


def test_numbers_are_shown_in_base_16_if_asked(start: Start) -> None:
    peer = at_work(start)
    frame = peer.stack()[0]["id"]
    body = peer.ask("evaluate", expression="items + [True, -n]", frameId=frame, format={"hex": True})
    assert body["result"] == "[0xa, 0x14, True, -0x1]"
    scopes = peer.ask("scopes", frameId=frame)["scopes"]
    rows = {row["name"]: row["value"] for row in peer.rows(scopes[0]["variablesReference"], format={"hex": True})}
    assert rows["n"] == "0x1"


def test_without_a_frame_the_main_module_is_the_place(start: Start) -> None:
    peer = at_work(start)
    assert peer.ask("evaluate", expression="shared", context="repl")["result"] == "{'k': [1, 2]}"
    assert peer.ask("evaluate", expression="fresh = 3", context="repl")["result"] == ""
    assert peer.value("fresh") == "3"


def test_thread_stays_where_it_stood_when_all_others_went_on_during_its_evaluation(start: Start) -> None:
    program = """
        import threading
        asked, done = threading.Event(), threading.Event()
        def worker():
            asked.wait()
            done.set()
        def ask():
            print("asked", flush=True)
            asked.set()
            return done.wait()
        threading.Thread(target=worker).start()
        x = 1
        y = 2
        z = 3
    """
    with start(program) as peer:
        peer.configure(lines=[11])
        peer.stopped("breakpoint")
        frame = peer.stack()[0]["id"]
        asking = peer.send("evaluate", expression="ask()", context="repl", frameId=frame)
        assert peer.process.stdout is not None
        assert peer.process.stdout.readline() == b"asked\n"
        peer.go(thread=2)
        assert peer.answer(asking)["body"]["result"] == "True"
        assert peer.stopped("pause")["description"] == "Back from an evaluation"
        assert peer.at() == ("<module>", 11)
        assert peer.step() == ("<module>", 12)
        peer.go()
        assert peer.finish()[0] == 0


@pytest.mark.each_python
def test_error_in_the_console_has_the_traceback_of_what_was_typed_and_of_the_program(start: Start) -> None:
    peer = start(
        """
        def half(value):
            return value / 0
        try:
            {}["gone"]
        except KeyError:
            print()
        """
    )
    peer.configure(lines=[6])
    peer.stopped("breakpoint")
    with pytest.raises(Refused) as refused:
        repl(peer, "x = 1\nhalf(x)")
    assert str(refused.value).endswith(
        "Traceback (most recent call last):\n"
        '  File "<console>", line 2, in <module>\n'
        "    half(x)\n"
        f'  File "{peer.folder / "prog.py"}", line 2, in half\n'
        "    return value / 0\n"
        "ZeroDivisionError: division by zero"
    )
    assert "KeyError" not in str(refused.value)
    with pytest.raises(Refused) as refused:
        peer.value("half(1)", context="watch")
    assert "Traceback" not in str(refused.value)


FORBIDS_READING = """
    import ctypes, gc, io, json
    def refuse(*_):
        raise RuntimeError("a blocking call")
    names = gc.get_referents(io.BufferedReader.__dict__)[0]
    names["read"] = names["readline"] = names["readlines"] = names["readinto"] = refuse
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(io.BufferedReader))
    x = 1
"""


def test_traceback_is_written_in_a_program_that_forbids_blocking_calls(start: Start) -> None:
    # As the package blockbuster does it for the tests of async programs.
    peer = start(FORBIDS_READING)
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    with pytest.raises(Refused, match=r"obj, end = self.raw_decode\(s, idx=_w\(s, 0\).end\(\)\)[^$]*JSONDecodeError"):
        peer.value("json.loads('{')", "repl")
