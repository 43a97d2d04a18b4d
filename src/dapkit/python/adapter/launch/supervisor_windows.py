"""The parent of a launched program on Windows: a process between the adapter and all that the program starts.

    supervisor_windows.py unix:PATH [argument...]

It has the conversation with the adapter that `supervisor_main` describes. The program and all that it starts are in a
job object, which ends them when its last handle is closed: this process has that handle, so they end with it, however
it ends, and it ends them when the adapter has gone. It takes no orders to replace or to resume the program.

It runs as a script, which imports nothing of dapkit.
"""

import ctypes
import hmac
import os
import select
import signal
import socket
import sys
import threading
from ctypes import wintypes

assert sys.platform == "win32"  # noqa: S101 - and so the types of Windows hold below

import _winapi  # noqa: E402 - it is Windows' own

_PART_BYTES = 32  # of the exchange that `transport.port_file` describes
_EXCHANGE_SECONDS = 10.0

_LOOK_SECONDS = 0.5
"""How often a process is looked at that is not waited for."""

_TERMINATE, _KILL, _RELEASE = b"t", b"k", b"r"

_CREATE_SUSPENDED = 0x0004
_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_PROCESS_LIST = 3  # JobObjectBasicProcessIdList
_KILL_ON_JOB_CLOSE = 0x2000
_MOST_PROCESSES = 1024

_KILLED = 0xC000_013A
"""The exit code of a process that is killed: STATUS_CONTROL_C_EXIT."""

_KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
_KERNEL.CreateJobObjectW.restype = wintypes.HANDLE
_KERNEL.CreateJobObjectW.argtypes = [ctypes.c_void_p, wintypes.LPCWSTR]
_KERNEL.SetInformationJobObject.argtypes = [wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD]
_KERNEL.QueryInformationJobObject.argtypes = [
    wintypes.HANDLE,
    ctypes.c_int,
    ctypes.c_void_p,
    wintypes.DWORD,
    ctypes.c_void_p,
]
_KERNEL.AssignProcessToJobObject.argtypes = [wintypes.HANDLE, wintypes.HANDLE]
_KERNEL.TerminateJobObject.argtypes = [wintypes.HANDLE, wintypes.UINT]
_KERNEL.ResumeThread.argtypes = [wintypes.HANDLE]
_KERNEL.OpenProcess.restype = wintypes.HANDLE
_KERNEL.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", wintypes.DWORD),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
        ("transfers", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


class _Processes(ctypes.Structure):
    """JOBOBJECT_BASIC_PROCESS_ID_LIST."""

    _fields_ = (
        ("assigned", wintypes.DWORD),
        ("listed", wintypes.DWORD),
        ("pids", ctypes.c_size_t * _MOST_PROCESSES),
    )


class ParentOfJob:
    """The program, its job, and their fate."""

    def __init__(self, adapter: socket.socket, pid: int) -> None:
        self._adapter = adapter
        self._adapter_process = _KERNEL.OpenProcess(_winapi.SYNCHRONIZE, False, pid)  # noqa: FBT003 - not inherited
        self._job = _KERNEL.CreateJobObjectW(None, None)
        self._limit(_KILL_ON_JOB_CLOSE)
        self._in_terminal = os.isatty(0)
        self._program = 0
        self._pid = 0
        self._sockets: list[str] = []
        self._is_over = threading.Event()  # the program has ended, and its fate is known
        self._has_ended = threading.Event()
        self._fate = b""

    def _limit(self, flags: int) -> None:
        limits = _Limits(flags=flags)
        if not _KERNEL.SetInformationJobObject(
            self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        ):
            raise ctypes.WinError(ctypes.get_last_error())

    def start(self) -> bool:
        """Start the program that the adapter names; return whether there is one."""
        size = int.from_bytes(_received(self._adapter, 4), "big")
        count, *rest = map(os.fsdecode, _received(self._adapter, size).split(b"\0"))
        self._sockets, words = rest[: int(count)], [*rest[int(count) :], *sys.argv[2:]]
        for number in (signal.SIGINT, signal.SIGBREAK):  # they are for the program, if it shares our terminal
            signal.signal(number, lambda *_: None)
        try:
            self._spawn(words)
        except OSError as error:
            self._tell(f"failed {error.errno or 0}")
            return False
        self._tell(f"started {self._pid}")
        threading.Thread(target=self._wait, name="waits for the program").start()
        return True

    def _spawn(self, words: list[str]) -> None:
        from subprocess import STARTUPINFO, list2cmdline

        start = STARTUPINFO(
            dwFlags=_winapi.STARTF_USESTDHANDLES,
            hStdInput=_inherited(_winapi.STD_INPUT_HANDLE),
            hStdOutput=_inherited(_winapi.STD_OUTPUT_HANDLE),
            hStdError=_inherited(_winapi.STD_ERROR_HANDLE),
        )
        flags = _CREATE_SUSPENDED | (0 if self._in_terminal else _winapi.CREATE_NEW_PROCESS_GROUP)
        line = list2cmdline(words)
        inherits = True
        self._program, thread, self._pid, _ = _winapi.CreateProcess(
            words[0],
            line,
            None,
            None,
            inherits,
            flags,
            None,  # type: ignore[arg-type]  # our environment
            None,
            start,
        )
        if not _KERNEL.AssignProcessToJobObject(self._job, self._program):
            error = ctypes.WinError(ctypes.get_last_error())
            _winapi.TerminateProcess(self._program, _KILLED)
            raise error
        _KERNEL.ResumeThread(thread)
        _winapi.CloseHandle(thread)
        self._let_streams_go()

    def _let_streams_go(self) -> None:
        """Close our ends of the program's input and output: their other ends see who has them open."""
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.close(null)

    def _wait(self) -> None:
        """Report the program's end."""
        _winapi.WaitForSingleObject(self._program, _winapi.INFINITE)
        code = _winapi.GetExitCodeProcess(self._program)
        self._tell(" ".join(map(str, ("ended", code, *self._remaining()))))
        self._has_ended.set()
        if self._fate:
            self._is_over.set()

    def _remaining(self) -> list[int]:
        """Return the processes of the job."""
        processes = _Processes()
        if not _KERNEL.QueryInformationJobObject(
            self._job, _PROCESS_LIST, ctypes.byref(processes), ctypes.sizeof(processes), None
        ):
            return []
        return [pid for pid in processes.pids[: processes.listed] if pid != self._pid]

    def serve(self) -> None:
        """Return when the program has ended, and with it the processes that must end."""
        threading.Thread(target=self._obey, name="obeys the adapter", daemon=True).start()
        while not self._is_over.wait(_LOOK_SECONDS):  # in steps, since Ctrl+C is noticed between two of them
            pass

    def _obey(self) -> None:
        """Carry out the adapter's orders, and end all when it has gone."""
        while True:
            orders = self._orders()
            if _RELEASE in orders:
                self._limit(0)
                self._decide(_RELEASE)
            elif _KILL in orders or not (orders or self._fate):
                self._decide(_KILL)
                _KERNEL.TerminateJobObject(self._job, _KILLED)
                if not orders:
                    self._remove_sockets()
            if _TERMINATE in orders and not self._has_ended.is_set():
                self._interrupt()
            if not orders:
                return

    def _orders(self) -> bytes:
        """Wait for orders, and return them, or nothing if the adapter has gone.

        Its process is looked at as well: under Wine, a wait for the socket went on in one of five runs in which the
        adapter was killed and the program ended at the same moment.
        """
        try:
            while not _is_readable(self._adapter, _LOOK_SECONDS):
                if self._adapter_has_ended() and not _is_readable(self._adapter, 0):
                    return b""
            return self._adapter.recv(64)
        except OSError:
            return b""

    def _adapter_has_ended(self) -> bool:
        process = self._adapter_process
        return bool(process) and _winapi.WaitForSingleObject(process, 0) == _winapi.WAIT_OBJECT_0

    def _decide(self, fate: bytes) -> None:
        self._fate = fate
        if self._has_ended.is_set():
            self._is_over.set()

    def _interrupt(self) -> None:
        """Ask the program to end: as by Ctrl+Break, or where it shares a terminal with others, for certain."""
        if not self._in_terminal:
            try:
                os.kill(self._pid, signal.CTRL_BREAK_EVENT)
            except OSError:  # it has no console
                pass
            else:
                return
        _winapi.TerminateProcess(self._program, _KILLED)

    def _remove_sockets(self) -> None:
        """Remove the files of the adapter, which was killed before it removed them."""
        for path in self._sockets:
            try:
                os.unlink(path)  # noqa: PTH108 - pathlib would cost milliseconds
            except OSError:
                continue  # it had

    def _tell(self, line: str) -> None:
        try:
            self._adapter.sendall(f"{line}\n".encode())
        except OSError:
            return  # it has gone, which is noticed when it is listened to


def _inherited(number: int) -> int:
    """Return a standard handle that children inherit."""
    handle = _winapi.GetStdHandle(number)
    if not handle:
        return 0
    own = _winapi.GetCurrentProcess()
    return _winapi.DuplicateHandle(own, handle, own, 0, True, _winapi.DUPLICATE_SAME_ACCESS)  # noqa: FBT003 - the same


def _is_readable(connection: socket.socket, seconds: float) -> bool:
    return bool(select.select([connection], [], [], seconds)[0])


def _connected(path: str) -> tuple[socket.socket, int]:
    """Connect to the adapter, by the file with its port, key and process; both ends prove that they know the key.

    Returns:
        The connection, and the adapter's process.

    """
    with open(path, encoding="ascii") as file:  # noqa: PTH123 - the same
        port, digits, pid = file.read().split()
    key = bytes.fromhex(digits)
    adapter = socket.create_connection(("127.0.0.1", int(port)), timeout=_EXCHANGE_SECONDS)
    ours = os.urandom(_PART_BYTES)
    adapter.sendall(ours)
    theirs, proof = _received(adapter, _PART_BYTES), _received(adapter, _PART_BYTES)
    if not hmac.compare_digest(proof, hmac.digest(key, b"server" + ours + theirs, "sha256")):
        sys.exit("the process at the port does not know the key of its file")
    adapter.sendall(hmac.digest(key, b"client" + ours + theirs, "sha256"))
    adapter.settimeout(None)
    adapter.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return adapter, int(pid)


def _received(adapter: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = adapter.recv(size - len(data))
        if not more:
            sys.exit(1)  # the adapter has gone
        data += more
    return data


def main() -> None:
    """Start a program, and serve until its end."""
    parent = ParentOfJob(*_connected(sys.argv[1].removeprefix("unix:")))
    if parent.start():
        parent.serve()


if __name__ == "__main__":
    main()
