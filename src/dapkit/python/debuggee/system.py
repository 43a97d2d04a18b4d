"""The differences between systems inside the program; the standard library alone.

`DAPKIT_SYSTEM=posix` has Linux taken for another POSIX system, as in `dapkit.system.selection`.
"""

import _signal  # type: ignore[import-not-found]  # the C half of `signal`, which brings `enum`
import _socket
import os
import select
import sys
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable
from time import sleep
from typing import Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

IS_WINDOWS: Final = sys.platform == "win32"
IS_LINUX: Final = sys.platform == "linux" and os.environ.get("DAPKIT_SYSTEM") != "posix"

SYSTEM_MODULE: Final = "nt" if IS_WINDOWS else "posix"
"""The module in C that `os` is made of."""

# Files


DESCRIPTORS: Final = "/proc/self/fd" if IS_LINUX else "/dev/fd"
"""The folder with the open files of this process; on Linux `/dev` may lack its own."""

if sys.platform == "win32":
    CLOSE_IN_CHILDREN: Final = os.O_NOINHERIT
    READ_ONLY: Final = os.O_RDONLY | os.O_NOINHERIT | os.O_BINARY
    NO_LINK: Final = 0
else:
    CLOSE_IN_CHILDREN: Final = os.O_CLOEXEC
    READ_ONLY: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    """To open a file with; it may be a pipe with a name, for which nothing waits."""
    NO_LINK: Final = os.O_NOFOLLOW
    """Refuses to open a link."""


def without_prefix(path: str) -> str:
    r"""Return a path of Windows without the prefix of long paths, `\\?\`, which does not change the file."""
    if not IS_WINDOWS or not path.startswith("\\\\?\\"):
        return path
    rest = path[4:]
    return f"\\\\{rest[4:]}" if rest[:4].upper() == "UNC\\" else rest


def memory_file(name: str) -> int:
    """Make a file in memory. Raises: OSError, also on other systems than Linux."""
    if sys.platform == "linux":
        return os.memfd_create(name)
    raise OSError("only Linux has files in memory")


def user() -> int:
    """Return our user; 0 on Windows, whose users have no numbers."""
    if sys.platform == "win32":
        return 0
    else:  # noqa: RET505 - checkers of types know it by this
        return os.geteuid()


def openness(status: os.stat_result) -> str | None:
    """Return why a file is not our user's alone, None if it is; on Windows its folder decides that."""
    if sys.platform != "win32":
        if status.st_uid != os.geteuid():
            return f"belongs to user {status.st_uid}, expected user {os.geteuid()}"
        if status.st_mode & 0o077:
            return f"is open to others (mode {status.st_mode & 0o7777:04o}); only we may reach it"
    return None


if sys.platform == "win32":

    def lock(handle: int, *, waits: bool = True) -> bool:
        """Lock a file until it is closed; return false if another process has, and we do not wait."""
        os.lseek(handle, _LOCKED_BYTE, _FROM_BEGINNING)
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not waits:
                    return False
                sleep(_LOCK_SECONDS)
            else:
                os.lseek(handle, 0, _FROM_BEGINNING)
                return True

else:

    def lock(handle: int, *, waits: bool = True) -> bool:
        """Lock a file until it is closed; return false if another process has, and we do not wait."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if waits else fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def locked_folder(folder: str) -> int:
    """Lock a folder, so that no other process puts files into it or removes dead ones; return a descriptor to close."""
    if sys.platform == "win32":
        handle = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_BINARY, 0o600)
    else:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    lock(handle)
    return handle


_LOCKED_BYTE: Final = 1 << 30
"""Behind the end of the file: no other process can read a part that is locked on Windows."""
_LOCK_SECONDS: Final = 0.01
_FROM_BEGINNING: Final = 0  # SEEK_SET


def descriptor_limit() -> int:
    """Return the soft limit of descriptors; -1 for none."""
    if sys.platform == "win32":
        return -1
    else:  # noqa: RET505 - as above
        return os.sysconf("SC_OPEN_MAX")


def duplicate_above(number: int, lowest: int) -> int:
    """Duplicate a descriptor, to one that no child inherits and that is not lower, where the system can do so."""
    if sys.platform == "win32":
        return os.dup(number)
    else:  # noqa: RET505 - as above
        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, lowest)


# Waiting

# A wait is in native code alone, so that a garbage collection that begins meanwhile is not in code of the debugger. Its
# arguments are in lists: a collection would take a tuple of numbers off its own list, and the program sees how many are
# there.
if sys.platform == "win32":
    READABLE: Final = 1

    class Poll:
        """Waits as `select.poll` does elsewhere, for sockets alone."""

        def __init__(self) -> None:
            self._places: list[int] = []

        def register(self, place: "int | _socket.socket", _events: int, /) -> object:
            """Wait for a socket, too."""
            self._places.append(place if isinstance(place, int) else place.fileno())
            return None

        def poll(self, milliseconds: float | None = None, /) -> list[tuple[int, int]]:
            """Return the sockets that can be read, within a time; None or less than 0 for ever."""
            return [(place, READABLE) for place in ready_places(self.native_wait(milliseconds)())]

        def native_wait(self, milliseconds: float | None) -> "Callable[[], tuple[list[int], object, object]]":
            """Return native code that waits for the sockets."""
            seconds = None if milliseconds is None or milliseconds < 0 else milliseconds / 1_000
            wait: Callable[[], tuple[list[int], object, object]] = partial(
                next, map(select.select, [self._places], [()], [()], [seconds])
            )
            return wait

    new_poll = Poll

    def native_wait(poll: Poll, milliseconds: float | None) -> "Callable[[], tuple[list[int], object, object]]":
        """Return native code that waits as `poll.poll`; its result is for `ready_places`."""
        return poll.native_wait(milliseconds)

    def ready_places(result: "tuple[list[int], object, object]") -> list[int]:
        """Return the sockets that can be read."""
        return result[0]

else:
    READABLE: Final = select.POLLIN
    Poll = select.poll
    new_poll = Poll

    def native_wait(poll: Poll, milliseconds: float | None) -> "Callable[[], list[tuple[int, int]]]":
        """Return native code that waits as `poll.poll`; its result is for `ready_places`."""
        wait: Callable[[], list[tuple[int, int]]] = partial(next, map(poll.poll, [milliseconds]))
        return wait

    def ready_places(result: list[tuple[int, int]]) -> list[int]:
        """Return the descriptors that are ready."""
        return [place for place, _ in result]


if sys.platform == "win32":

    def wake_pair() -> tuple[int, int]:
        """Make a socket that can be waited for, and one that makes it readable by `send_wake`."""
        listening = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        writing = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        try:
            listening.bind(("127.0.0.1", 0))
            listening.listen(1)
            writing.connect(listening.getsockname())
            while True:
                number, address = listening._accept()  # type: ignore[attr-defined]  # the base of socket.accept
                if address == writing.getsockname():  # else a stranger was first
                    return number, writing.detach()
                close(number)
        finally:
            listening.close()

    def send_wake(number: int) -> None:
        """Make the other end of a pair readable."""
        end = _socket.socket(fileno=number)
        try:
            end.send(b".")
        finally:
            end.detach()

    def take_wakes(number: int) -> None:
        """Make it unreadable again."""
        end = _socket.socket(fileno=number)
        try:
            end.recv(64)
        finally:
            end.detach()

    def close(number: int) -> None:
        """Close the socket of a number."""
        _socket.close(number)

else:

    def wake_pair() -> tuple[int, int]:
        """Make a descriptor that can be waited for, and one that makes it readable by `send_wake`."""
        return os.pipe()

    def send_wake(number: int) -> None:
        """Make the other end of a pair readable."""
        os.write(number, b".")

    def take_wakes(number: int) -> None:
        """Make it unreadable again."""
        os.read(number, 64)

    close: Final = os.close
    """Closes a descriptor of ours; on Windows those are sockets."""


# Sockets

if sys.platform == "linux":
    NO_SIGNAL: Final = _socket.MSG_NOSIGNAL if IS_LINUX else 0
else:
    NO_SIGNAL: Final = 0
"""The flag by which a connection that has ended is an error, and no signal. macOS has an option for it instead."""

if sys.platform == "win32":
    REUSE_OPTION: Final = _socket.SO_EXCLUSIVEADDRUSE  # SO_REUSEADDR would share it
else:
    REUSE_OPTION: Final = _socket.SO_REUSEADDR
    """The option of a listening socket that lets its port be used again."""

_SO_NOSIGPIPE: Final = 0x1022
"""sys/socket.h of macOS."""
_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES = 0, 1, 128
"""sys/un.h of macOS and FreeBSD: version, user and more, of 4 bytes each."""


def without_signal(connection: _socket.socket) -> None:
    """Let sending on an ended connection raise an error and no signal, on systems where that is an option of it."""
    if sys.platform == "darwin":
        connection.setsockopt(_socket.SOL_SOCKET, _SO_NOSIGPIPE, 1)


def user_behind(connection: _socket.socket) -> int:
    """Return the user at the other end of a unix socket."""
    if sys.platform == "win32":
        raise OSError("Windows has no unix sockets")
    if sys.platform != "linux":
        credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)
    elif IS_LINUX:
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:  # in tests: the folder of the socket admits our user alone
        return os.geteuid()
    return int.from_bytes(credentials[4:8], sys.byteorder)


def bind_private(listening: _socket.socket, path: str) -> None:
    """Bind a unix socket to a file that only our user can connect to. Raises: OSError."""
    if sys.platform == "linux" and IS_LINUX:
        os.fchmod(listening.fileno(), 0o600)  # bind makes the file with the mode of the socket
        listening.bind(path)
    else:
        listening.bind(path)
        os.chmod(path, 0o600)  # until now the folder protects it


# Threads and processes

if sys.platform == "win32":

    def interpreter_library() -> int:
        """Return the handle of the library that the interpreter itself is."""
        return sys.dllhandle

else:

    def interpreter_library() -> int:
        """Return the handle of the library that the interpreter itself is."""
        import _ctypes

        return _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is the interpreter itself


if sys.platform == "win32":

    def start_without_signals(start: Callable[[], object]) -> None:
        """Call a function that starts a thread; only the main thread takes signals."""
        start()

    WAKING_SIGNAL: Final = _signal.SIGINT
    """The only signal that wakes the main thread, and only from a sleep or from input."""
    UNUSED_HANDLER: Final = _signal.default_int_handler
    """The handler of that signal where the program has not set one; a signal that is not ours is for it."""

    def wake_main_thread(_ident: int) -> None:
        """Make the main thread run the handler of WAKING_SIGNAL."""
        _signal.raise_signal(WAKING_SIGNAL)

    def interrupt_main_thread(_ident: int) -> None:
        """Interrupt the main thread, as Ctrl+C does: also a sleep, which `_thread.interrupt_main` leaves alone."""
        _signal.raise_signal(_signal.SIGINT)

    def at_fork(**_functions: Callable[[], object]) -> None:
        """Do nothing: there is no fork."""

else:
    _FAULTS: Final = {_signal.SIGSEGV, _signal.SIGBUS, _signal.SIGFPE, _signal.SIGILL, _signal.SIGABRT}
    """A signal that a thread causes itself, and that `faulthandler` reports."""

    def start_without_signals(start: Callable[[], object]) -> None:
        """Call a function that starts a thread, which is to take no signal."""
        before = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
        try:
            _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals() - _FAULTS)  # may raise once it is done
            start()  # the thread inherits the blocked signals
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, before)

    WAKING_SIGNAL: Final[int] = _signal.SIGRTMAX - 3 if IS_LINUX else _signal.SIGURG
    """A signal that hardly any program uses, and of others than Linux one that is ignored by default."""
    UNUSED_HANDLER: Final = _signal.SIG_DFL
    """The handler of that signal where the program has not set one."""

    def wake_main_thread(ident: int) -> None:
        """Make the main thread run the handler of WAKING_SIGNAL."""
        _signal.pthread_kill(ident, WAKING_SIGNAL)

    def interrupt_main_thread(ident: int) -> None:
        """Interrupt the main thread, as Ctrl+C does."""
        _signal.pthread_kill(ident, _signal.SIGINT)

    at_fork: Final = os.register_at_fork
    """Calls functions at each fork."""
