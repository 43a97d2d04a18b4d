"""A program debugged through the adapter, in each Python version: breakpoints, steps, values, exceptions, threads."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import RequestFailed
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import only_line

pytestmark = pytest.mark.each_python

ORDERS = Path(__file__).parents[3] / "examples" / "orders"

LOOP = """
    total = 0
    for number in range(10):

        # what follows counts
        total += number
        print(total)
    print("end")
"""

CALLS = """
    def inner(a):
        b = a * 2
        return b

    def outer(x):
        y = inner(x)
        z = [y, {"k": x}]
        return z

    result = outer(3)
    print(result)
"""


@pytest.fixture
def launch(python: str) -> Mapping[str, object]:
    """Return launch arguments for each Python version."""
    return {"python": python}


async def stop(driver: AdapterClient) -> Stopped:
    return await driver.session.next_stop()


async def test_breakpoint_stops_shows_the_stack_and_the_values(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(CALLS, 3, **launch)
    stopped = await stop(driver)
    [known] = driver.session.breakpoints
    frames = await driver.frames()
    assert known.answer is not None
    assert (stopped.reason, stopped.event.hit_breakpoint_ids) == ("breakpoint", [known.answer.id])
    assert [(frame.name, frame.line) for frame in frames] == [("inner", 3), ("outer", 6), ("<module>", 10)]
    assert frames[0].source is not None
    assert frames[0].source.path == str(driver.file)
    assert {name: one.value for name, one in (await driver.locals()).items()} == {"a": "3", "b": "6"}
    assert {name: one.value for name, one in (await driver.locals(1)).items()} == {"x": "3"}
    assert await driver.resume() == Ended(0)
    assert driver.output("stdout") == "[6, {'k': 3}]\n"


async def test_breakpoint_on_a_line_without_code_moves_and_says_so(driver: AdapterClient) -> None:
    await driver.start(LOOP, 4)
    await stop(driver)
    [known] = driver.session.breakpoints
    assert known.verified
    assert known.line == 5
    assert known.message
    assert await driver.where() == ("<module>", 5)


async def test_breakpoint_behind_the_last_line_is_not_verified(driver: AdapterClient) -> None:
    await driver.start(LOOP, 999)
    [known] = driver.session.breakpoints
    assert not known.verified
    assert known.message
    assert await driver.session.wait_until_ended() == Ended(0)


async def test_breakpoint_in_a_file_that_does_not_exist_is_not_verified(driver: AdapterClient) -> None:
    await driver.session.add_breakpoint(driver.folder / "missing.py", 1)
    await driver.start("print()")
    [known] = driver.session.breakpoints
    assert (known.verified, bool(known.message)) == (False, True)


async def test_condition_is_a_python_expression(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    file = driver.write(LOOP)
    await driver.session.add_breakpoint(file, 5, condition="number == 7 and total > 0")
    await driver.launch(program="prog.py", **launch)
    await stop(driver)
    assert (await driver.locals())["number"].value == "7"
    assert await driver.resume() == Ended(0)


async def test_condition_with_a_fault_is_refused_with_the_fault(driver: AdapterClient) -> None:
    file = driver.write(LOOP)
    await driver.session.add_breakpoint(file, 5, condition="number ==")
    await driver.launch(program="prog.py")
    [known] = driver.session.breakpoints
    assert not known.verified
    assert "invalid syntax" in (known.message or "")


async def test_condition_that_raises_is_told(driver: AdapterClient) -> None:
    file = driver.write(LOOP)
    await driver.session.add_breakpoint(file, 5, condition="missing > 1")
    await driver.launch(program="prog.py")
    await driver.session.settled()
    assert "NameError" in driver.output()


async def test_hit_condition_counts(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    file = driver.write(LOOP)
    await driver.session.add_breakpoint(file, 5, hit_condition="4")
    await driver.launch(program="prog.py", **launch)
    await stop(driver)
    assert (await driver.locals())["number"].value == "3"


async def test_log_message_is_written_without_a_stop(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    file = driver.write(LOOP)
    await driver.session.add_breakpoint(file, 5, log_message="at {number}: {total}")
    await driver.launch(program="prog.py", **launch)
    assert await driver.session.wait_until_ended() == Ended(0)
    assert driver.output("console").splitlines()[:3] == ["at 0: 0", "at 1: 0", "at 2: 1"]


@pytest.mark.thorough
async def test_breakpoints_can_be_set_and_removed_while_the_program_runs(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    program = "import time\nwhile True:\n    time.sleep(0.001)\n    x = 1\n"
    await driver.start("print('ready', flush=True)\n" + program, **launch)
    await only_line(driver)
    known = await driver.session.add_breakpoint(driver.file, 5)
    stopped = await stop(driver)
    assert (known.verified, stopped.reason, await driver.where()) == (True, "breakpoint", ("<module>", 5))
    await driver.session.remove_breakpoint(known.number)
    await driver.session.continue_(1)
    await driver.session.pause(1)
    assert (await stop(driver)).reason == "pause"


@pytest.mark.thorough
async def test_steps_go_over_into_and_out(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(CALLS, 6, **launch)
    await stop(driver)
    places = []
    for step in (driver.session.step_in, driver.session.next, driver.session.step_out, driver.session.next):
        await step(1)
        assert (await stop(driver)).reason == "step"
        places.append(await driver.where())
    assert places == [("inner", 2), ("inner", 3), ("outer", 6), ("outer", 7)]


@pytest.mark.thorough
async def test_step_over_the_last_line_ends_the_program(driver: AdapterClient) -> None:
    await driver.start("x = 1\ny = 2\n", 2)
    await stop(driver)
    await driver.session.next(1)
    assert await driver.session.wait_until_ended() == Ended(0)


@pytest.mark.thorough
async def test_values_open_page_by_page(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start("items = list(range(1000))\nnested = {'a': [1, (2,)]}\nprint()\n", 3, **launch)
    await stop(driver)
    variables = await driver.locals()
    items = variables["items"]
    assert (items.type, items.indexed_variables) == ("list", 1000)
    page = await driver.session.variables(items.variables_reference, start=500, count=3, filter="indexed")
    assert [(one.name, one.value) for one in page.variables] == [("[500]", "500"), ("[501]", "501"), ("[502]", "502")]
    nested = await driver.session.variables(variables["nested"].variables_reference)
    assert [one.value for one in nested.variables if "a" in one.name] == ["[1, (2,)]"]


@pytest.mark.thorough
async def test_evaluate_sees_the_frame(driver: AdapterClient) -> None:
    await driver.start(CALLS, 3)
    await stop(driver)
    frames = await driver.frames()
    for context in ("watch", "hover", "repl", "clipboard", "variables"):
        for frame, expression, result in ((0, "a + b", "9"), (1, "x", "3"), (2, "outer.__name__", "'outer'")):
            found = await driver.session.evaluate(expression, frame_id=frames[frame].id, context=context)
            assert found.result == result, context


async def test_evaluate_in_the_console_runs_statements(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start(CALLS, 3, **launch)
    await stop(driver)
    frame = (await driver.frames())[0].id
    await driver.session.evaluate("b = 100; print('said')", frame_id=frame, context="repl")
    assert (await driver.resume(), driver.output("stdout")) == (Ended(0), "said\n[100, {'k': 3}]\n")


@pytest.mark.thorough
async def test_evaluation_that_raises_fails_with_the_error(driver: AdapterClient) -> None:
    await driver.start(CALLS, 3)
    await stop(driver)
    with pytest.raises(RequestFailed, match="NameError: name 'missing' is not defined"):
        await driver.session.evaluate("missing", frame_id=(await driver.frames())[0].id, context="watch")


async def test_uncaught_exception_stops_once_where_it_is_raised(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.session.break_on_exceptions("uncaught")
    await driver.session.launch({"program": str(ORDERS / "shop.py"), **launch})
    stopped = await stop(driver)
    info = await driver.session.exception_info(stopped.thread_id)
    names = [frame.name for frame in await driver.frames(stopped.thread_id)]
    assert (stopped.reason, info.exception_id, info.break_mode) == ("exception", "ZeroDivisionError", "unhandled")
    assert names[-3:] == ["Ledger.book", "main", "<module>"]
    assert await driver.resume() == Ended(1)
    assert "ZeroDivisionError: Fraction(1, 0)" in driver.output("stderr")


async def test_uncaught_exceptions_stop_by_default(driver: AdapterClient) -> None:
    await driver.start("def f(): return {}['missing']\nf()\n")
    stopped = await stop(driver)
    info = await driver.session.exception_info(1)
    assert (stopped.reason, await driver.where()) == ("exception", ("f", 1))
    assert (info.exception_id, info.description) == ("KeyError", "'missing'")
    assert info.details is not None
    assert "in f" in (info.details.stack_trace or "")


async def test_raised_exception_stops_although_it_is_caught(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.session.break_on_exceptions("raised")
    await driver.start("try:\n    int('x')\nexcept ValueError as error:\n    print('caught')\n", **launch)
    stopped = await stop(driver)
    assert (stopped.reason, stopped.event.text, await driver.where()) == ("exception", "ValueError", ("<module>", 2))
    assert await driver.resume() == Ended(0)


async def test_caught_exception_does_not_stop_as_uncaught(driver: AdapterClient) -> None:
    await driver.session.break_on_exceptions("uncaught")
    assert await driver.run("try:\n    int('x')\nexcept ValueError:\n    pass\n") == Ended(0)


@pytest.mark.thorough
async def test_exception_that_leaves_for_a_library_stops_as_user_unhandled(driver: AdapterClient) -> None:
    await driver.session.break_on_exceptions("userUnhandled")
    await driver.start("""
        import contextlib, functools, unittest
        class Case(unittest.TestCase):
            def test(self):
                raise ValueError("mine")
        unittest.TestResult()
        Case("test").run()
    """)
    stopped = await stop(driver)
    info = await driver.session.exception_info(stopped.thread_id)
    assert (await driver.where(), info.break_mode) == (("Case.test", 4), "userUnhandled")


async def test_exception_info_is_refused_where_there_is_none(driver: AdapterClient) -> None:
    await driver.start("print()\n", 1)
    await stop(driver)
    with pytest.raises(RequestFailed, match="not stopped at an exception"):
        await driver.session.exception_info(1)


async def test_threads_stop_together_and_each_has_its_stack(
    driver: AdapterClient, launch: Mapping[str, object]
) -> None:
    await driver.start(
        """
        import threading
        gate = threading.Event()
        def work():
            inside = 1
            gate.wait()
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        while not gate.is_set():
            x = 1
            break
        gate.set()
        thread.join()
        """,
        9,
        **launch,
    )
    stopped = await stop(driver)
    threads = (await driver.session.threads()).threads
    assert stopped.event.all_threads_stopped
    assert [thread.name for thread in threads] == ["MainThread", "worker"]
    worker = await driver.frames(threads[1].id)
    assert "work" in [frame.name for frame in worker]
    assert await driver.resume() == Ended(0)


async def test_pause_stops_a_running_program(driver: AdapterClient, launch: Mapping[str, object]) -> None:
    await driver.start("n = 1\nprint('ready', flush=True)\nwhile True:\n    n += 1\n", **launch)
    await only_line(driver)
    await driver.session.pause(1)
    stopped = await stop(driver)
    assert (stopped.reason, (await driver.where())[0]) == ("pause", "<module>")
    assert int((await driver.locals())["n"].value) > 0
