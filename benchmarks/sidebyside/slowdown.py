"""How much slower the program gets: its processor time under a debugger over that without one.

Work that shares a core with others takes up to twice its time, in spells that outlast some runs. That only adds, so
the work is short and repeated, runs with and without a debugger alternate, and the best repetition of all
runs of a kind counts.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import cast

from dapkit.client import Session
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import ExceptionOptions, ExceptionPathSegment
from sidebyside.contest import (
    DEBUGPY,
    OURS,
    PROGRAMS,
    Contest,
    Debugger,
    Preparation,
    line_of,
    nothing,
    printed,
    without_extension,
)
from sidebyside.table import Row

WORK = ("fib", "loops", "nbody", "json", "words", "calls")
REPEATS = 10
DEBUGPY_ROUNDS = 2
"""Rounds of debugpy, which is either as fast as the program alone or 20 to 250 times as slow."""
EVENTS = (50_000, 20)
"""A million, in portions that take milliseconds."""
SLOW_EVENTS = (10_000, 4)
"""What debugpy gets, which takes 10 us and more for each; figures are per event."""
RAISES = 100_000
COUNTED = (1_000_000, 5)
"""What each of eight threads counts to, and how often."""

NATIVE = "    without the C extension"


async def free(contest: Contest) -> list[Row]:
    """Set no breakpoints."""
    return await _six(contest, "free", "no breakpoints", 1.03, nothing)


async def elsewhere(contest: Contest) -> list[Row]:
    """Set a breakpoint in a function that is never called."""
    prepare = _breakpoint("workloads.py", "ELSEWHERE")
    return await _six(contest, "elsewhere", "a breakpoint elsewhere", 1.03, prepare)


async def threads(contest: Contest) -> list[Row]:
    """Let eight threads count, with a breakpoint in a function that is never called."""
    args = ("threads.py", *map(str, COUNTED))

    async def plain() -> object:
        return contest.plain(*args)

    async def debugged(debugger: Debugger) -> object:
        return await contest.debugged(debugger, *args, prepare=_breakpoint("threads.py", "ELSEWHERE"))

    best = await of_rounds(contest, plain, debugged)
    kinds = ("processor time", "time")
    return [
        _ratio("threads", f"eight threads that count, a breakpoint elsewhere: {kind}", 1.03, best, kind)
        for kind in kinds
    ]


async def _six(
    contest: Contest, case: str, title: str, goal: float, prepare: Preparation, *, debugpy_repeats: int = REPEATS
) -> list[Row]:
    """Run all six workloads in one process, many times."""
    works = ",".join(WORK)

    async def plain() -> object:
        return contest.plain("workloads.py", works, str(REPEATS))

    async def debugged(debugger: Debugger) -> object:
        repeats = debugpy_repeats if debugger is DEBUGPY else REPEATS
        return await contest.debugged(debugger, "workloads.py", works, str(repeats), prepare=prepare)

    best = await of_rounds(contest, plain, debugged)
    return [_ratio(case, f"{title}: {work}", goal, best, work) for work in WORK]


type Best = dict[str, list[dict[str, float]]]
"""Of each way to run a program, the best repetition of each workload in each round."""

_ONLY = "the work"
"""Stands for the name of the workload of a program that has just one."""


async def of_rounds(
    contest: Contest,
    plain: Callable[[], Awaitable[object]],
    debugged: Callable[[Debugger], Awaitable[object]],
    debuggers: Sequence[Debugger] = (OURS, DEBUGPY),
) -> Best:
    """Run a program alone and under each debugger, in turns; a debugger that cannot do this is left out."""
    best: Best = {"plain": [], **{debugger.name: [] for debugger in (*debuggers, DEBUGPY)}}
    for number in range(contest.rounds):
        best["plain"].append(_best(await plain()))
        for debugger in debuggers:
            if debugger is DEBUGPY and (number >= DEBUGPY_ROUNDS or contest.program_python is not None):
                continue
            with suppress(CapabilityMissing):
                best[debugger.name].append(_best(await debugged(debugger)))
    return best


def _best(times: object) -> dict[str, float]:
    match times:
        case dict():
            return {str(name): min(cast("list[float]", one)) for name, one in times.items()}
        case _:
            return {_ONLY: min(cast("list[float]", times))}


def _ratio(case: str, title: str, goal: float, best: Best, work: str = _ONLY, *, ours: str = OURS.name) -> Row:
    def least(name: str) -> float | None:
        return min((one[work] for one in best[name]), default=None)

    def slowdown(name: str) -> float | None:
        debugged, alone = least(name), least("plain")
        return None if debugged is None or alone is None else debugged / alone

    return Row(case, title, "x", slowdown(DEBUGPY.name), slowdown(ours), goal)


async def hot(contest: Contest) -> list[Row]:
    """Set a breakpoint on a line of each hot function that is never reached."""

    async def prepare(session: Session) -> None:
        for work in WORK:
            await _breakpoint("workloads.py", f"HOT {work}")(session)

    title = "a breakpoint on an unreached line of the hot function"
    return await _six(contest, "hot", title, 1.05, prepare, debugpy_repeats=1)


async def conditions(contest: Contest) -> list[Row]:
    """Test conditions that are false a million times, and count hits, with the C extension and without."""

    async def two(session: Session) -> None:
        await _breakpoint("events.py", "LINE", condition="i == -1")(session)
        await _breakpoint("events.py", "ELSEWHERE")(session)

    wishes: list[tuple[str, Preparation, float, float]] = [
        ("condition i == -1, false a million times", _breakpoint("events.py", "LINE", condition="i == -1"), 2.6, 5.5),
        ("the same, with a breakpoint elsewhere", two, 2.6, 5.5),
        ("condition abs(i) == -1, the same", _breakpoint("events.py", "LINE", condition="abs(i) == -1"), 6, 6),
        (
            "hit condition == 20000000, a million times",
            _breakpoint("events.py", "LINE", hit_condition="== 20000000"),
            2.6,
            4,
        ),
    ]
    rows: list[Row] = []
    with without_extension() as pure:
        for title, prepare, goal, pure_goal in wishes:

            async def plain() -> object:
                return _each(contest.plain("events.py", "lines", *map(str, EVENTS)), EVENTS)

            async def debugged(debugger: Debugger, prepare: Preparation = prepare) -> object:
                events = SLOW_EVENTS if debugger is DEBUGPY else EVENTS
                args = ("events.py", "lines", *map(str, events))
                return _each(await contest.debugged(debugger, *args, prepare=prepare), events)

            best = await of_rounds(contest, plain, debugged, (OURS, pure, DEBUGPY))
            rows.append(_ratio("conditions", title, goal, best))
            rows.append(_ratio("conditions", NATIVE, pure_goal, best, ours=pure.name))
    return rows


def _each(times: object, events: tuple[int, int]) -> list[float]:
    return [seconds / events[0] for seconds in cast("list[float]", times)]


def _breakpoint(
    program: str, mark: str, *, condition: str | None = None, hit_condition: str | None = None
) -> Preparation:
    async def prepare(session: Session) -> None:
        file, line = PROGRAMS / program, line_of(program, mark)
        await session.add_breakpoint(file, line, condition=condition, hit_condition=hit_condition)

    return prepare


async def exceptions(contest: Contest) -> list[Row]:
    """Raise and catch exceptions that no exception breakpoint means."""
    path = [ExceptionPathSegment(names=["Python Exceptions"]), ExceptionPathSegment(names=["KeyError"])]
    limited = [ExceptionOptions(break_mode="always", path=path)]

    async def prepare(session: Session) -> None:
        await session.break_on_exceptions(options=limited)

    async def uncaught(session: Session) -> None:
        await session.break_on_exceptions("uncaught")

    title = f"{RAISES:,} ValueErrors caught, filter "
    return [
        await _raises(contest, title + "raised limited to KeyError", prepare),
        await _raises(contest, title + "uncaught", uncaught),
    ]


async def _raises(contest: Contest, title: str, prepare: Preparation) -> Row:
    args = ("events.py", "raises", str(RAISES), str(REPEATS))

    async def plain() -> object:
        return contest.plain(*args)

    async def debugged(debugger: Debugger) -> object:
        return await contest.debugged(debugger, *args, prepare=prepare)

    return _ratio("exceptions", title, 1.15, await of_rounds(contest, plain, debugged))


async def data(contest: Contest) -> list[Row]:
    """Watch a global variable while code runs that has nothing to do with it."""
    args = ("workloads.py", ",".join(WORK), str(REPEATS))

    async def plain() -> object:
        return contest.plain(*args)

    async def debugged(debugger: Debugger) -> object:
        return await _watched(contest, debugger, args)

    best = await of_rounds(contest, plain, debugged)
    return [_ratio("data", f"data breakpoint set, unrelated code: {work}", 1.03, best, work) for work in WORK]


async def _watched(contest: Contest, debugger: Debugger, args: tuple[str, ...]) -> object:
    async with contest.session(debugger) as session:
        if not session.capabilities.supports_data_breakpoints:
            raise CapabilityMissing("data breakpoints", "supportsDataBreakpoints", "adapter")
        await session.break_on_exceptions()
        await _breakpoint("workloads.py", "BEGIN")(session)
        await contest.launch(session, debugger, *args)
        stop = await session.next_stop()
        await session.clear_breakpoints()
        frame = (await session.stack_trace(stop.thread_id)).stack_frames[0]
        info = await session.data_breakpoint_info("watched", frame_id=frame.id)
        if info.data_id is None:
            raise CapabilityMissing(f"watching a global: {info.description}", "supportsDataBreakpoints", "adapter")
        await session.add_data_breakpoint(info.data_id, access_type="write")
        await session.continue_(stop.thread_id)
        return await printed(session)
