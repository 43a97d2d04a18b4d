"""Profiling tools: started, interrupted when enough is recorded, and ended with dapkit.

A guard ends them if we are killed. Their output goes through pipes, or into a file without a name, so that no file is
left over.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from dapkit import limits as shared_limits
from dapkit.agent.text.escaping import one_line
from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.system import procfs
from dapkit.system.selection import LINUX, NAME
from dapkit.system.signals import KILL
from dapkit.system.this_system import SYSTEM
from dapkit.transport.group_reaper import new_reaper


class RecordingTool:
    """A tool that runs.

    Attributes:
        name: for people.
        process: it; ended by `running_tool` alone.

    """

    def __init__(self, name: str, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self.name = name
        self.process = process
        self._errors = errors
        self._is_ready = False

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def wait_until_ready(self) -> None:
        """Wait until it heeds an interruption, which it does before it records, or has ended.

        Only Linux tells which signals a process handles: elsewhere, a time passes.
        """
        if self._is_ready:
            return
        seconds = limits.PROFILE_START_SECONDS if NAME == LINUX else limits.PROFILE_READY_SECONDS
        deadline = time.monotonic() + seconds
        while self.runs and not _catches(self.process.pid, signal.SIGINT) and time.monotonic() < deadline:
            time.sleep(limits.PROFILE_LOOK_SECONDS / 10)
        self._is_ready = True

    def interrupt(self) -> None:
        """End it as Ctrl-C does, so that it writes its data."""
        self.wait_until_ready()
        self.process.send_signal(signal.SIGINT)

    def finish(self) -> bool:
        """Wait until it has written its data; return whether it did in time."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(limits.PROFILE_FINISH_SECONDS)
        return not self.runs

    def failure(self, what: str) -> DiagnosticsError:
        """Make an error of its stderr."""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - shared_limits.STDERR_BYTES))
        words = self._errors.read().decode(errors="replace").split()
        text = one_line(" ".join(words))[: limits.PROFILE_ERROR_CHARACTERS] or "it says nothing about that"
        return DiagnosticsError("tool_failed", f"{self.name} {what}: {text}")


@contextmanager
def running_tool(
    name: str,
    command: Sequence[str],
    *,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    keep: Sequence[int] = (),
) -> Iterator[RecordingTool]:
    """Start a tool, and end it with the block.

    Args:
        name: for people.
        command: to be run.
        stdin: its input.
        stdout: where it writes to.
        keep: descriptors that it gets as they are.

    Raises:
        DiagnosticsError: it cannot be started.

    """
    guard = new_reaper()
    try:
        with tempfile.TemporaryFile() as errors:
            environment = guard.mark({**os.environ, "RUST_BACKTRACE": "0", "LC_ALL": "C"})
            try:
                process = subprocess.Popen(
                    command,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=errors,
                    env=environment,
                    pass_fds=keep,
                    start_new_session=True,  # a Ctrl-C is for us, and we pass it on when we are ready
                )
            except OSError as error:
                raise DiagnosticsError("tool_failed", f"{command[0]} cannot be run: {error.strerror}") from error
            try:
                guard.watch(process.pid)
                _bound(process.pid)
                yield RecordingTool(name, process, errors)
            finally:
                _end(process)
    finally:
        guard.dismiss()


def _bound(pid: int) -> None:
    """Limit the size of a tool's file, and its memory."""
    with suppress(ProcessLookupError):
        SYSTEM.limit_sizes(pid, file=limits.PROFILE_BYTES, memory=limits.PROFILE_TOOL_BYTES)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            SYSTEM.signal_group(process.pid, KILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal: before that, one would end it with nothing."""
    return bool(int(procfs.status_of(pid).get("SigCgt", "0"), 16) >> (number - 1) & 1)
