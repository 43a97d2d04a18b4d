"""The calls that programs make to debugpy, made to dapkit; and `post_mortem`."""

import os
import subprocess
from pathlib import Path

import pytest

from dapkit.client import Ended, Session, Stopped
from dapkit.protocol import ExceptionInfoArguments
from e2e.python.listening_program import SOURCES, client, running

pytestmark = pytest.mark.row("attach")


def test_every_name_of_debugpy_is_there(python: str) -> None:
    text = """
import dapkit as debugpy
names = ["breakpoint", "configure", "connect", "debug_this_thread", "get_cli_options", "is_client_connected", "listen",
         "log_to", "trace_this_thread", "trigger_exception_handler", "wait_for_client", "__version__"]
print([name for name in names if not hasattr(debugpy, name)])
debugpy.configure({"subProcess": False}, qt="pyside6")
debugpy.configure(python="/usr/bin/python3", pythonEnv={})
for wrong in ({"subProcess": 1}, {"other": 1}, {"qt": "tk"}):
    try:
        debugpy.configure(wrong)
    except ValueError as error:
        print(error)
print(debugpy.get_cli_options(), debugpy.is_client_connected())
debugpy.log_to("/tmp/nothing-is-written-before-there-is-something")
debugpy.breakpoint()
debugpy.debug_this_thread()
debugpy.trace_this_thread(False)
debugpy.trace_this_thread(True)
debugpy.wait_for_client.cancel()
print(debugpy.post_mortem(KeyError(1)), debugpy.trigger_exception_handler())
for wrong in (debugpy.post_mortem, lambda: debugpy.trigger_exception_handler((1, 2, 3)), lambda: debugpy.log_to(1)):
    try:
        wrong()
    except (ValueError, RuntimeError) as error:
        print(error)
host, port = debugpy.listen(("127.0.0.1", 0), in_process_debug_adapter=True)
try:
    debugpy.log_to("/tmp/late")
except RuntimeError as error:
    print(error)
"""
    answer = subprocess.run(
        [python, "-c", text], env={**os.environ, "PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines() == [
        "[]",
        "'subProcess' must be a bool, got 1",
        "unknown property 'other': expected qt or subProcess or python or pythonEnv",
        "'qt' must be one of none, auto, pyside, pyside2, pyside6, pyqt4, pyqt5, pyqt6, got 'tk'",
        "None False",
        "False None",
        "None is not an exception: call it in an except block, or hand one over",
        "(1, 2, 3) is neither an exception nor the result of sys.exc_info()",
        "1 is not a file, a folder or sys.stderr",
        "logging has already begun: call dapkit.log_to() before any other function of dapkit",
    ]


@pytest.mark.each_python
def test_another_thread_can_end_the_wait_for_a_client(tmp_path: Path, python: str) -> None:
    text = """
        import dapkit, threading, time
        dapkit.listen()
        def cancel():
            while waiting.is_alive():
                dapkit.wait_for_client.cancel()
                time.sleep(0.01)
        waiting = threading.Thread(target=dapkit.wait_for_client)
        waiting.start()
        cancel()
        print(dapkit.is_client_connected())
    """
    with running(text, tmp_path, python) as program:
        assert program.line() == "False"
        assert program.process.wait(30) == 0


# Exceptions that the program has caught

FAILS = """
    import dapkit, os, sys
    def divide(a, b):
        return a / b
    def halves(count):
        found = []
        for number in range(count):
            found.append(divide(number, 1 - number))
        return found
    def handle():
        try:
            halves(3)
        except ZeroDivisionError as error:
            shown = CALL
        print(shown)
    dapkit.listen()
    dapkit.wait_for_client()
    handle()
"""


async def names_and_lines(session: Session) -> list[tuple[str, int]]:
    return [(frame.name, frame.line) for frame in (await session.stack_trace(1)).stack_frames]


@pytest.mark.each_python
async def test_caught_exception_is_shown_where_it_came_from(tmp_path: Path, python: str) -> None:
    with running(FAILS.replace("CALL", "dapkit.post_mortem(error)"), tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.attach(program.connect)
            stop = await session.next_stop()
            assert (stop.reason, stop.event.description) == ("exception", "ZeroDivisionError: division by zero")
            expected = [("divide", 3), ("halves", 7), ("handle", 11), ("<module>", 17)]
            assert await names_and_lines(session) == expected
            frames = (await session.stack_trace(1)).stack_frames
            values = [
                (await session.evaluate(text, frame_id=frame.id)).result
                for text, frame in (("(a, b)", frames[0]), ("found", frames[1]), ("error", frames[2]))
            ]
            assert values == ["(1, 0)", "[0.0]", "ZeroDivisionError('division by zero')"]
            [scope, *_] = (await session.scopes(frames[1].id)).scopes
            found = (await session.variables(scope.variables_reference)).variables
            assert [(v.name, v.value) for v in found] == [("count", "3"), ("found", "[0.0]"), ("number", "1")]
            about = await session.request(ExceptionInfoArguments(thread_id=1))
            assert (about.exception_id, about.break_mode) == ("ZeroDivisionError", "unhandled")
            await session.next(1)
            await session.next_stop()
            assert await names_and_lines(session) == [("handle", 14), ("<module>", 17)]
            await session.resume()
        assert program.line() == "True"
        assert program.process.wait(30) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("filters", [(), ("uncaught",)])
async def test_handler_is_triggered_where_the_client_wants_it_or_in_any_case(
    tmp_path: Path, python: str, filters: tuple[str, ...]
) -> None:
    call = "[dapkit.trigger_exception_handler(), dapkit.trigger_exception_handler(sys.exc_info(), False)]"
    with running(FAILS.replace("CALL", call), tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.break_on_exceptions(*filters)
            await session.attach(program.connect)
            state: object = await session.next_stop()
            for _ in range(1 + len(filters)):
                assert isinstance(state, Stopped)
                assert (state.reason, (await names_and_lines(session))[0]) == ("exception", ("divide", 3))
                state = await session.resume()
            assert isinstance(state, Ended)
        assert program.line() == "[None, None]"
        assert program.process.wait(30) == 0


# Threads

UNTRACED = """
    import dapkit, threading
    def work(what):
        return what
    def run(name):
        dapkit.trace_this_thread(False)
        for what in range(1000):
            work(name)
        if name == "b":
            dapkit.trace_this_thread(True)
            work("traced again")
    dapkit.listen()
    dapkit.wait_for_client()
    for name in "ab":
        thread = threading.Thread(target=run, args=name)
        thread.start()
        thread.join()
    run("main")
    dapkit.debug_this_thread()
    work("end")
"""


@pytest.mark.each_python
async def test_nothing_stops_a_thread_that_is_not_to_be_traced(tmp_path: Path, python: str) -> None:
    with running(UNTRACED, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, 3)
            await session.attach(program.connect)
            found = []
            stop: object = await session.next_stop()
            while isinstance(stop, Stopped):
                assert stop.event.thread_id is not None
                [frame, *_] = (await session.stack_trace(stop.event.thread_id)).stack_frames
                found.append((await session.evaluate("what", frame_id=frame.id)).result)
                stop = await session.resume()
            assert found == ["'traced again'", "'end'"]
        assert program.process.wait(30) == 0


NATIVE = """
    import ctypes, dapkit
    def inside(number):
        seen = number + 1
        return seen
    Called = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    @Called
    def begin(given):
        inside(41)
        return None
    def run():
        libc = ctypes.CDLL(None)
        thread = ctypes.c_ulong()
        assert libc.pthread_create(ctypes.byref(thread), None, begin, None) == 0
        assert libc.pthread_join(thread, None) == 0
    dapkit.listen()
    dapkit.wait_for_client()
    run()
    run()
"""


@pytest.mark.each_python
async def test_thread_of_native_code_stops_steps_and_ends_like_any_other(tmp_path: Path, python: str) -> None:
    with running(NATIVE, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, 3)
            await session.attach(program.connect)
            stop: object = await session.next_stop()
            for _ in range(2):
                assert isinstance(stop, Stopped)
                number = stop.event.thread_id
                assert number is not None
                assert number != 1
                names = [frame.name for frame in (await session.stack_trace(number)).stack_frames]
                assert names == ["inside", "begin"]
                await session.next(number)
                await session.next_stop()
                [frame, *_] = (await session.stack_trace(number)).stack_frames
                assert (frame.line, (await session.evaluate("seen", frame_id=frame.id)).result) == (4, "42")
                stop = await session.resume()
            assert isinstance(stop, Ended)
        assert program.process.wait(30) == 0
