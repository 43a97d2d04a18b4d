"""What is debugged: programs of two languages, by three adapters."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = str(Path(os.sep).absolute())
"""A folder that is there on each system."""

LOOP_IN_PYTHON = """\
import time

def turn(count):
    return count + 1

count = 0
while True:
    count = turn(count)
    time.sleep(0.01)
"""

LOOP_IN_C = """\
#include <unistd.h>

static int turn(int count) {
    return count + 1;
}

int main(void) {
    int count = 0;
    for (;;) {
        count = turn(count);
        usleep(10000);
    }
}
"""

LINE = 4
"""Where both turn."""

type RequireTool = Callable[[str], Path]


@dataclass(frozen=True)
class Debuggee:
    """A program, and the command of an adapter for it."""

    adapter: tuple[str, ...]
    program: Path
    source: Path

    def launch(self, *lines: int) -> dict[str, object]:
        """Return the arguments of a launch."""
        return {
            "adapter": list(self.adapter),
            "program": str(self.program),
            "source": str(self.source),
            "lines": list(lines),
        }


PYTHON_ADAPTERS = {
    "ours": (sys.executable, "-m", "dapkit.python"),
    "debugpy": (sys.executable, "-m", "debugpy.adapter"),
}


def python_program(folder: Path, text: str = LOOP_IN_PYTHON, adapter: str = "ours") -> Debuggee:
    """Write a Python program."""
    program = folder / "program.py"
    program.write_text(text)
    return Debuggee(PYTHON_ADAPTERS[adapter], program, program)


def c_program(folder: Path, require_tool: RequireTool, text: str = LOOP_IN_C) -> Debuggee:
    """Compile a C program."""
    source, program = folder / "program.c", folder / "program"
    source.write_text(text)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", program, source], check=True)
    return Debuggee((str(require_tool("lldb-dap-22")),), program, source)
