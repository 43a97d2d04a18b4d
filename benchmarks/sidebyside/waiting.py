"""How long the user waits: starts, steps, pages, messages; in seconds of the clock, as the client sees them."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import anyio

from dapkit.client import Session, Stopped
from dapkit.protocol import NextArguments, OutputEvent
from sidebyside.contest import DEADLINE, DEBUGPY, OURS, PROGRAMS, PROMPT_DEBUGPY, Contest, Debugger, line_of, middle
from sidebyside.table import Row

MESSAGES = 10_000
STEPS = 30
SLOW_STEPS = 5
"""Steps of debugpy as it is, 44 ms each."""


async def start(contest: Contest) -> list[Row]:
    """Wait from the start of the adapter to the first stop."""
    times: dict[str, list[float]] = {"debugpy": [], "ours": []}
    for _ in range(3 * contest.rounds):
        for debugger in (DEBUGPY, OURS):
            times[debugger.name].append(await _first_stop(contest, debugger))
    debugpy, ours = min(times["debugpy"]), min(times["ours"])
    title = "start of the adapter to the first stop"
    return [
        Row("start", title, "s", debugpy, ours),
        Row("start", "the same, as a part of debugpy's time", "x", 1.0, ours / debugpy, 0.35),
    ]


async def _first_stop(contest: Contest, debugger: Debugger) -> float:
    begun = time.perf_counter()
    async with contest.session(debugger) as session:
        await session.add_breakpoint(PROGRAMS / "small.py", line_of("small.py", "STOP"))
        await contest.launch(session, debugger, "small.py")
        await session.next_stop()
        return time.perf_counter() - begun


async def messages(contest: Contest) -> list[Row]:
    """Wait until the last of many log messages is with the client."""
    each: dict[str, list[float]] = {"debugpy": [], "ours": []}
    for _ in range(contest.rounds):
        for debugger in (DEBUGPY, OURS):
            each[debugger.name].append(await _message(contest, debugger) / MESSAGES * 1e6)
    title = f"log message, {MESSAGES:,} times, each delivered"
    return [Row("messages", title, "us", min(each["debugpy"]), min(each["ours"]), 8)]


async def _message(contest: Contest, debugger: Debugger) -> float:
    program = PROGRAMS / "events.py"
    async with contest.session(debugger) as session:
        await session.break_on_exceptions()
        await session.add_breakpoint(program, line_of("events.py", "BEFORE"))
        # At its end debugpy would drop what it has not sent yet.
        await session.add_breakpoint(program, line_of("events.py", "AFTER"))
        await session.add_breakpoint(program, line_of("events.py", "LOG"), log_message="i={i} total={total}")
        await contest.launch(session, debugger, "events.py", "messages", str(MESSAGES), "1")
        await session.next_stop()
        begun = time.perf_counter()
        await session.continue_(_thread(session))
        last = f"i={MESSAGES - 1} "
        await session.wait_for(OutputEvent, where=lambda event: last in event.output, deadline=DEADLINE)
        return time.perf_counter() - begun


async def steps(contest: Contest) -> list[Row]:
    """Step, and ask what an editor asks for after each step."""
    alone: list[float] = []
    measured: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(max(3, contest.rounds)):
        alone.append(middle(cast("list[float]", contest.plain("steps.py", "plain"))))
        for debugger, count in ((DEBUGPY, SLOW_STEPS), (PROMPT_DEBUGPY, STEPS), (OURS, STEPS)):
            measured.setdefault(debugger.name, []).append(await _steps(contest, debugger, count))
    step, full, took = ({name: least(found, at) for name, found in measured.items()} for at in range(3))
    patched = "    debugpy with TCP_NODELAY patched in"
    rows: list[Row] = []
    for title, unit, scale, figures, goal in (
        ("next over a call of fib(22): the call itself", "x", 1 / min(alone), took, 1.3),
        ("next, round trip", "ms", 1e3, step, 1),
        ("next, stackTrace, scopes, variables", "ms", 1e3, full, 3),
    ):
        theirs, prompt, ours = (figures[one.name] * scale for one in (DEBUGPY, PROMPT_DEBUGPY, OURS))
        rows += [Row("steps", title, unit, theirs, ours, goal), Row("steps", patched, unit, prompt, ours)]
    return rows


def least(rounds: Sequence[tuple[float, ...]], at: int) -> float:
    """Return the best of the medians of all rounds: waiting for a busy machine only adds."""
    return min(one[at] for one in rounds)


async def _steps(contest: Contest, debugger: Debugger, count: int) -> tuple[float, float, float]:
    """Return the seconds of a step, of a refresh, and those that the stepped-over call took: medians."""
    async with contest.session(debugger) as session:
        await session.break_on_exceptions()
        await session.add_breakpoint(PROGRAMS / "steps.py", line_of("steps.py", "FIRST"))
        await contest.launch(session, debugger, "steps.py")
        await session.next_stop()
        await session.clear_breakpoints()
        step: list[float] = []
        full: list[float] = []
        for _ in range(count):
            step.append(await _timed(lambda: _next(session)))  # to b = a
            full.append(await _timed(lambda: _refresh(session)))  # to the call
            await _next(session)  # over it
            await _next(session)
            while await _line(session) != line_of("steps.py", "FIRST"):
                await _next(session)
        frame = (await session.stack_trace(_thread(session), levels=1)).stack_frames[0]
        took = await session.evaluate("sorted(took)[len(took) // 2]", frame_id=frame.id)
        return middle(step), middle(full), float(took.result)


async def _line(session: Session) -> int:
    return (await session.stack_trace(_thread(session), levels=1)).stack_frames[0].line


async def _next(session: Session) -> None:
    await session.resume(NextArguments(thread_id=_thread(session)))


async def _refresh(session: Session) -> None:
    await _next(session)
    stack = await session.stack_trace(_thread(session))
    scopes = await session.scopes(stack.stack_frames[0].id)
    await session.variables(scopes.scopes[0].variables_reference)


async def _timed(action: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await action()
    return time.perf_counter() - begun


def _thread(session: Session) -> int:
    match session.state:
        case Stopped() as stop:
            return stop.thread_id
        case state:
            raise RuntimeError(f"the program is not stopped but {state}")


async def pauses(contest: Contest) -> list[Row]:
    """Stop a tight loop, from the request to the event."""
    least_of: dict[str, float] = {}
    for _ in range(max(3, contest.rounds)):
        for debugger in (DEBUGPY, OURS):
            took = await _pause(contest, debugger)
            least_of[debugger.name] = min(took, least_of.get(debugger.name, took))
    theirs, ours = (least_of[one.name] * 1e3 for one in (DEBUGPY, OURS))
    return [Row("pauses", "pause, until a tight loop has stopped", "ms", theirs, ours, 10)]


async def _pause(contest: Contest, debugger: Debugger) -> float:
    async with contest.session(debugger) as session:
        await session.break_on_exceptions()
        await session.add_breakpoint(PROGRAMS / "small.py", line_of("small.py", "STOP"))
        await contest.launch(session, debugger, "small.py", "spin")
        thread = (await session.next_stop()).thread_id
        times: list[float] = []
        for _ in range(20):
            await session.continue_(thread)
            await anyio.sleep(0.02)  # into the loop, and out of the way of what follows a continue
            begun = time.perf_counter()
            await session.pause(thread)
            await session.next_stop()
            times.append(time.perf_counter() - begun)
        return middle(times)


async def pages(contest: Contest) -> list[Row]:
    """Ask for pages of 100 from the middle of a list of a million."""
    rounds = [(await _page(contest, DEBUGPY), await _page(contest, OURS)) for _ in range(max(3, contest.rounds))]
    theirs, ours = (min(one[at][0] for one in rounds) for at in range(2))
    honoured, right = (all(one[at][1] for one in rounds) for at in range(2))
    remark = "" if honoured else "debugpy ignores paging"
    if not right:
        remark += "; ours did not serve the page that was asked for"
    return [Row("pages", "page of 100 from the middle of a list of a million", "ms", theirs, ours, 5, remark)]


async def _page(contest: Contest, debugger: Debugger) -> tuple[float, bool]:
    async with contest.session(debugger) as session:
        await session.break_on_exceptions()
        await session.add_breakpoint(PROGRAMS / "small.py", line_of("small.py", "STOP"))
        await contest.launch(session, debugger, "small.py", "big")
        stop = await session.next_stop()
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        scopes = await session.scopes(frame.id)
        variables = (await session.variables(scopes.scopes[0].variables_reference)).variables
        items = next(one for one in variables if one.name == "items").variables_reference
        times = []
        for number in range(20):
            begun = time.perf_counter()
            page = await session.variables(items, filter="indexed", start=500_000 + 100 * number, count=100)
            times.append(time.perf_counter() - begun)
        names = [one.name.strip("[]") for one in page.variables]
        return middle(times) * 1e3, names == [str(500_000 + 1_900 + at) for at in range(100)]
