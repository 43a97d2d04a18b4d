"""Processes to attach to."""

import subprocess
from pathlib import Path


class Running:
    """Starts programs which write a line as soon as they run, and end with their input."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *command: str | Path) -> tuple[int, str]:
        """Start a program, and return its pid and what it wrote first."""
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._started.append(program)
        assert program.stdout is not None
        return program.pid, program.stdout.readline().strip()

    def end(self) -> list[str]:
        """End all programs, and return what each has written since."""
        return [program.communicate("")[0] for program in self._started]
