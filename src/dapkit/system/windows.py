"""Windows: handles of processes, job objects, and the tables that psutil reads."""

import ctypes
import signal
import socket
import sys
import threading
from contextlib import suppress
from ctypes import wintypes

from dapkit.system.interface import ProcessHandle, ProcessJob, override
from dapkit.system.psutil_facts import PsutilFacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

assert sys.platform == "win32"  # noqa: S101 - and so the types of Windows hold below

_KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
_KERNEL.OpenProcess.restype = wintypes.HANDLE
_KERNEL.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]
_KERNEL.CloseHandle.argtypes = [wintypes.HANDLE]
_KERNEL.WaitForSingleObject.argtypes = [wintypes.HANDLE, wintypes.DWORD]
_KERNEL.TerminateProcess.argtypes = [wintypes.HANDLE, wintypes.UINT]
_KERNEL.GetExitCodeProcess.argtypes = [wintypes.HANDLE, ctypes.POINTER(wintypes.DWORD)]

_SYNCHRONIZE = 0x0010_0000
_TERMINATE = 0x0001
_QUERY = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_NO_SUCH_PROCESS = 87  # ERROR_INVALID_PARAMETER
_ENDED = 0  # WAIT_OBJECT_0
_LOOK_MILLISECONDS = 200
"""How long the thread of a handle waits before it looks whether it was closed."""
KILLED = 0xC000_013A
"""The exit code of a process that we kill: STATUS_CONTROL_C_EXIT, as if Ctrl+C had ended it."""


class WindowsHandle(ProcessHandle):
    """A handle of a process, and a socket whose other end a thread closes when that has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = _opened(pid, _SYNCHRONIZE | _QUERY | _TERMINATE)
        self._reading: socket.socket | None = None
        self._closed = threading.Event()

    @property
    def descriptor(self) -> int:  # type: ignore[override]  # it is made when it is wanted
        """A socket that can be read once the process has ended."""
        if self._reading is None:
            self._reading, writing = socket.socketpair()
            threading.Thread(target=self._wait, args=[writing], name=f"end of {self.pid}", daemon=True).start()
        return self._reading.fileno()

    def _wait(self, writing: socket.socket) -> None:
        while not self._closed.is_set() and not self._ends_within(_LOOK_MILLISECONDS):
            pass
        writing.close()
        self._closed.wait()  # its owner closes it, also after the end
        _KERNEL.CloseHandle(self._handle)

    def _ends_within(self, milliseconds: int) -> bool:
        return bool(_KERNEL.WaitForSingleObject(self._handle, milliseconds) == _ENDED)

    @override
    def has_ended(self, seconds: float = 0.0) -> bool:
        return self._ends_within(int(seconds * 1_000))

    def code(self) -> int:
        """Return its exit code, once it has ended."""
        code = wintypes.DWORD()
        _KERNEL.GetExitCodeProcess(self._handle, ctypes.byref(code))
        return code.value

    @override
    def send(self, number: signal.Signals) -> None:
        if self.has_ended():
            raise ProcessLookupError(f"process {self.pid} has ended")
        if not _KERNEL.TerminateProcess(self._handle, KILLED):
            raise _last_error(self.pid)

    @override
    def close(self) -> None:
        if self._closed.is_set():
            return
        self._closed.set()
        if self._reading is None:
            _KERNEL.CloseHandle(self._handle)
        else:
            self._reading.close()  # the thread closes the handle


class Windows(PsutilFacts):
    """The answers of Windows."""

    @override
    def open_process(self, pid: int) -> ProcessHandle:
        return WindowsHandle(pid)

    @override
    def exit_code(self, pid: int) -> int | None:
        with WindowsHandle(pid) as process:
            return process.code() if process.has_ended() else None

    @override
    def reap(self, pid: int) -> None:
        pass  # its number is free once all handles are closed

    @override
    def exists(self, pid: int) -> bool:
        import psutil

        return psutil.pid_exists(pid)

    @override
    def is_exiting(self, pid: int) -> bool:
        try:
            with WindowsHandle(pid) as process:
                return process.has_ended()
        except PermissionError:
            return False
        except ProcessLookupError:
            return True

    @override
    def is_suspended(self, pid: int) -> bool:
        return False  # no signal stops a process

    @override
    def limit_sizes(self, pid: int, *, file: int, memory: int) -> None:
        pass  # a job of its own could limit its memory, and nothing the size of its files

    @override
    def signal_group(self, pid: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError), WindowsHandle(pid) as process:  # a group outlives its leader elsewhere
            process.send(number)

    @override
    def session_of(self, pid: int) -> int | None:
        return None

    @override
    def group_of(self, pid: int) -> int | None:
        return None

    @override
    def kill_tree(self, process: ProcessHandle) -> None:
        with suppress(ProcessLookupError, PermissionError):  # the job of its parent has ended them already
            process.send(signal.SIGTERM)

    @override
    def new_job(self) -> ProcessJob:
        from dapkit.system.job_object import JobObject

        return JobObject()

    @override
    def peer_of(self, connected: socket.socket) -> tuple[int, int]:
        return (
            0,
            0,
        )  # a process that connects to a port of ours has proved that it knows its key (`transport.port_file`)

    @override
    def bind_private(self, listening: socket.socket, path: str) -> None:
        raise OSError("Windows has no unix sockets")

    @override
    def is_held_by_session(self, connected: socket.socket, session: int) -> bool | None:
        import psutil

        try:
            ends = connected.getpeername()[:2], connected.getsockname()[:2]
        except OSError:  # it has gone
            return False
        for row in psutil.net_connections("tcp"):
            if row.raddr and (tuple(row.laddr), tuple(row.raddr)) == ends:
                return row.pid in {session, *self.descendants(session)}
        return None

    @override
    def process_listening_on(self, port: int) -> int | None:
        import psutil

        rows = (row for row in psutil.net_connections("tcp") if row.status == psutil.CONN_LISTEN)
        return next((row.pid for row in rows if tuple(row.laddr)[1:] == (port,)), None)

    @override
    def own_file(self, descriptor: int) -> int | None:
        return None  # nothing here writes without waiting: threads do it (`transport.pumps`)


def _opened(pid: int, access: int) -> int:
    if pid <= 0:
        raise ProcessLookupError(f"{pid} is not a process")
    handle = _KERNEL.OpenProcess(access, False, pid)  # noqa: FBT003 - no child inherits it
    if not handle:
        raise _last_error(pid)
    return int(handle)


def _last_error(pid: int) -> OSError:
    error = ctypes.WinError(ctypes.get_last_error())
    if error.winerror == _NO_SUCH_PROCESS:
        return ProcessLookupError(f"there is no process {pid}")
    return error
