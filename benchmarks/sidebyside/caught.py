"""Exceptions that something catches, with the filter that is on by default."""

from pathlib import Path

from dapkit.client import Session
from sidebyside.contest import DEBUGPY, OURS, Contest, Debugger
from sidebyside.package_tests import SUITES, unpacked
from sidebyside.slowdown import of_rounds
from sidebyside.table import Row

COUNT, REPEATS, FRAMES = 10_000, 5, 200
GOALS = {"caller": (0.6, 0.0), "suppress": (0.0, 1.1), "through": (45.0, 0.0)}
"""The most that some of WAYS may take, in microseconds and in times of what they take alone: the greater of the two."""
WAYS = {
    "same": "in the same frame",
    "caller": "by the caller",
    "hasattr_": "by hasattr",
    "getattr_": "by the default of getattr",
    "generator": "by a loop over a generator",
    "items": "by a loop over items",
    "suppress": "by contextlib.suppress",
    "through": f"{FRAMES} frames further out",
}
"""Source distributions, and the tests in them that need nothing but pytest."""


async def _uncaught(session: Session) -> None:
    await session.break_on_exceptions("uncaught")


async def caught(contest: Contest) -> list[Row]:
    """Raise exceptions that are caught, in eight ways."""
    args = ("raises.py", str(COUNT), str(REPEATS))

    async def plain() -> object:
        return contest.plain(*args)

    async def debugged(debugger: Debugger) -> object:
        return await contest.debugged(debugger, *args, prepare=_uncaught)

    best = await of_rounds(contest, plain, debugged)
    rows: list[Row] = []
    for name, way in WAYS.items():
        each = 1e6 / COUNT * (FRAMES if name == "through" else 1)
        alone, ours, debugpy = (
            min(one[name] for one in best[who]) * each for who in ("plain", OURS.name, DEBUGPY.name)
        )
        microseconds, times = GOALS.get(name, (debugpy / 2, 2.5))  # half of debugpy's, but for what costs it nothing
        goal = max(microseconds, times * alone)
        rows.append(Row("caught", f"exception caught {way}", "us", debugpy, ours, goal, f"alone {alone:.2f} us"))
    return rows


async def suites(contest: Contest) -> list[Row]:
    """Run packages' own tests with nothing set: the processor time of their process."""
    rows: list[Row] = []
    for package, tests in SUITES.items():
        folder = unpacked(contest.python, package)

        async def plain(folder: Path = folder, tests: str = tests) -> object:
            return contest.plain("suite.py", str(folder), tests)

        async def debugged(debugger: Debugger, folder: Path = folder, tests: str = tests) -> object:
            return await contest.debugged(debugger, "suite.py", str(folder), tests, prepare=_uncaught)

        best = await of_rounds(contest, plain, debugged)
        alone, ours, debugpy = (
            min(time for one in best[who] for time in one.values()) for who in ("plain", OURS.name, DEBUGPY.name)
        )
        rows.append(
            Row("suites", f"tests of {package}", "x", debugpy / alone, ours / alone, 1.15, f"alone {alone:.1f} s")
        )
    return rows
