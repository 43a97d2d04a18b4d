"""How long the user waits: starts, steps, pages, messages; in seconds of the clock, as the client sees them."""

import time
from collections.abc import Awaitable, Callable
from typing import cast

from dapkit.client import Session, Stopped
from dapkit.protocol import NextArguments, OutputEvent
from sidebyside.contest import DEADLINE, DEBUGPY, OURS, PROGRAMS, PROMPT_DEBUGPY, Contest, Debugger, line_of, middle
from sidebyside.table import Row

MESSAGES = 10_000
STEPS = 60
SLOW_STEPS = 10
"""Steps of debugpy as it is, 44 ms each."""


async def start(contest: Contest) -> list[Row]:
    """Wait from the start of the adapter to the first stop."""
    times: dict[str, list[float]] = {"debugpy": [], "ours": []}
    for _ in range(3 * contest.rounds):
        for debugger in (DEBUGPY, OURS):
            times[debugger.name].append(await _first_stop(contest, debugger))
    debugpy, ours = middle(times["debugpy"]), middle(times["ours"])
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
    return [Row("messages", title, "us", middle(each["debugpy"]), middle(each["ours"]), 15)]


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
    plain = middle(cast("list[float]", contest.plain("steps.py", "plain")))
    theirs = await _steps(contest, DEBUGPY, SLOW_STEPS)
    prompt = await _steps(contest, PROMPT_DEBUGPY, STEPS)
    ours = await _steps(contest, OURS, STEPS)
    patched = "debugpy with TCP_NODELAY patched in"
    refresh = "next, stackTrace, scopes, variables"
    return [
        Row("steps", "next over a call of fib(22), the call itself", "x", theirs[2] / plain, ours[2] / plain, 1.3),
        Row("steps", f"the same, {patched}", "x", prompt[2] / plain, ours[2] / plain),
        Row("steps", "next, round trip", "ms", theirs[0], ours[0], 1),
        Row("steps", f"the same, {patched}", "ms", prompt[0], ours[0]),
        Row("steps", refresh, "ms", theirs[1], ours[1], 3),
        Row("steps", f"the same, {patched}", "ms", prompt[1], ours[1]),
    ]


async def _steps(contest: Contest, debugger: Debugger, count: int) -> tuple[float, float, float]:
    """Return the milliseconds of a step and of a refresh, and the seconds that the stepped-over call took."""
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
            await _next(session)  # to c = b
            await _next(session)  # to while or a += 1
            while await _line(session) != line_of("steps.py", "FIRST"):
                await _next(session)
        frame = (await session.stack_trace(_thread(session), levels=1)).stack_frames[0]
        took = await session.evaluate("sorted(took)[len(took) // 2]", frame_id=frame.id)
        return middle(step) * 1e3, middle(full) * 1e3, float(took.result)


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


async def pages(contest: Contest) -> list[Row]:
    """Ask for pages of 100 from the middle of a list of a million."""
    theirs, honoured = await _page(contest, DEBUGPY)
    ours, right = await _page(contest, OURS)
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
