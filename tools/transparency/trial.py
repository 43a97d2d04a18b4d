"""The order of a measurement: plain, plain again, in each mode, and once more alone what has changed.

A test that changes when it runs alone, too, is confirmed. Pauses come by chance: alone, their tests are repeated for
a while, with and without the debugger. Where a program does not come to its end, the tests that are left run in
another one.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from transparency import debugged, plain
from transparency.debugged import Debugger
from transparency.modes import MODES
from transparency.outcomes import Outcome, Run, changes, fastest, steady
from transparency.subjects import BUILD, Subject

ALONE = 6
"""So many changed tests of a program are run each by itself; if there are more, the others run together."""
REPEATED_SECONDS = 3.0
PROGRAMS_PER_RUN = 4


@dataclass(frozen=True)
class Verdict:
    """What was found for a subject in a mode.

    Attributes:
        tests: how many were compared.
        changed: what differed from the plain run, by the names of tests.
        confirmed: what of it differed again when it ran alone.
        stuck: tests in which the program hung, or ended.
        jumps: how many requests asked for another moment of the program, in all its runs.
        refused: how many of those failed, by the reason.
        refusals: what some of them said.
        remarks: what else is worth knowing.
        errors: what the debugger logged as an error of its own.

    """

    subject: str
    version: str
    mode: str
    tests: int
    changed: Mapping[str, Outcome] = field(default_factory=dict)
    confirmed: Mapping[str, Outcome] = field(default_factory=dict)
    stuck: tuple[str, ...] = ()
    seconds: float = 0.0
    stops: int = 0
    jumps: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    errors: str = ""


@dataclass(frozen=True)
class Base:
    """A subject without a debugger.

    Attributes:
        run: the outcomes that hold in each plain run.
        left_out: how many tests differed between plain runs, failed, or take too long.
        remarks: what the program printed, if it did not come to its end.
        thorough: whether there are to be many steps and stops.

    """

    subject: Subject
    run: Run
    left_out: int
    remarks: tuple[str, ...]
    thorough: bool


async def base(subject: Subject, seconds: float, *, thorough: bool) -> Base:
    """Run a subject without a debugger, to learn which of its tests can be compared."""
    with new_folder() as folder:
        first = await plain.run(subject, Path(folder))
    names = fastest(first, seconds)
    with new_folder() as folder:
        second = await plain.run(subject, Path(folder), names)
    run = steady((first, second)) if names else Run({})
    return Base(subject, run, len(first.outcomes) - len(run.outcomes), first.remarks, thorough)


async def verdict(known: Base, debugger: Debugger, mode: str) -> Verdict:
    """Measure a subject in a mode."""
    return await _Trial(known, debugger, mode).verdict()


class _Trial:
    """A subject in a mode."""

    def __init__(self, known: Base, debugger: Debugger, mode: str) -> None:
        self._known = known
        self._debugger = debugger
        self._mode = mode
        self._stuck: list[str] = []
        self._remarks: list[str] = []
        self._errors = ""
        self._jumps = 0
        self._refused: Counter[str] = Counter()
        self._refusals: list[str] = []

    async def verdict(self) -> Verdict:
        base = self._known.run
        run = await self._all(list(base.outcomes))
        changed = changes(base, run)
        confirmed: dict[str, Outcome] = {}
        single = [name for name in changed if name in base.outcomes][:ALONE]
        for name in single:
            confirmed |= await self._again([name])
        together = [name for name in changed if name in base.outcomes and name not in single]
        if together:
            confirmed |= await self._again(together)
        around = [name for name in changed if name not in base.outcomes]
        if around:
            again = changes(base, await self._debugged(list(base.outcomes)))
            confirmed |= {name: again[name] for name in around if name in again}
        return Verdict(
            self._known.subject.name,
            self._known.subject.version,
            self._mode,
            tests=len(base.outcomes),
            changed=changed,
            confirmed=confirmed,
            stuck=tuple(self._stuck),
            seconds=round(run.seconds, 1),
            stops=run.stops,
            jumps=self._jumps,
            refused=dict(self._refused),
            refusals=tuple(self._refusals),
            remarks=tuple(self._remarks),
            errors=self._errors,
        )

    async def _all(self, names: list[str]) -> Run:
        """Run all tests, in as many programs as it takes."""
        outcomes: dict[str, Outcome] = {}
        left = names
        for _ in range(PROGRAMS_PER_RUN):
            run = await self._debugged(left)
            outcomes |= run.outcomes
            self._remarks += run.remarks
            if run.done:
                break
            end = Outcome("hung" if run.hung else f"ended with {run.exit_code}", "\n".join(run.remarks))
            begun = run.begun or "(between tests)"
            self._stuck.append(begun)
            outcomes[begun] = end
            left = [name for name in left if name not in outcomes]
        return replace(run, outcomes=outcomes, done=run.done and not self._stuck)

    async def _again(self, names: Sequence[str]) -> dict[str, Outcome]:
        """Run changed tests without others; return what changes again."""
        seconds = REPEATED_SECONDS if MODES[self._mode].pause_seconds is not None else 0.0
        with new_folder() as folder:
            alone = await plain.run(self._known.subject, Path(folder), names, seconds=seconds)
        earlier = replace(self._known.run, outcomes={name: self._known.run.outcomes[name] for name in names})
        expected = steady((earlier, replace(alone, exit_code=earlier.exit_code)))
        run = await self._debugged(list(expected.outcomes), seconds=seconds)
        found = changes(expected, run)
        if run.begun in found:
            found[run.begun] = Outcome("hung" if run.hung else f"ended with {run.exit_code}", "\n".join(run.remarks))
        return {name: outcome for name, outcome in found.items() if name in expected.outcomes}

    async def _debugged(self, names: Sequence[str], *, seconds: float = 0) -> Run:
        with new_folder() as folder:
            run = await debugged.run(
                self._debugger,
                MODES[self._mode],
                self._known.subject,
                Path(folder),
                names,
                thorough=self._known.thorough,
                seconds=seconds,
                plain_seconds=self._known.run.seconds,
            )
        self._errors = self._errors or run.errors
        self._jumps += run.jumps
        self._refused.update(run.refused)
        self._refusals += run.refusals
        return run


def new_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for one run; what tests leave in it that cannot be removed stays."""
    BUILD.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="run-", dir=BUILD, ignore_cleanup_errors=True)
