"""Time travel where the C extension is missing: the same jumps, with what a program takes from outside noted in Python.

What cannot be noted so ends the history, and nothing else.
"""

import random
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import anyio
import pytest

import bootstrap
from dapkit.client import Ended, StartRefused, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import OutputEvent, StoppedEvent
from e2e.python.conftest import TRAVEL_NEEDS_EXTENSION
from e2e.python.driving import Driver, driving
from e2e.python.forward_run import ForwardRun, timeline
from e2e.python.processes import SECONDS
from e2e.python.test_history_robustness import (  # noqa: F401 - tests, once more
    back,
    test_a_killed_parent_of_the_program_ends_the_session,
    test_killed_copies_of_a_program_cost_it_its_past_but_nothing_else,
    test_steps_back_and_forth_leave_no_process_and_no_descriptor,
    test_the_timeline_tells_how_much_was_written_by_the_moment_shown,
)
from e2e.python.test_time_travel import (  # noqa: F401 - tests and their fixture, once more
    launch,
    test_a_killed_adapter_leaves_no_process_of_the_past,
    test_any_frame_can_be_shown_where_it_began,
    test_exceptions_stop_backwards,
    test_forwards_again_comes_to_the_live_program_which_has_written_everything_once,
    test_hit_conditions_count_from_the_beginning,
    test_modules_that_are_imported_for_the_first_time_are_no_divergence,
    test_running_backwards_stops_at_breakpoints_with_their_conditions,
    test_step_back_goes_to_the_line_before_over_calls_and_out_to_the_caller,
    test_steps_back_by_instruction_are_those_forwards,
    test_the_past_cannot_be_changed,
    test_why_of_a_local_variable_is_about_this_call,
)
from interpreters import interpreter

PROGRAMS = Path(__file__).with_name("travel")
FITTING = (
    "everyday/benchmark_nbody.py",
    "programs/directories.py",
    "programs/files.py",
    "programs/formats.py",
    "programs/generators.py",
    "programs/logs.py",
    "programs/standard_streams.py",
    "programs/tracebacks.py",
)
"""Of the programs that are compared with the extension, those that take nothing that ends the history without it."""
MOMENTS = 4
VERSIONS = [version for version in bootstrap.VERSIONS if version != TRAVEL_NEEDS_EXTENSION]


@pytest.fixture
async def driver(tmp_path: Path, travel_without_extension: Mapping[str, str]) -> AsyncIterator[Driver]:
    """Return a client of an adapter without the extension."""
    async with driving(tmp_path, travel_without_extension) as driver:
        yield driver


@pytest.mark.timeout(300)
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize("name", FITTING)
async def test_jumps_show_what_was_seen_as_the_program_ran(driver: Driver, name: str) -> None:
    version = VERSIONS[FITTING.index(name) % len(VERSIONS)]
    program = Path(shutil.copy(PROGRAMS / name, driver.folder))
    assert await jumped(driver, program, str(interpreter(version))) == []


@pytest.mark.row("stepBack")
async def test_the_launch_is_refused_where_time_travel_needs_the_extension(driver: Driver) -> None:
    needs = "time travel on Python 3.15 and later needs the C extension, which cannot be loaded"
    with pytest.raises(StartRefused, match=needs):
        await driver.start("x = 1\n", 1, python=str(interpreter(TRAVEL_NEEDS_EXTENSION)), timeTravel=True)


async def jumped(driver: Driver, program: Path, python: str) -> list[str]:
    """Run a program, and jump to and fro between moments of it; return what was not as it had been."""
    await driver.session.break_on_exceptions()
    await driver.launch(program=str(program), python=python, timeTravel=True, stopOnEntry=True)
    await driver.session.next_stop()
    run = ForwardRun(driver, [program], random.Random(program.stem))  # noqa: S311
    last = await run.run(MOMENTS)
    found = list[str]()
    for _ in range(MOMENTS):
        found += await run.jump()
    return [*found, *last.differences(await run.travel(last.clock, from_beginning=True))]


OUTSIDE = """
    import datetime, os, random, secrets, sys, time, uuid
    begin, end = os.pipe()
    os.write(end, b"Ada\\nand more\\n")
    os.close(end)
    os.dup2(begin, 0)
    s_time = time.time(), time.monotonic(), time.perf_counter_ns(), time.localtime(), time.strftime("%H:%M:%S")
    s_now = datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc), datetime.date.today()
    s_random = random.random(), random.Random().random(), random.SystemRandom().random(), os.urandom(4)
    s_names = uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4)
    s_process = os.getpid(), os.getcwd(), os.environ["PATH"], os.cpu_count(), os.uname()
    s_read = input("your name? "), sys.stdin.read()
    try:
        open("missing")
    except OSError as error:
        s_error = repr(error), error.filename
    with open("made.txt", "x") as file:
        s_file = repr(file), file.write("one\\n"), os.fstat(file.fileno())
    with open("made.txt", "a+") as file:
        file.write("two\\n")
        file.seek(0)
        s_lines = list(file), type(file.buffer), isinstance(file.buffer.raw, __import__("io").FileIO)
    os.rename("made.txt", "kept.txt")
    s_listed = sorted(os.listdir()), [(each.name, each.is_file(), each.stat().st_size) for each in os.scandir()]
    print("to the output", flush=True)
    print("to the errors", file=sys.stderr)
    os.write(1, b"at once\\n")
    print("ends", flush=True)
"""


@pytest.mark.each_python
@pytest.mark.row("reverseContinue")
async def test_what_comes_from_outside_is_in_the_past_as_it_was_and_nothing_is_written_twice(
    driver: Driver, python: str
) -> None:
    program = driver.write(OUTSIDE, "outside.py")
    assert await jumped(driver, program, python) == []
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.resume() == Ended(0)
    assert (driver.folder / "kept.txt").read_text() == "one\ntwo\n"
    assert sorted(path.name for path in driver.folder.iterdir()) == ["kept.txt", "outside.py"]
    assert driver.output("stdout") == "your name? to the output\nat once\nends\n"
    assert driver.output("stderr") == "to the errors\n"


ENDING = {
    "socket.": "socket.socket().close()",
    "_thread.start": "threading.Thread(target=kept.append, args=['in a thread']).start()",
    "subprocess.Popen": "subprocess.run([sys.executable, '-c', 'print(1)'])",
    "os.fork": "os.waitpid(os.fork() or os._exit(3), 0)",
    "signal.signal": "signal.raise_signal(signal.signal(10, lambda *_: kept.append('handled')) or 10)",
    "mmap.__new__": "mmap.mmap(-1, 10).write(b'x')",
    "sqlite3.connect": "sqlite3.connect(':memory:').execute('select 1')",
}
ENDS = """
    import mmap, os, signal, socket, sqlite3, subprocess, sys, threading
    kept = [os.getpid()]
    {does}
    kept.append("beyond")
    print(kept, flush=True)
"""


@pytest.mark.each_python
@pytest.mark.row("stepBack")
@pytest.mark.parametrize(("call", "does"), ENDING.items(), ids=list(ENDING))
async def test_what_cannot_be_noted_ends_the_history_and_harms_nothing(
    driver: Driver, python: str, call: str, does: str
) -> None:
    await driver.start(ENDS.format(does=does), 5, python=python, timeTravel=True)
    await driver.session.next_stop()
    [remark] = [each.output for each in driver.told(OutputEvent) if each.output.startswith("Time travel: ")]
    assert f"the history ends where the program called {call}" in remark
    assert f"{driver.file}:3" in remark
    await back(driver)
    assert (driver.told(StoppedEvent)[-1].description, await driver.where()) == (
        "End of recorded history",
        ("<module>", 3),
    )
    assert (await driver.locals())["kept"].value.count(",") == 0
    assert isinstance(await driver.resume(), Stopped)
    assert await driver.where() == ("<module>", 5)
    assert await driver.resume() == Ended(0)
    assert "'beyond'" in driver.output("stdout")


@pytest.mark.row("stepBack")
async def test_expressions_in_the_past_change_nothing_outside(driver: Driver) -> None:
    await driver.start("x = 1\nx = 2\nx = 3\n", 3, timeTravel=True)
    await driver.session.next_stop()
    await back(driver)
    kept = driver.write("as it was", "kept.txt")
    for expression in (
        f"open({str(kept)!r}, 'w')",
        f"__import__('os').remove({str(kept)!r})",
        f"__import__('os').system('rm ' + {str(kept)!r})",
        "__import__('socket').socket()",
        "__import__('_thread').start_new_thread(print, ())",
    ):
        with pytest.raises(RequestFailed, match="Read-only file system"):
            await driver.session.evaluate(expression, frame_id=(await driver.frames())[0].id)
    assert kept.read_text() == "as it was"


async def paused_with_copies(driver: Driver) -> None:
    """Pause the program once it has been copied as it runs."""
    with anyio.fail_after(4 * SECONDS):
        while len((await timeline(driver)).checkpoints) < 2:  # noqa: ASYNC110 - nobody tells of copies
            await anyio.sleep(0.01)
    await driver.session.pause(1)
    await driver.session.next_stop()


@pytest.mark.timeout(300)
@pytest.mark.row("stepBack")
async def test_copies_are_made_as_the_program_runs(driver: Driver) -> None:
    text = """
        count, done = 0, False
        while not done:
            count += 1
        print(count, flush=True)
    """
    await driver.launch(program=str(driver.write(text)), timeTravel={"interval": 0.01})
    await paused_with_copies(driver)
    about = await timeline(driver)
    assert [each.clock for each in about.checkpoints] == sorted({each.clock for each in about.checkpoints})
    assert about.live > about.checkpoints[-1].clock


RECURSION = """
    ends = []
    def deep(number):
        return deep(number + 1)
    try:
        deep(0)
    except RecursionError:
        ends.append("caught")
    print(ends, flush=True)
"""


@pytest.mark.each_python
@pytest.mark.row("stepBack")
async def test_a_program_that_came_to_the_recursion_limit_is_found_to_diverge_there(
    driver: Driver, python: str
) -> None:
    await driver.start(RECURSION, 8, python=python, timeTravel={"interval": 3600})
    await driver.session.next_stop()
    with pytest.raises(RequestFailed, match=r"diverged: at clock \d+ the program called RecursionError .*prog.py:3"):
        await back(driver)
    assert await driver.resume() == Ended(0)
    assert driver.output("stdout") == "['caught']\n"


@pytest.mark.timeout(300)
@pytest.mark.row("stepBack")
async def test_copies_are_not_seen_by_what_the_program_does_at_forks_nor_warned_of(driver: Driver) -> None:
    text = """
        import os, warnings
        forks, done = [], False
        os.register_at_fork(before=lambda: forks.append("before"), after_in_parent=lambda: forks.append("after"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            while not done:
                pass
        print(forks, caught, flush=True)
    """
    await driver.launch(program=str(driver.write(text)), timeTravel={"interval": 0.01})
    await paused_with_copies(driver)
    await driver.session.evaluate("done = True", frame_id=(await driver.frames())[0].id, context="repl")
    assert await driver.resume() == Ended(0)
    assert driver.output("stdout") == "[] []\n"


@pytest.mark.row("stepBack")
async def test_a_class_can_have_what_was_replaced_as_an_attribute(driver: Driver) -> None:
    text = """
        import time
        class Clock:
            now = time.time
            read = open
        clock = Clock()
        print(clock.now() > 0, clock.read(__file__).readline(), flush=True)
        print(type(time.localtime()).__name__, flush=True)
    """
    ended = await driver.run(text, timeTravel=True)
    assert ended == Ended(0)
    assert driver.output("stdout") == "True import time\n\nstruct_time\n"
