"""How much slower the program gets: its processor time under a debugger over that without one."""

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
    middle,
    nothing,
    printed,
    without_extension,
)
from sidebyside.table import Row

WORK = ("fib", "loops", "nbody", "json", "words", "calls")
REPEATS = 5
EVENTS = 1_000_000
SLOW_EVENTS = 20_000
"""How many events debugpy gets, which takes 10 us and more for each; figures are per event."""
RAISES = 100_000

NATIVE = "    without the C extension"


async def free(contest: Contest) -> list[Row]:
    """Set no breakpoints."""
    return await _six(contest, "free", "no breakpoints", 1.03, nothing)


async def elsewhere(contest: Contest) -> list[Row]:
    """Set a breakpoint in a function that is never called."""
    prepare = _breakpoint("workloads.py", "ELSEWHERE")
    return await _six(contest, "elsewhere", "a breakpoint elsewhere", 1.03, prepare)


async def _six(contest: Contest, case: str, title: str, goal: float, prepare: Preparation) -> list[Row]:
    """Run all six workloads in one process, many times."""
    times: dict[str, dict[str, list[float]]] = {
        name: {work: [] for work in WORK} for name in ("plain", "debugpy", "ours")
    }
    args = ("workloads.py", ",".join(WORK), str(REPEATS))
    for _ in range(contest.rounds):
        _add(times["plain"], contest.plain(*args))
        for debugger in (DEBUGPY, OURS):
            _add(times[debugger.name], await contest.debugged(debugger, *args, prepare=prepare))
    return [_ratio(case, f"{title}: {work}", goal, {name: times[name][work] for name in times}) for work in WORK]


def _add(times: dict[str, list[float]], more: object) -> None:
    for work, seconds in cast("dict[str, list[float]]", more).items():
        times[work] += seconds


def _ratio(case: str, title: str, goal: float, times: dict[str, list[float]]) -> Row:
    plain = middle(times["plain"])
    debugpy, ours = (middle(times[name]) / plain if times[name] else None for name in ("debugpy", "ours"))
    return Row(case, title, "x", debugpy, ours, goal)


async def hot(contest: Contest) -> list[Row]:
    """Set a breakpoint on a line of the hot function that is never reached."""
    rows = []
    for work in WORK:
        prepare = _breakpoint("workloads.py", f"HOT {work}")
        times: dict[str, list[float]] = {"plain": [], "debugpy": [], "ours": []}
        for number in range(contest.rounds):
            plain = contest.plain("workloads.py", work, str(REPEATS))
            ours = await contest.debugged(OURS, "workloads.py", work, str(REPEATS), prepare=prepare)
            times["plain"] += cast("dict[str, list[float]]", plain)[work]
            times["ours"] += cast("dict[str, list[float]]", ours)[work]
            if number < 2:
                slow = await contest.debugged(DEBUGPY, "workloads.py", work, "1", prepare=prepare)
                times["debugpy"] += cast("dict[str, list[float]]", slow)[work]
        rows.append(_ratio("hot", f"an unreached line of the hot function: {work}", 1.05, times))
    return rows


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
            times: dict[str, list[float]] = {"plain": [], "debugpy": [], "ours": [], "pure": []}
            for number in range(contest.rounds):
                times["plain"] += _each(contest.plain("events.py", "lines", str(EVENTS), "2"), EVENTS)
                for name, ours in (("ours", OURS), ("pure", pure)):
                    args = ("events.py", "lines", str(EVENTS), "2")
                    times[name] += _each(await contest.debugged(ours, *args, prepare=prepare), EVENTS)
                if number < 2:
                    args = ("events.py", "lines", str(SLOW_EVENTS), "2")
                    times["debugpy"] += _each(await contest.debugged(DEBUGPY, *args, prepare=prepare), SLOW_EVENTS)
            rows.append(_ratio("conditions", title, goal, times))
            rows.append(_ratio("conditions", NATIVE, pure_goal, {**times, "ours": times["pure"]}))
    return rows


def _each(times: object, count: int) -> list[float]:
    return [seconds / count for seconds in cast("list[float]", times)]


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
    times: dict[str, list[float]] = {"plain": [], "debugpy": [], "ours": []}
    for _ in range(contest.rounds):
        times["plain"] += cast("list[float]", contest.plain("events.py", "raises", str(RAISES), "3"))
        for debugger in (DEBUGPY, OURS):
            try:
                seconds = await contest.debugged(debugger, "events.py", "raises", str(RAISES), "3", prepare=prepare)
            except CapabilityMissing:
                continue
            times[debugger.name] += cast("list[float]", seconds)
    return _ratio("exceptions", title, 2, times)


async def data(contest: Contest) -> list[Row]:
    """Watch a global variable while code runs that has nothing to do with it."""
    times: dict[str, dict[str, list[float]]] = {
        name: {work: [] for work in WORK} for name in ("plain", "debugpy", "ours")
    }
    args = ("workloads.py", ",".join(WORK), str(REPEATS))
    for _ in range(contest.rounds):
        _add(times["plain"], contest.plain(*args))
        for debugger in (DEBUGPY, OURS):
            try:
                _add(times[debugger.name], await _watched(contest, debugger, args))
            except CapabilityMissing:
                continue
    title = "data breakpoint set, unrelated code: "
    return [_ratio("data", title + work, 1.03, {name: times[name][work] for name in times}) for work in WORK]


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
