"""The questions that each system answers in another way. `dapkit.system.this_system` has the answers of this one.

It is quick to import, since every command does.
"""

import os
import signal
import socket
from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self
    from typing import override as override  # noqa: PLC0414 - exported
else:

    def override(method):  # noqa: ANN001, ANN201 - `typing` takes milliseconds to import
        """Do nothing: it is for readers and checkers, as `typing.override`."""
        return method


class ProcessHandle(ABC):
    """A process that is watched until `close`.

    Attributes:
        pid: its number.
        descriptor: a descriptor that can be read once the process has ended.

    """

    pid: int
    descriptor: int

    @abstractmethod
    def has_ended(self, seconds: float = 0.0) -> bool:
        """Return whether it has ended, or does within a time."""

    @abstractmethod
    def send(self, number: signal.Signals) -> None:
        """Send it a signal.

        Raises:
            ProcessLookupError: it has ended.
            PermissionError: it runs as another user.

        """

    @abstractmethod
    def close(self) -> None:
        """Watch it no more; a second call does nothing."""

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class ProcessJob(ABC):
    """Processes that end together: with this process, or when it is closed. Windows has such."""

    @abstractmethod
    def take(self, pid: int) -> None:
        """Put a process into it, with all that it will start. Raises: OSError."""

    @abstractmethod
    def release(self) -> None:
        """Let its processes go on when it is closed."""

    @abstractmethod
    def close(self) -> None:
        """End its processes."""


def send_unless_ended(process: ProcessHandle, number: signal.Signals) -> None:
    """Send a signal by the number of a process, which may be another's once it has ended. Raises: OSError."""
    if process.has_ended():
        raise ProcessLookupError(f"process {process.pid} has ended")
    os.kill(process.pid, number)


class System(ABC):
    """Questions about processes, files and sockets."""

    # Processes

    @abstractmethod
    def open_process(self, pid: int) -> ProcessHandle:
        """Watch a process. Raises: ProcessLookupError."""

    @abstractmethod
    def exit_code(self, pid: int) -> int | None:
        """Return the exit code of a child, or minus the signal that ended it; None while it runs.

        Until `reap` the child keeps its number.
        """

    @abstractmethod
    def reap(self, pid: int) -> None:
        """Remove a child that has ended from the system's list."""

    @abstractmethod
    def exists(self, pid: int) -> bool:
        """Return whether a process exists, also if it has ended and its parent has not noticed yet."""

    @abstractmethod
    def pids(self) -> "Iterator[int]":
        """Yield the numbers of all processes that can be seen."""

    @abstractmethod
    def parents(self) -> dict[int, int]:
        """Return the parent of each process."""

    @abstractmethod
    def is_exiting(self, pid: int) -> bool:
        """Return whether a process is exiting or gone, where the system tells that before its end."""

    @abstractmethod
    def is_suspended(self, pid: int) -> bool:
        """Return whether a signal has stopped a process."""

    @abstractmethod
    def folder_of(self, pid: int) -> str:
        """Return the working folder of a process. Raises: OSError."""

    @abstractmethod
    def executable_of(self, pid: int) -> str:
        """Return the file that a process runs. Raises: OSError."""

    @abstractmethod
    def program_file(self, pid: int) -> str:
        """Return a path by which the file that a process runs can be opened, also if it was removed.

        Raises:
            OSError: the process has ended, or is another user's.

        """

    @abstractmethod
    def command_of(self, pid: int) -> list[str]:
        """Return the command line of a process. Raises: OSError."""

    @abstractmethod
    def has_in_environment(self, pid: int, text: bytes) -> bool:
        """Return whether a text is in the environment that a process was started with; on Windows, that it has now.

        Raises:
            OSError: that cannot be read.

        """

    @abstractmethod
    def shares_files(self, pid: int) -> bool:
        """Return whether a process has the same files as this one: it is not in a container of its own."""

    @abstractmethod
    def started_at(self, pid: int) -> float:
        """Return when a process was started, in seconds since the epoch. Raises: OSError."""

    @abstractmethod
    def limit_sizes(self, pid: int, *, file: int, memory: int) -> None:
        """Limit the bytes of each file that a process writes, and of its memory, where the system can do so.

        Raises:
            ProcessLookupError: it has ended.

        """

    @abstractmethod
    def usable_cpus(self) -> int:
        """Return the number of processors that this process may use."""

    @abstractmethod
    def memory_of(self, pid: int) -> tuple[int | None, int | None]:
        """Return the bytes of a process in memory, and the same with shared memory in proportion; None if not known."""

    @abstractmethod
    def memory_sizes(self) -> tuple[int, int]:
        """Return the bytes of memory of this machine, and how many of them are available. Raises: OSError."""

    @abstractmethod
    def signal_group(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to the group that a process leads; on Windows, end the process.

        Raises:
            ProcessLookupError: there is no such group.
            PermissionError: it runs as another user.

        """

    @abstractmethod
    def session_of(self, pid: int) -> int | None:
        """Return the session of a process; None if it has ended, and on Windows."""

    @abstractmethod
    def group_of(self, pid: int) -> int | None:
        """Return the group of a process; None if it has ended, and on Windows."""

    @abstractmethod
    def kill_tree(self, process: ProcessHandle) -> None:
        """Kill a process whose parent was killed, and those below it."""

    def new_job(self) -> ProcessJob | None:
        """Make a job; None where the system has no jobs, and a guard has to do it (`transport.group_reaper`)."""
        return None

    # Files

    @abstractmethod
    def shared_memory(self, name: str, size: int) -> int | None:
        """Make memory that another process of the user can open by its descriptor in /proc; None where that cannot be.

        Raises:
            OSError: the system refuses.

        """

    # Sockets

    @abstractmethod
    def peer_of(self, connected: socket.socket) -> tuple[int, int]:
        """Return process and user at the other end of a unix socket, as they were when it connected, or listened.

        The process is 0 where the system does not tell it.
        """

    @abstractmethod
    def bind_private(self, listening: socket.socket, path: str) -> None:
        """Bind a unix socket to a file that only our user can connect to. Raises: OSError."""

    @abstractmethod
    def is_held_by_session(self, connected: socket.socket, session: int) -> bool | None:
        """Return whether a process of a session has the other end of a TCP connection within this machine.

        None: the connection has not been accepted yet, or it cannot be seen yet.
        """

    @abstractmethod
    def process_listening_on(self, port: int) -> int | None:
        """Return the process that listens on a TCP port of this machine; None if it cannot be seen."""

    @abstractmethod
    def listening_ports(self, pid: int) -> set[int]:
        """Return the TCP ports at which a process listens, as far as they can be seen."""

    @abstractmethod
    def own_file(self, descriptor: int) -> int | None:
        """Open the pipe or terminal of a descriptor again, for writing without blocking; None where that cannot be."""

    def descendants(self, pid: int) -> list[int]:
        """Return the processes below a process, parents first; one that has lost its parent is below no other."""
        children: dict[int, list[int]] = {}
        for child, parent in self.parents().items():
            children.setdefault(parent, []).append(child)
        below = list(children.get(pid, ()))
        for each in below:
            below += children.get(each, ())
        return below
