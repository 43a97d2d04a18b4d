"""What a call to a running hub adds to the start of Python, by the clock.

Whole processes, since that is what a command is: in each pair one does nothing
and one makes a call. Both find warm caches and cached bytecode. Noise of the
machine only adds, so that the quickest of each kind count; the ratio is the
median over the pairs.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dapkit.hub.calls import Call
from dapkit.hub.daemon import run
from dapkit.hub.front import Front
from dapkit.hub.settings import Settings

PAIRS = 40
GOAL_MS = 50.0
HUB = "--hub"
CASES = {
    "import dapkit.hub": "import dapkit.hub",
    "one call": "from dapkit.hub import call; call('nothing', {}, project='/')",
    "one call with the environment": "from dapkit.hub import call; call('launch', {}, project='/')",
}


class Nothing:
    """Answers every call with nothing."""

    async def handle(self, _call: Call) -> dict[str, object]:
        """Answer at once."""
        return {}

    def busy(self) -> bool:
        """Say that nothing would be lost."""
        return False


@asynccontextmanager
async def nothing(_settings: Settings) -> AsyncIterator[Nothing]:
    """Make the handler of the hub that is measured."""
    yield Nothing()


def measure(code: str, environment: dict[str, str]) -> tuple[float, float]:
    """Return the milliseconds that the code adds to the start of Python, and the ratio of both."""
    bare: list[float] = []
    loaded: list[float] = []
    for number in range(PAIRS):
        pair = [(loaded, code), (bare, "pass")]
        for times, what in pair if number % 2 else reversed(pair):  # whoever comes second finds warmer caches
            times.append(clock(what, environment))
    ratio = statistics.median(ours / theirs for ours, theirs in zip(loaded, bare, strict=True))
    return (min(loaded) - min(bare)) * 1000, ratio


def clock(code: str, environment: dict[str, str]) -> float:
    """Run a whole process and return its time."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def main() -> int:
    """Print the table; 1 if the goal is missed."""
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["DAPKIT_RUNTIME_DIR"] = folder
        front = Front(folder, command=(sys.executable, __file__, HUB))
        start = time.perf_counter()
        front.call("nothing", {}, project="/")
        cold = (time.perf_counter() - start) * 1000
        try:
            print(f"{'dapkit.hub, added to the start of Python':46} {'ms':>9} {'x bare':>10} {'goal':>9}")
            for name, code in CASES.items():
                clock(code, environment)  # leaves the bytecode behind, as an installation does
                spent, ratio = measure(code, environment)
                missed |= spent > GOAL_MS
                print(f"{name:46} {spent:9.1f} {ratio:10.2f} {GOAL_MS:6.0f} ms")
            print(f"{'first call, which starts the hub':46} {cold:9.0f}")
        finally:
            front.stop()
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:] == [HUB]:
        run(nothing)
    else:
        sys.exit(main())
