"""The example of the how-to runs as it stands there."""

import subprocess
import sys
from pathlib import Path

from client_fixtures import PROGRAMS, line_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "drive_debugpy.py"


def test_example_shows_the_variables_at_its_breakpoint() -> None:
    program, line = PROGRAMS / "sums.py", line_of("sums.py", "total = left")
    command = [sys.executable, str(EXAMPLE), str(program), str(line)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True).stdout
    assert shown == (f"add:{line} left = 0\nadd:{line} right = 10\nEnded(exit_code=3, adapter_lost=False) sum 33\n\n")
