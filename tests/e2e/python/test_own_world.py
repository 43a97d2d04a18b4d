"""The engine in a program that was running before, and has changed the interpreter."""

import textwrap
from pathlib import Path

import pytest

from e2e.own_world import SPOILING
from e2e.python.listening_program import client, running

pytestmark = [pytest.mark.row("attach"), pytest.mark.each_python]

WAITS = """
    import dapkit
    dapkit.listen()
    dapkit.wait_for_client()
"""
LOOKS = """
    def look(text):
        here = text
        return here
    look("a")
    with Spoiled():
        look("é")
    print("whole again", flush=True)
"""


@pytest.mark.thorough
async def test_program_that_replaces_whatever_it_can_is_debugged_after_it_was_attached_to(
    tmp_path: Path, python: str
) -> None:
    text = SPOILING + textwrap.dedent(WAITS + LOOKS)
    line = text.lstrip("\n").splitlines().index("    here = text") + 1
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, line)
            await session.attach(program.connect)
            for shown in ("'a'", "'é'"):
                stop = await session.next_stop()
                [frame, caller] = (await session.stack_trace(1)).stack_frames
                assert (stop.reason, frame.name, caller.name) == ("breakpoint", "look", "<module>")
                assert (await session.evaluate("text", frame_id=frame.id)).result == shown
                await session.next(1)
                await session.next_stop()
                await session.resume()
            assert program.line() == "whole again"
        assert program.process.wait(30) == 0


GOES_ROUND = """
import dapkit
dapkit.listen()
goes, count = True, 0
with Spoiled():
    while goes:
        count += 1
print("whole again", flush=True)
"""


async def test_engine_is_loaded_while_whatever_can_be_is_replaced(tmp_path: Path, python: str) -> None:
    text = SPOILING + GOES_ROUND
    line = text.lstrip("\n").splitlines().index("        count += 1") + 1
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, line)
            await session.attach(program.connect)
            assert (await session.next_stop()).reason == "breakpoint"
            [frame] = (await session.stack_trace(1)).stack_frames
            assert (await session.evaluate("count", frame_id=frame.id)).result.isdecimal()
            await session.evaluate("goes = False", frame_id=frame.id, context="repl")
            await session.detach()
        assert program.line() == "whole again"
        assert program.process.wait(30) == 0


GREEN = """
    import _thread, os, posix, select, sys, time
    callers = set()
    def replaced(name, function):
        def called(*arguments, **more):
            callers.add((name, sys._getframe(1).f_code.co_filename))
            return function(*arguments, **more)
        return called
    import threading
    ident, threading.main_thread()._ident = threading.get_ident(), 1
    for module in (_thread, os, posix, select, time):
        for name, value in list(vars(module).items()):
            if type(value) is type(len):
                setattr(module, name, replaced(name, value))
"""

REPORTS = """
    here = 1
    print([caller for caller in callers if "/debuggee/" in caller[1]], flush=True)
    threading.main_thread()._ident = ident
"""


async def test_engine_that_comes_after_functions_were_replaced_has_those_of_the_interpreter(
    tmp_path: Path, python: str
) -> None:
    # As gevent does: in the modules in C themselves.
    text = textwrap.dedent(GREEN + WAITS + REPORTS)
    line = text.lstrip("\n").splitlines().index("here = 1") + 1
    with running(text, tmp_path, python) as program:
        program.read_place()
        async with client() as session:
            await session.add_breakpoint(program.file, line)
            await session.attach(program.connect)
            assert (await session.next_stop()).thread_id == 1
            [frame] = (await session.stack_trace(1)).stack_frames
            assert (await session.evaluate("1 + 1", frame_id=frame.id)).result == "2"
            await session.resume()
        assert program.line() == "[]"
        assert program.process.wait(30) == 0
