"""Time travel over and over, and with what it stands on killed.

Random jumps to moments that were seen as programs ran forwards, many steps back and forth, and sudden deaths.
"""

import os
import random
import signal
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

import anyio
import pytest

from dapkit.client import Ended, Stopped
from dapkit.endpoint import RequestFailed
from dapkit.protocol import FunctionBreakpoint, SetFunctionBreakpointsArguments, StepBackArguments, StoppedEvent
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.forward_run import ForwardRun, timeline
from e2e.python.processes import SECONDS, descendants, ended, process_of
from e2e.python.travelled_programs import TravelledProgram, travelled

MOMENTS = int(os.environ.get("DAPKIT_MOMENTS", "4"))
"""Seen of each program on its way, and jumped to later; with more of them by hand, each program on each Python."""

BY_HAND = "DAPKIT_MOMENTS" in os.environ
RUNS = 10
CHECKPOINTS = 12


NAMES = """
import marshal
class Holder: pass
one, number = "first-of-them", 1234567
names = [
    marshal.loads(marshal.dumps(one + "read")), marshal.loads(b"\\xda\\x0bhello_there"),
    compile("very_own_name.other", "file", "eval").co_names[0], *one.split("-"), *one.partition("-"), one + one,
    f"visit_{one}_{number}", "%s_%s" % (one, number), "{}_{}".format(one, number), "-".join([one, one]), one[1:9],
    one.replace("-", "__"), one.title(), one.encode().decode(), b"abcdefgh".decode("ascii"), repr(one), str(number),
]
others = [*map(bytes, range(1, 500)), *(tuple(range(size)) for size in range(2, 50)), {}, [], Holder()]
print({id(name) >> 32 for name in names} & {id(other) >> 32 for other in others})
"""
"""Prints which parts of the memory have names and other objects."""

NEW_CODE = """
import os, sys
sys.setswitchinterval(1e-6)
total = 0
while total < 10_000_000 and not os.path.exists("enough"):
    names = {}
    exec(f"def grow{total}(number):\\n    return number + 1\\n", names)
    total = names[f"grow{total}"](total)
print(total)
"""
"""The debugger looks at each function that is new, under its lock, and so does each process of the past."""


@pytest.mark.each_python
@pytest.mark.timeout(300)
@pytest.mark.row("reverseContinue")
async def test_moments_are_shown_from_checkpoints_that_were_made_amid_requests(
    driver: AdapterClient, python: str
) -> None:
    await driver.start(NEW_CODE, 8, python=python, timeTravel=True)
    while len((await timeline(driver)).checkpoints) < CHECKPOINTS:
        for number in range(50):
            names = [FunctionBreakpoint(name=f"other{number}")]
            await driver.session.request(SetFunctionBreakpointsArguments(breakpoints=names))
    (driver.folder / "enough").touch()
    await driver.session.next_stop()
    history = await timeline(driver)
    for checkpoint in history.checkpoints[-CHECKPOINTS:]:
        clock = min(checkpoint.clock + 10, history.live)
        await driver.travel(clock)
        assert (await timeline(driver)).now == clock


@pytest.mark.thorough
@pytest.mark.timeout(1200 if BY_HAND else 300)
@pytest.mark.row("reverseContinue")
@pytest.mark.parametrize("program", travelled(with_each=BY_HAND), ids=str)
async def test_random_jumps_show_what_was_seen_as_the_program_ran(tmp_path: Path, program: TravelledProgram) -> None:
    for left in reversed(range(RUNS if program.takes_turns else 1)):
        try:
            found = await jumped(tmp_path, program)
        except RequestFailed as error:
            if not left or "diverged" not in error.text:
                raise
        else:
            assert found == []
            return


async def jumped(folder: Path, program: TravelledProgram) -> list[str]:
    """Run a program, and jump to and fro between moments of it; return what was not as it had been."""
    found = list[str]()
    async with adapter_client(folder) as driver:
        await driver.session.break_on_exceptions()
        await driver.launch(**program.launch(folder), timeTravel=True, stopOnEntry=True)
        await driver.session.next_stop()
        run = ForwardRun(driver, program.files(folder), random.Random(str(program)))  # noqa: S311
        await run.run(MOMENTS)
        for _ in range(MOMENTS):
            found += await run.jump()
    return found


STEPS = int(os.environ.get("DAPKIT_STEPS", "50"))
"""Back, and as many forth; more by hand."""

PROGRAM = """
    total = 0
    for number in range(3000):
        total += number
        if number % 1000 == 0:
            print(number, total, flush=True)
    print("ends", total)
"""
LAST = 6


@dataclass(frozen=True)
class Held:
    """What a session holds of the machine: processes, descriptors of the adapter and of the program."""

    processes: int
    of_adapter: int
    of_program: int

    def is_within(self, other: "Held") -> bool:
        """Whether it is no more of anything than another: each of many steps would add to what leaks."""
        return all(mine <= theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True))


async def stopped_at_end(driver: AdapterClient, text: str = PROGRAM, line: int = LAST) -> tuple[int, int]:
    """Have a program stand on its last line; return the process of the adapter, and that of the program."""
    await driver.start(text, line, timeTravel=True)
    await driver.session.next_stop()
    assert driver.session.adapter_pid is not None
    return driver.session.adapter_pid, await process_of(driver)


async def back(driver: AdapterClient) -> None:
    """Step back."""
    position = driver.session.position
    await driver.session.request(StepBackArguments(thread_id=1))
    await driver.session.wait_for(StoppedEvent, since=position)


async def forth(driver: AdapterClient) -> None:
    """Step over a line of the past."""
    position = driver.session.position
    await driver.session.next(1)
    await driver.session.wait_for(StoppedEvent, since=position)


def parent_of(pid: int) -> int:
    """Return the parent of a process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):  # it ended after it was listed
        return 0


def held(adapter: int, program: int) -> Held:
    """Return what a session holds."""
    of_adapter, of_program = (len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in (adapter, program))
    return Held(len(descendants(adapter)), of_adapter, of_program)


def memory(adapter: int) -> int:
    """Return the kilobytes that an adapter and all below it have: of what several share, each has its part."""
    total = 0
    for pid in (adapter, *descendants(adapter)):
        with suppress(FileNotFoundError, ProcessLookupError):  # a process of the past may be about to end
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += int(rollup.partition("\nPss:")[2].split()[0])
    return total


@pytest.mark.thorough
@pytest.mark.timeout(1200 if "DAPKIT_STEPS" in os.environ else 120)
@pytest.mark.row("stepBack")
async def test_steps_back_and_forth_leave_no_process_and_no_descriptor(driver: AdapterClient) -> None:
    adapter, program = await stopped_at_end(driver)
    await back(driver)
    await back(driver)
    here = await driver.where()
    before, memory_before = held(adapter, program), memory(adapter)
    for _ in range(STEPS):
        await back(driver)
        await forth(driver)
    assert await driver.where() == here
    with anyio.move_on_after(SECONDS):  # a process that was shown before may be about to end, now and when it began
        while not held(adapter, program).is_within(before):  # noqa: ASYNC110 - nobody reports it
            await anyio.sleep(0.02)
    assert held(adapter, program).is_within(before)
    if "DAPKIT_STEPS" in os.environ:
        print(f"{STEPS} steps back and forth: {memory_before} kB before, {memory(adapter)} kB after")


@pytest.mark.row("reverseContinue")
async def test_killed_copies_of_a_program_cost_it_its_past_but_nothing_else(driver: AdapterClient) -> None:
    adapter, program = await stopped_at_end(driver)
    await back(driver)
    await back(driver)
    shown = await driver.where()
    waiting = [pid for pid in descendants(adapter) if parent_of(pid) == parent_of(program) and pid != program]
    assert waiting  # what is shown is below one of them
    for pid in waiting:
        os.kill(pid, signal.SIGKILL)
        await ended(pid)
    with pytest.raises(RequestFailed, match=r"noHistory|time travel: (a copy|no process) of the"):
        await back(driver)
    assert await driver.where() == shown
    stop = await driver.resume()
    assert isinstance(stop, Stopped)
    assert await driver.where() == ("<module>", LAST)
    assert isinstance(await driver.resume(), Ended)
    assert "ends 4498500" in driver.output("stdout")


@pytest.mark.row("stepBack")
@pytest.mark.parametrize("shows_past", [True, False], ids=["in the past", "live"])
async def test_a_killed_parent_of_the_program_ends_the_session(driver: AdapterClient, shows_past: bool) -> None:
    adapter, program = await stopped_at_end(driver)
    if shows_past:
        await back(driver)
    family = descendants(adapter)
    parent = parent_of(program)
    assert parent in family
    os.kill(parent, signal.SIGKILL)
    assert isinstance(await driver.session.wait_until_ended(), Ended)
    await ended(*family)


@pytest.mark.row("stepBack")
async def test_the_timeline_tells_how_much_was_written_by_the_moment_shown(driver: AdapterClient) -> None:
    text = """
        import os
        os.write(1, b"three")
        print("four", flush=True)
        os.writev(2, [b"fi", b"ve"])
        print("at the end")
    """
    await stopped_at_end(driver, text, 5)
    written = []
    for _ in range(4):
        written.append((await timeline(driver)).output)
        await back(driver)
    assert written == [14, 10, 5, 0]


INTERRUPTED = """
    import signal
    names = []
    def handle(number, frame):
        names.append(frame.f_code.co_name)
    signal.signal(signal.SIGUSR1, handle)
    signal.signal(signal.SIGUSR2, handle)
    count = 0
    count = 1
    print(count)
"""


def pending(pid: int) -> bool:
    """Say whether a process has signals that its handlers have not seen."""
    status = Path(f"/proc/{pid}/status").read_text()
    return any(int(status.partition(f"\n{name}:")[2].split()[0], 16) for name in ("SigPnd", "ShdPnd"))


@pytest.mark.row("stepBack")
async def test_handlers_of_signals_interrupt_the_program_not_the_debugger(driver: AdapterClient) -> None:
    driver.write(INTERRUPTED)
    for line in (7, 8):
        await driver.session.add_breakpoint(driver.file, line)
    await driver.launch(program=str(driver.file), timeTravel=True)
    await driver.session.next_stop()
    program = await process_of(driver)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        os.kill(program, number)
    with anyio.fail_after(SECONDS):
        while pending(program):  # noqa: ASYNC110 - nobody reports it
            await anyio.sleep(0.02)
    assert isinstance(await driver.resume(), Stopped)
    both = "['<module>', '<module>']"
    assert (await driver.where(), (await driver.locals())["names"].value) == (("<module>", 8), both)
    await back(driver)
    assert (await driver.where(), (await driver.locals())["names"].value) == (("<module>", 7), "[]")
    await forth(driver)
    assert (await driver.where(), (await driver.locals())["names"].value) == (("<module>", 8), both)


@pytest.mark.each_python
async def test_names_have_memory_of_their_own(driver: AdapterClient, python: str) -> None:
    """The interpreter frees a name when its cache of attributes needs the place, in each process at another moment."""
    await driver.run(NAMES, python=python, timeTravel=True)
    assert driver.session.output.read("stdout").text == "set()\n"
