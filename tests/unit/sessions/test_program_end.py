"""Exit codes that adapters report in their own ways, read as shells have them."""

import pytest

from dapkit.catalog import Traits
from dapkit.catalog.definition import SignalExitCodes
from dapkit.sessions.program_end import Ending, ending_of

SEGFAULT = Ending(139, "SIGSEGV")


@pytest.mark.parametrize(
    ("kind", "reported", "stopped_by", "ending"),
    [
        ("negative", 0, None, Ending(0)),
        ("negative", 139, "SIGSEGV", Ending(139)),
        ("negative", -11, None, SEGFAULT),
        ("negative", -35, None, Ending(163, "signal 35")),
        ("negative", -70, None, Ending(-70)),
        ("low_byte", 245, None, SEGFAULT),
        ("low_byte", -11, None, SEGFAULT),
        ("low_byte", 255, None, Ending(255)),
        ("low_byte", 3, None, Ending(3)),
        ("number", 11, "SIGSEGV", SEGFAULT),
        ("number", 11, "SIGUSR1", Ending(11)),
        ("number", 11, None, Ending(11)),
        ("number", 0, None, Ending(0)),
    ],
)
def test_exit_code_of_a_program_that_a_signal_has_killed_is_128_and_its_number(
    kind: SignalExitCodes, reported: int, stopped_by: str | None, ending: Ending
) -> None:
    assert ending_of(reported, Traits(signal_exit_codes=kind), stopped_by=stopped_by) == ending
