"""What a call to a running hub adds to the start of Python.

Whole processes, since that is what a command is: in each pair one does nothing
and one makes a call, at last as the command that people and agents use. Both
find warm caches and cached bytecode. Noise of the machine only adds, so that the
quickest of each kind count, by the clock and in processor time; the ratio of
processor times is the median over the pairs. The goal is for processor time: the
clock is stretched by whatever else a machine does, and on a quiet one it shows as much.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dapkit.hub.calls import HubCall
from dapkit.hub.client import HubClient
from dapkit.hub.daemon import run
from dapkit.settings import Settings

PAIRS = 40
GOAL_MS = 50.0
HUB = "--hub"
BARE = ["-c", "pass"]
CASES = {
    "import dapkit.hub": ["-c", "import dapkit.hub"],
    "one call": ["-c", "from dapkit.hub import call; call('sessions', {}, project='/')"],
    "one call with the environment": ["-c", "from dapkit.hub import call; call('launch', {}, project='/')"],
    "the command `dapkit sessions`": ["-m", "dapkit.cli", "sessions"],
}
BY_CLICK = {"the same, read by click": ["-c", "from dapkit.cli.main import dapkit; dapkit(['sessions'])"]}
"""Help, completion and lines with a mistake are read by click; for these there is no goal."""


class Nothing:
    """Answers every call as an action that has nothing to say."""

    async def handle(self, call: HubCall) -> dict[str, object]:
        """Answer at once."""
        return {"action": call.name, "session": None, "success": True, "text": "", "details": {}}

    def busy(self) -> bool:
        """Say that nothing would be lost."""
        return False


@asynccontextmanager
async def nothing(_settings: Settings) -> AsyncIterator[Nothing]:
    """Make the handler of the hub that is measured."""
    yield Nothing()


def measure(arguments: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Return what a program adds to the start of Python, by the clock and in processor time, and the ratio."""
    bare: list[tuple[float, float]] = []
    loaded: list[tuple[float, float]] = []
    for number in range(PAIRS):
        pair = [(loaded, arguments), (bare, BARE)]
        for times, what in pair if number % 2 else reversed(pair):  # whoever comes second finds warmer caches
            times.append(run_once(what, environment))
    ratio = statistics.median(ours[1] / theirs[1] for ours, theirs in zip(loaded, bare, strict=True))
    clock, processor = (min(run[of] for run in loaded) - min(run[of] for run in bare) for of in (0, 1))
    return clock, processor, ratio


def run_once(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a whole process and return its milliseconds, by the clock and in processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main() -> int:
    """Print the table; 1 if the goal is missed."""
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["DAPKIT_RUNTIME_DIR"] = folder
        hub_client = HubClient(folder, command=(sys.executable, __file__, HUB))
        start = time.perf_counter()
        hub_client.call("sessions", {}, project="/")
        cold = (time.perf_counter() - start) * 1000
        try:
            print(f"{'dapkit.hub, added to the start of Python':46} {'ms':>9} {'CPU ms':>9} {'goal':>9} {'x bare':>10}")
            for name, arguments in {**CASES, **BY_CLICK}.items():
                run_once(arguments, environment)  # leaves the bytecode behind, as an installation does
                clock, processor, ratio = measure(arguments, environment)
                missed |= name in CASES and processor > GOAL_MS
                goal = f"{GOAL_MS:.0f} ms" if name in CASES else ""
                print(f"{name:46} {clock:9.1f} {processor:9.1f} {goal:>9} {ratio:10.2f}")
            print(f"{'first call, which starts the hub':46} {cold:9.0f}")
        finally:
            hub_client.stop()
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:] == [HUB]:
        run(nothing)
    else:
        sys.exit(main())
