"""The parent of a launched program: a process of its own between the adapter and all that the program starts.

    supervisor_main.py fd:NUMBER | unix:PATH [argument...]

This module serves if no C code could be compiled; otherwise `native/supervisor.c` does the same.

It runs as a script, with the descriptors, folder and environment that the program is to have. Over the socket that its
first argument names the adapter sends words (their length in four bytes, then the words with a zero between them): a
number, as many sockets of its own, which are removed if it is killed, and the command line. Then orders follow, of one
byte or five, below. Further arguments are the last ones of the program: a shell has made them of a text. It reports
lines: `started PID` or `failed ERRNO`; `replaced PID`; `stopped SIGNAL` and `continued`; `ended CODE [PID...]`, where
CODE is minus the signal that killed the program, and the others are its background processes.

The kernel gives it whatever below it loses its own parent (PR_SET_CHILD_SUBREAPER), so that nothing that the program
has started can get away, in whatever session it is. When the adapter is gone, killed or not, all of that is killed.
When the program has ended, the adapter decides the fate of the rest: both may have ended at once.

In a terminal it does for the program the work that a shell does for a job: the program leads a process group of its
own, which has the terminal; when it is stopped, this process stops as well, so that the shell continues; and it ends as
the program has ended. Elsewhere the program leads no group, so that it may have one of its own, or a session.
"""

import _socket
import os
import select
import signal
import sys

RESUME = b"c"
"""The program is to continue, if a signal has stopped it."""
TERMINATE = b"t"
"""The program is to get SIGTERM, not its group."""
KILL = b"k"
"""The program and all below it are to be killed: also when it has ended, as is reported."""
RELEASE = b"r"
"""The program, and its background processes when it has ended, continue whatever happens to the adapter."""

REPLACE = b"p"
"""The program is killed, and a process that came of it takes its place: its number follows in four bytes."""
_NUMBER_BYTES = 4

_FORWARDED = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGTSTP,
)
"""Who sends them to the job means the program."""
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_IS_LINUX = sys.platform == "linux" and os.environ.get("DAPKIT_SYSTEM") != "posix"
"""The answer of `dapkit.system.selection`, which a script cannot import."""

_MARK = b"_DAPKIT_PROGRAM"
"""The variable of all that the program starts, where the kernel does not give us its orphans."""


class ParentProcess:
    """The program, its group, and their fate.

    Attributes:
        code: of the program, None while it runs.

    """

    def __init__(self, adapter: _socket.socket) -> None:
        self.code: int | None = None
        self._adapter = adapter
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._waked, self._wake = os.pipe()
        os.set_blocking(self._waked, False)
        os.set_blocking(self._wake, False)
        self._terminal = _terminal()
        self._program = 0
        self._group = 0
        self._sockets: list[bytes] = []
        self._fate = b""  # KILL or RELEASE, once it is known
        self._listens = True
        self._continued = False
        self._mark = os.urandom(16).hex().encode()
        self._said = b""  # the beginning of an order, the rest of which has not come

    # Starting

    def start(self) -> bool:
        """Become the parent of the program that the adapter names; return whether there is one."""
        size = int.from_bytes(self._received(4))
        count, *rest = self._received(size).split(b"\0")
        self._sockets, words = rest[: int(count)], [*rest[int(count) :], *map(os.fsencode, sys.argv[2:])]
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _note)
        signal.signal(signal.SIGCONT, self._note_continued)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else the terminal could not be taken back
        signal.signal(
            signal.SIGIO, signal.SIG_IGN
        )  # the wake-up instead of SIGCONT, see `_detach`, if there are too many
        for number in _FORWARDED:
            signal.signal(number, self._forward)
        _adopt_orphans()
        failure = self._spawn(words)
        if failure:
            self._tell(f"failed {failure}")
            return False
        self._tell(f"started {self._program}")
        self._detach()
        return True

    def _received(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._adapter.recv(size - len(data))
            if not more:
                sys.exit(1)  # the adapter has gone
            data += more
        return data

    def _spawn(self, words: list[bytes]) -> int:
        """Start the program; return the number of the error, 0 for none."""
        place = 0 if self._terminal is not None else _empty_group()
        reading, writing = os.pipe()
        self._program = os.fork()
        if not self._program:
            self._become(words, place, writing)
        os.close(writing)
        with open(reading, "rb") as report:  # noqa: PTH123 - pathlib would cost milliseconds, here and below
            failure = report.read()  # closed by becoming the program
        if place:
            os.kill(place, signal.SIGKILL)
            os.waitpid(place, 0)
        self._group = place or self._program
        return int(failure or 0)

    def _become(self, words: list[bytes], group: int, report: int) -> None:
        """Become the program: never return."""
        try:
            os.setpgid(0, group)
            self._pass_terminal(os.getpgid(os.getppid()), os.getpgrp())
            for number in signal.valid_signals():
                if signal.getsignal(number) is signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            marked = {} if _IS_LINUX else {_MARK: self._mark}
            os.execve(words[0], words, {**_environment(), **marked})  # noqa: S606 - the command of the adapter, without a shell
        except OSError as error:
            os.write(report, str(error.errno).encode())
        finally:
            os._exit(127)

    def _detach(self) -> None:
        """Let go of the program's input and output: their other ends see who has them open."""
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.close(null)
        if self._terminal is not None:
            import fcntl

            # To be waked by the adapter also while the job is stopped.
            if not _IS_LINUX:
                return
            fcntl.fcntl(self._adapter.fileno(), fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(self._adapter.fileno(), 10, signal.SIGCONT)  # F_SETSIG, of fcntl.h
            flags = fcntl.fcntl(self._adapter.fileno(), fcntl.F_GETFL)
            fcntl.fcntl(self._adapter.fileno(), fcntl.F_SETFL, flags | os.O_ASYNC)

    # Living

    def serve(self) -> None:
        """Return when the program has ended, and with it the processes that must end."""
        poll = select.poll()
        poll.register(self._waked, select.POLLIN)
        poll.register(self._adapter, select.POLLIN)
        polled = True
        while self.code is None or not self._fate:
            for place, _ in poll.poll():
                if place == self._waked:
                    _drain(self._waked)
                    self._reap()
                else:
                    self._obey()
            if not self._listens and polled:
                poll.unregister(self._adapter)
                polled = False

    def _obey(self) -> bool:
        """Carry out the adapter's commands, which may be several at once; return whether the program stays stopped."""
        try:
            commands = self._adapter.recv(64, _socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True  # `_stop_job` has read it meanwhile
        except ConnectionError:
            commands = b""
        self._listens = bool(commands)
        commands = self._without_replacement(commands)
        if RELEASE in commands:
            self._fate = RELEASE
        elif KILL in commands or not (self._listens or self._fate):
            self._fate = KILL
            self._end_all()
            if not self._listens:
                self._remove_sockets()
            return False
        if TERMINATE in commands and self.code is None:
            os.kill(self._program, signal.SIGTERM)
        if RESUME in commands:
            self._send(signal.SIGCONT)
            return False
        return True

    def _without_replacement(self, commands: bytes) -> bytes:
        """Replace the program if that was ordered; return the other orders."""
        before, order, number = (self._said + commands).partition(REPLACE)
        if order and len(number) < _NUMBER_BYTES:
            self._said = order + number
            return before
        self._said = b""
        if order and self.code is None:
            replaced, self._program = self._program, int.from_bytes(number[:_NUMBER_BYTES])
            os.kill(replaced, signal.SIGKILL)
            self._tell(f"replaced {self._program}")
        return before + number[_NUMBER_BYTES:]

    def _reap(self) -> None:
        """Record all that has ended, and of whether the program stands."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self._program:
                self._take_note(status)

    def _take_note(self, status: int) -> None:
        if os.WIFSTOPPED(status):
            self._tell(f"stopped {os.WSTOPSIG(status)}")
            self._stop_job(os.WSTOPSIG(status))
        elif os.WIFCONTINUED(status):
            self._tell("continued")
        else:
            self.code = os.waitstatus_to_exitcode(status)
            self._take_terminal_back()
            self._tell(" ".join(map(str, ("ended", self.code, *self._remaining()))))

    def _remaining(self) -> set[int]:
        """Return the processes that remain of the program, as far as this process can see them."""
        if _IS_LINUX:
            return _children() if _has_children() else set()
        return _family(self._group, self._mark)

    def _remove_sockets(self) -> None:
        """Remove the files that the adapter would have removed if it had not been killed."""
        for path in self._sockets:
            try:
                os.unlink(path)  # noqa: PTH108 - pathlib would cost milliseconds
            except OSError:
                continue  # it had

    def _end_all(self) -> None:
        """Kill all that is below this process, one generation after the other: the next becomes ours then."""
        if not _IS_LINUX:
            self._end_family()
            return
        spared: set[int] = set()  # of other users
        while children := _children() - spared:
            for pid in children:
                try:
                    os.kill(pid, signal.SIGKILL)
                except PermissionError:
                    spared.add(pid)
            for pid in children - spared:
                _, status = os.waitpid(pid, 0)
                if pid == self._program:
                    self._take_note(status)

    def _end_family(self) -> None:
        """Kill the processes that the program has started and that can be seen, where orphans do not become ours."""
        killed: set[int] = set()
        while victims := _family(self._group, self._mark) - killed:
            killed |= victims
            for pid in victims:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue  # it has ended, or is another user's
        self._reap_program()

    def _reap_program(self) -> None:
        if self.code is None:
            _, status = os.waitpid(self._program, 0)
            self._take_note(status)

    # The terminal

    def _stop_job(self, number: int) -> None:
        """Let the shell continue, as its job is stopped; return when that is continued."""
        if self._terminal is None:
            return
        self._take_terminal_back()
        while True:
            self._continued = False
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            alarm = 0 if _IS_LINUX else self._alarm()
            os.kill(os.getpid(), signal.SIGTSTP)
            if alarm:
                os.kill(alarm, signal.SIGKILL)
            signal.signal(signal.SIGTSTP, self._forward)
            if not self._continued and number == signal.SIGSTOP:
                return  # no shell waits for us: the kernel has not stopped us
            if not (self._listens and select.select([self._adapter], [], [], 0)[0]):
                break
            if not self._obey():
                return  # the program is dead, or goes on
        self._pass_terminal(os.getpgrp(), self._group)
        self._send(signal.SIGCONT)

    def _alarm(self) -> int:
        """Start a process that continues this one when the adapter sends an order, or ends.

        On Linux the socket does so itself (`_detach`). `_reap` takes the process when it has ended.
        """
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        os.setpgid(0, 0)  # the terminal stops the group of its parent
        select.select([self._adapter], [], [])
        if os.getppid() == parent:
            os.kill(parent, signal.SIGCONT)
        os._exit(0)

    def _pass_terminal(self, holder: int, taker: int) -> None:
        """Let one group have the terminal, if the other has it."""
        if self._terminal is None:
            return
        try:
            if os.tcgetpgrp(self._terminal) == holder:
                os.tcsetpgrp(self._terminal, taker)
        except OSError:
            return  # it was hung up

    def _take_terminal_back(self) -> None:
        """Take the terminal back, if the program's group or one that has ended has it."""
        if self._terminal is None:
            return
        try:
            holder = os.tcgetpgrp(self._terminal)
            if holder != self._group:
                os.killpg(holder, 0)
                return
        except ProcessLookupError:
            pass
        except OSError:
            return  # it was hung up
        try:
            os.tcsetpgrp(self._terminal, os.getpgrp())
        except OSError:
            return

    # Signals

    def _forward(self, number: int, _frame: object) -> None:
        self._send(number)

    def _note_continued(self, _number: int, _frame: object) -> None:
        self._continued = True

    def _send(self, number: int) -> None:
        if not self._group:
            return
        try:
            os.killpg(self._group, number)
        except OSError:
            return  # all of it has ended, or runs as another user

    def _tell(self, line: str) -> None:
        try:
            self._adapter.send(f"{line}\n".encode())
        except OSError:
            return  # it has gone, which is noticed when it is listened to


def _note(_number: int, _frame: object) -> None:
    """Let a byte be written to the wake-up descriptor, which happens only for signals with a handler."""


def _terminal() -> int | None:
    """Open the controlling terminal, if there is one."""
    try:
        return os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return None


def _empty_group() -> int:
    """Make a process group, led by a process that does nothing."""
    pid = os.fork()
    if not pid:
        while True:
            signal.pause()
    os.setpgid(pid, pid)
    return pid


def _environment() -> dict[bytes, bytes]:
    """Return the environment that we were given; to os.environ the interpreter adds LC_CTYPE in the C locale."""
    if not _IS_LINUX:
        return dict(os.environb)
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - as above
        pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if pair]
    return {name: value for name, _, value in pairs}


def _adopt_orphans() -> None:
    """Ask the kernel to make this process the parent of orphaned descendants.

    This takes milliseconds: the program may orphan one at once. Only Linux has this: see `_family`.
    """
    if not _IS_LINUX:
        return
    try:
        import ctypes
    except ImportError:
        return
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _has_children() -> bool:
    """Return whether there is any child of this process, which takes less than finding it."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return True
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> set[int]:
    """Return the children of this process."""
    ours = b"%d" % os.getpid()
    pids: set[int] = set()
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                    parent = stat.read().rpartition(b")")[2].split()[1]
            except OSError:
                continue  # it has ended
            if parent == ours:
                pids.add(int(name))
    return pids


def _family(group: int, mark: bytes) -> set[int]:
    """Return the processes in a group, those with a mark in their environment, and those below any of them.

    This is where orphans do not become ours: `ps` lists all processes. macOS hides the environment of its own programs.
    """
    options = ["-AEww"] if sys.platform == "darwin" else ["axeww"]
    reading, writing = os.pipe()
    lister = os.posix_spawn(
        "/bin/ps",
        ["ps", *options, "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "command="],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)],
    )
    os.close(writing)
    with open(reading, "rb") as table:  # noqa: PTH123 - as above
        lines = table.readlines()
    os.waitpid(lister, 0)  # `_reap` runs in this thread, too
    parents: dict[int, int] = {}
    family: set[int] = set()
    for line in lines:
        pid, parent, its_group = map(int, line.split(maxsplit=3)[:3])
        parents[pid] = parent
        if its_group == group or mark in line:
            family.add(pid)
    while below := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= below
    return family - {os.getpid(), lister}


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 512):
            pass
    except BlockingIOError:
        return


def _connected(place: str) -> _socket.socket:
    kind, _, name = place.partition(":")
    if kind == "fd":
        os.set_inheritable(int(name), False)  # noqa: FBT003 - takes no keywords
        return _socket.socket(fileno=int(name))
    adapter = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    adapter.connect(name)
    return adapter


def _end_as(code: int) -> None:
    """End as the program has ended: a shell says how that was."""
    if code >= 0:
        os._exit(code)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


def main() -> None:
    """Start the program, and end with it."""
    try:
        adapter = _connected(sys.argv[1])
    except OSError as error:
        sys.exit(f"the debugger has gone: {error.strerror}")
    parent = ParentProcess(adapter)
    if not parent.start():
        sys.exit(127)
    parent.serve()
    _end_as(parent.code or 0)


if __name__ == "__main__":
    main()
