"""Pseudo-terminals of POSIX systems.

The program leads a session of its own with the terminal as its controlling one, so that `isatty`, window size and
Ctrl-C work as in a window. A program that reads a file has nothing to do with a terminal but that it is its
controlling one: its stdout and stderr are pipes, as in a shell without a terminal.
"""

import fcntl
import os
import struct
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

from dapkit.client.started_terminal import StartedTerminal, environment_of
from dapkit.client.terminal_launcher import REPORT
from dapkit.protocol import RunInTerminalRequestArguments
from dapkit.system.started_processes import start_to_empty
from dapkit.transport import ignored_signals
from dapkit.transport.descriptors import DescriptorReader, DescriptorWriter

_SIZE = (24, 80)
_CATEGORIES = {1: "stdout", 2: "stderr"}
_LAUNCHER = Path(__file__).with_name("terminal_launcher.py")


def start(request: RunInTerminalRequestArguments, program_input: Path | None) -> StartedTerminal:
    """Start the launcher of the program. Raises: OSError."""
    master, slave = os.openpty()
    reading, reports = os.pipe()
    _resize(slave, *_SIZE)
    input_path = "" if program_input is None else str(program_input.absolute())
    pipes = {} if program_input is None else {1: os.pipe(), 2: os.pipe()}
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), request.cwd or ".", input_path, *request.args]
    given_to_it = {0: slave, 1: slave, 2: slave, REPORT: reports}
    given_to_it |= {standard: writing for standard, (_, writing) in pipes.items()}
    try:
        pid = _spawn(launcher, environment_of(request.env, os.environ), given_to_it)
    finally:
        for descriptor in {slave, reports, *(writing for _, writing in pipes.values())}:
            os.close(descriptor)
    ours = {master: "stdout"} | {reading: _CATEGORIES[standard] for standard, (reading, _) in pipes.items()}
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    return StartedTerminal(
        pid,
        tuple((DescriptorReader(descriptor), category) for descriptor, category in ours.items()),
        DescriptorWriter.over(os.dup(master)),
        resize=lambda rows, columns: _resize(master, rows, columns),
        leave=lambda goes_on: _leave(ours, goes_on=goes_on),
        report=DescriptorReader(reading),
    )


def _resize(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _leave(descriptors: Mapping[int, str], *, goes_on: bool) -> None:
    for descriptor in descriptors if goes_on else ():
        start_to_empty(descriptor)


def _spawn(argv: list[str], environment: Mapping[str, str], descriptors: Mapping[int, int]) -> int:
    """Start a process that leads a session of its own, with these descriptors only."""
    actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in descriptors.items()]
    return os.posix_spawn(argv[0], argv, environment, file_actions=actions, setsid=True, setsigdef=ignored_signals())
