"""Profiles that nobody has recorded."""

from collections.abc import Mapping

from dapkit.diagnostics.profiling.profile import Profile
from dapkit.diagnostics.profiling.samples import WAITING, SampledFrame, SampledStack

MAIN = SampledFrame("main", "app.py", 9, "own")
SPIN = SampledFrame("spin", "app.py", 4, "own")
SPIN_LATER = SampledFrame("spin", "app.py", 5, "own")
WAIT = SampledFrame("Event.wait", "threading.py", 359)


def profile(stacks: Mapping[SampledStack, int], *, waiting_included: bool = True) -> Profile:
    return Profile(
        kind="work",
        program="app.py",
        pid=7,
        tool="py-spy",
        rate=50,
        of_each="thread",
        seconds=2.0,
        waiting_included=waiting_included,
        stacks=stacks,
    )


BUSY = profile({(MAIN, SPIN): 60, (MAIN, SPIN_LATER): 30, (MAIN, WAIT, WAITING): 10})
