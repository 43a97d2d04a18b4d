"""What a program was like at moments of its run, and what its past shows of them.

The program is stopped on its way by breakpoints on lines that are chosen at random, with hit conditions. What can be
seen there is kept by its clock: stacks, variables, values and output. Later the same moments are shown as past.
"""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from dapkit.client import Stopped
from dapkit.protocol import Source, SourceBreakpoint, StepBackArguments, StoppedEvent
from dapkit.protocol.time_travel import TimelineBody
from e2e.python.adapter_client import AdapterClient

HITS = (1, 1, 1, 2, 3, 5, 10, 30, 100)
"""Which hit of a line is stopped at."""
LEAST_LINES, PART_OF_LINES = 8, 10
"""So many lines have a breakpoint at a time, or this part of all."""

_OF_PROCESS = re.compile(r", [lr]addr=\([^)]*\)|(?<=0x)[0-9a-f]{8,}|\b[0-9]{14,15}\b|[0-9.]+ seconds ago")
"""Addresses of sockets, for which the system is asked, which does not have the descriptors of the past; and those of
objects, since what the engine does for a stop moves what is made until the next copy, see `time-travel.md`.
"""

STATE = (
    "{name: repr(value) for name, value in vars(__import__('sys').modules['__main__']).items()"
    " if name.startswith('s_')}"
)


@dataclass(frozen=True)
class Moment:
    """What can be seen of a stopped program.

    Attributes:
        clock: when it is.
        thread: that has stopped.
        stack: names and lines of its frames, the newest first.
        variables: names and values, of its frames of the program's own code.
        state: the values of the globals that begin with `s_`, whole.
        output: how many bytes the program has written.

    """

    clock: int
    thread: int
    stack: tuple[tuple[str, int], ...]
    variables: tuple[tuple[str, str], ...]
    state: str
    output: int

    def differences(self, shown: "Moment") -> Iterator[str]:
        """Tell what is not as it was."""
        for name in ("clock", "stack", "output", "state"):
            was, now = getattr(self, name), getattr(shown, name)
            if was != now:
                yield f"at clock {self.clock}, {name}: {_around(str(was), str(now))}"
        if self.stack == shown.stack:
            for was, now in zip(self.variables, shown.variables, strict=True):
                if was != now:
                    yield f"at clock {self.clock}: {was[0]} was {was[1][:300]}, {now[0]} is {now[1][:300]}"


def _around(was: str, now: str) -> str:
    """Return what two texts are where they differ first."""
    place = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    return f"{was[max(place - 100, 0) : place + 200]!r} is {now[max(place - 100, 0) : place + 200]!r}"


async def timeline(driver: AdapterClient) -> TimelineBody:
    """Ask for the recorded history."""
    return msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)


async def moment(driver: AdapterClient) -> Moment:
    """Return what can be seen now."""
    thread = driver.told(StoppedEvent)[-1].thread_id or 1
    frames = await driver.frames(thread)
    variables = list[tuple[str, str]]()
    for frame in frames:
        if frame.source is None or frame.source.path is None or frame.presentation_hint == "subtle":
            continue
        for scope in (await driver.session.scopes(frame.id)).scopes:
            if scope.name == "Globals" and frame.name != "<module>":
                continue
            found = (await driver.session.variables(scope.variables_reference)).variables
            variables += [(f"{frame.name}: {each.name}", _OF_PROCESS.sub("", each.value)) for each in found]
    state = (await driver.session.evaluate(STATE, frame_id=frames[-1].id, context="clipboard")).result
    about = await timeline(driver)
    stack = tuple((frame.name, frame.line) for frame in frames)
    return Moment(about.now, thread, stack, tuple(variables), _OF_PROCESS.sub("", state), about.output)


def lines_of(program: Path) -> list[int]:
    """Return the lines on which statements begin."""
    statements = [node for node in ast.walk(ast.parse(program.read_text())) if isinstance(node, ast.stmt)]
    return sorted({node.lineno for node in statements if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)})


@dataclass
class ForwardRun:
    """A program on its way to its last line.

    Attributes:
        driver: of the session.
        files: where it is stopped; in the end on the last line of the first.
        chosen: where randomness comes from.
        known: moments that were seen, by their clocks.

    """

    driver: AdapterClient
    files: list[Path]
    chosen: random.Random
    known: dict[int, Moment] = field(default_factory=dict)

    async def run(self, moments: int) -> Moment:
        """Run a program that has stopped at its entry up to its last line, and stop at some moments before."""
        program = self.files[0]
        last = lines_of(program)[-1]
        lines = [(path, line) for path in self.files for line in lines_of(path)]
        count = min(max(LEAST_LINES, len(lines) // PART_OF_LINES), len(lines))
        while True:
            hits = dict[Path, list[SourceBreakpoint]]({path: [] for path in self.files})
            if len(self.known) < moments:
                for path, line in self.chosen.sample(lines, count):
                    hit = str(self.chosen.choice(HITS))
                    hits[path].append(SourceBreakpoint(line=line, hit_condition=hit))
            hits[program].append(SourceBreakpoint(line=last))
            await self._set(hits)
            stop = await self.driver.resume()
            assert isinstance(stop, Stopped), self.driver.output()
            assert stop.reason == "breakpoint", (stop, await self.driver.where(stop.thread_id or 1))
            seen = await moment(self.driver)
            self.known[seen.clock] = seen
            if seen.stack == (("<module>", last),):
                await self._set({path: [] for path in self.files})
                return seen

    async def _set(self, breakpoints: dict[Path, list[SourceBreakpoint]]) -> None:
        for path, wanted in breakpoints.items():
            await self.driver.session.set_breakpoints(Source(path=str(path)), breakpoints=wanted)

    async def travel(self, clock: int, *, from_beginning: bool = False) -> Moment:
        """Show a moment."""
        await self.driver.travel(clock, from_beginning=from_beginning)
        return await moment(self.driver)

    async def jump(self) -> list[str]:
        """Show one of the moments, or that of a step back from it; return what is not as it was."""
        was = self.known[self.chosen.choice(sorted(self.known))]
        found = list(was.differences(await self.travel(was.clock)))
        if self.chosen.random() < 0.25:
            position = self.driver.session.position
            await self.driver.session.request(StepBackArguments(thread_id=was.thread))
            await self.driver.session.wait_for(StoppedEvent, since=position)
            shown = await moment(self.driver)
            assert shown.clock < was.clock or "Start" in str(self.driver.told(StoppedEvent)[-1].description)
            found += self.known.setdefault(shown.clock, shown).differences(shown)
        return found
