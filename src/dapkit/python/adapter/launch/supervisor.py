"""The adapter's hold on a program that it has started: the conversation with the program's parent (`supervisor_main`).

The supervisor adopts and ends all processes that the program starts, even if the adapter was killed. This module sends
its commands and reads its reports: whether the program could be started, was stopped by a signal, has ended.
"""

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from dapkit.adapter import RequestFailed
from dapkit.python import limits
from dapkit.system.interface import ProcessHandle
from dapkit.system.selection import IS_WINDOWS, LINUX, NAME
from dapkit.system.signals import KILLED_CODE
from dapkit.system.this_system import SYSTEM
from dapkit.transport import StateChange
from dapkit.transport.signals import signal_name
from dapkit.transport.sockets import SocketStream

RESUME = b"c"
"""The program is to continue, if a signal has stopped it."""
TERMINATE = b"t"
"""The program is to get SIGTERM, not its group; on Windows, Ctrl+Break."""
KILL = b"k"
"""The program and all below it are to be killed: also when it has ended, as is reported."""
RELEASE = b"r"
"""The program, and its background processes when it has ended, continue whatever happens to the adapter."""
REPLACE = b"p"
"""The program is killed, and a process that came of it takes its place: its number follows in four bytes."""

_IN_C = Path(__file__).parents[1] / "dapkit-supervisor"  # made by tools/build_native.py, with a compiler
_SCRIPT = Path(__file__).with_name("supervisor_windows.py" if IS_WINDOWS else "supervisor_main.py")


def parent_command(place: str) -> list[str]:
    """Return the command that starts a parent, which reaches us at a place: `fd:NUMBER` or `unix:PATH`."""
    if NAME == LINUX and os.access(_IN_C, os.X_OK):
        return [str(_IN_C), place]
    return [sys.executable, "-I", "-S", str(_SCRIPT), place]


def start_order(argv: Sequence[str], sockets: Sequence[Path]) -> bytes:
    """Return a function that starts a program under a supervisor, which cleans up if the adapter is killed."""
    words = b"\0".join(map(os.fsencode, (str(len(sockets)), *map(str, sockets), *argv)))
    return len(words).to_bytes(4) + words


class ProgramParent:
    """The parent of a program, once it has reached us.

    Attributes:
        pid: of the program.
        returncode: of the program: its exit code, or minus the signal that killed it; None while it runs.
        stopped_by: the signal that has stopped the program, None unless one has.
        left: the processes that it has left, once it has ended.

    Invariant: `_process` is the program's process from its start until `close`.

    """

    def __init__(self, stream: SocketStream) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.stopped_by: int | None = None
        self.left: list[int] = []
        self._stream = stream
        self._process: ProcessHandle | None = None
        self._said = b""
        self._changed = StateChange()

    async def start(self, argv: Sequence[str], sockets: Sequence[Path]) -> None:
        """Let it start the program, and remove the adapter's sockets if the adapter is killed.

        Raises:
            RequestFailed: the operating system refused.

        """
        try:
            await self._stream.send(start_order(argv, sockets))
            while not self.pid:
                await self._hear(argv[0])
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise RequestFailed(f"{argv[0]} could not be started: its supervisor has ended") from error

    async def attend(self) -> None:
        """Read its reports until its end: then no process is left that was to end."""
        try:
            while True:
                await self._hear()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if self.returncode is None:  # it was killed itself
                self._kill_program()
                self.returncode = KILLED_CODE
                self._changed.notify()

    async def _hear(self, program: str = "") -> None:
        *lines, self._said = (self._said + await self._stream.receive()).split(b"\n")
        for line in lines:
            match line.split():
                case [b"started" | b"replaced", number]:
                    self._take_hold(int(number))
                case [b"failed", number]:
                    raise RequestFailed(f"{program} could not be started: {os.strerror(int(number))}")
                case [b"stopped", number]:
                    self.stopped_by = int(number)
                case [b"continued"]:
                    self.stopped_by = None
                case [b"ended", number, *left]:
                    self.returncode, self.left = int(number), list(map(int, left))
        self._changed.notify()

    def _take_hold(self, pid: int) -> None:
        before, self.pid = self._process, pid
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            self._process = SYSTEM.open_process(pid)
        if before is not None:
            before.close()

    async def replace(self, pid: int) -> None:
        """Kill the program; its replacement under the same supervisor takes its place.

        Raises:
            RequestFailed: the parent does not say in time that it does.

        """
        self._stream.send_now(REPLACE + pid.to_bytes(4))
        with anyio.move_on_after(limits.PAST_SECONDS):
            await self._changed.until(lambda: self.pid == pid or self.returncode is not None)
        if self.pid != pid and self.returncode is None:
            raise RequestFailed(f"the program could not be replaced by process {pid} within {limits.PAST_SECONDS:g} s")

    async def wait(self) -> None:
        """Wait until the program has ended."""
        await self._changed.until(lambda: self.returncode is not None)

    def runs(self) -> bool:
        """Return whether the program runs at this very moment; the system knows it before its parent has told us."""
        if self.returncode is not None or self._process is None:
            return False
        return not self._process.has_ended() and not SYSTEM.is_exiting(self.pid)

    async def stopped(self) -> str:
        """Wait until a signal has stopped the program, and return its name."""
        await self._changed.until(lambda: self.stopped_by is not None)
        return signal_name(self.stopped_by or 0)

    async def continued(self) -> None:
        """Wait until no signal keeps the program stopped."""
        await self._changed.until(lambda: self.stopped_by is None)

    def _kill_program(self) -> None:
        """Kill the program and the processes below it, since the supervisor that would do it has been killed."""
        if self._process is not None:
            SYSTEM.kill_tree(self._process)

    def terminate(self) -> None:
        """Send the program SIGTERM, not its group: the adapter may not signal a process that runs as root."""
        self._stream.send_now(TERMINATE)

    def resume(self) -> None:
        """Continue the program after a signal stopped it."""
        self._stream.send_now(RESUME)

    def kill(self) -> None:
        """Kill the program and its descendants: also the background processes of a program that has ended."""
        self._stream.send_now(KILL)

    def release(self) -> None:
        """Release the program, even if the adapter is killed, or its background processes if it has ended."""
        self._stream.send_now(RELEASE)

    async def close(self) -> None:
        """Close the connection to it; unless the program was released, that ends the remaining processes."""
        await self._stream.aclose()
        process, self._process = self._process, None
        if process is not None:
            process.close()
