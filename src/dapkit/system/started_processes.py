"""Processes that are started, as each system does it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

if sys.platform == "win32":
    import msvcrt

    NO_WINDOW = subprocess.CREATE_NO_WINDOW
    APART: dict[str, Any] = {"creationflags": NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}

    def detach() -> bool:
        """Leave the folder of the starter, which need not wait for this process; true: it goes on."""
        os.chdir(os.path.splitdrive(sys.executable)[0] + os.sep)
        return True

    def let_go(process: subprocess.Popen[bytes]) -> None:
        """Do not wait for a process that has detached itself."""
        process.returncode = 0
        if process.stdout is not None:
            process.stdout.close()

    def start_to_empty(pipe: int) -> None:
        """Start a process that reads a pipe until its end, and outlives us."""
        reads = "import os\nwhile os.read(0, 65536): pass"
        quiet = subprocess.DEVNULL
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        command = [sys.executable, "-I", "-S", "-c", reads]
        process = subprocess.Popen(command, stdin=pipe, stdout=quiet, stderr=quiet, creationflags=flags)
        process.returncode = 0  # it is not waited for

    def become(program: str, command: Callable[[int], list[str]], reading: int) -> NoReturn:
        """Run a program in our place: wait for it, and end as it ends; it ends with us. It reads a pipe by its handle.

        Raises:
            OSError: it cannot be started.

        """
        from dapkit.system.job_object import JobObject

        handle = msvcrt.get_osfhandle(reading)
        os.set_handle_inheritable(handle, True)  # noqa: FBT003 - its only parameter
        for number in (signal.SIGINT, signal.SIGBREAK):  # they reach the program as well
            signal.signal(number, lambda *_: None)
        job = JobObject()
        process = subprocess.Popen(command(handle), executable=program, close_fds=False)
        with suppress(OSError):  # it has ended
            job.take(process.pid)
        os.close(reading)
        while True:
            with suppress(subprocess.TimeoutExpired):
                sys.exit(process.wait(_WAIT_SECONDS))

    _WAIT_SECONDS = 0.5
    """How long a wait goes on before it lets Ctrl+C in."""

else:
    NO_WINDOW = 0
    """The flag by which a program has no window of its own, on Windows."""
    APART: dict[str, Any] = {"start_new_session": True}
    """Options of `subprocess.Popen` for a process that is not interrupted with us, nor by our terminal."""

    def detach() -> bool:
        """Go on in a child of this process, for which its starter need not wait; false in the process that ends.

        Neither the folder nor the signal actions of the starter remain.
        """
        if os.fork():
            return False
        os.chdir("/")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)  # a shell ignores some of them for its background jobs
        return True

    def let_go(process: subprocess.Popen[bytes]) -> None:
        """Wait for a process that has detached itself: its child goes on in its place."""
        with process:
            pass

    def start_to_empty(pipe: int) -> None:
        """Start a process that reads a pipe until its end, and outlives us."""
        os.set_blocking(pipe, True)
        actions = [
            (os.POSIX_SPAWN_DUP2, pipe, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        os.posix_spawn("/bin/cat", ["cat"], os.environ, file_actions=actions, setsid=True)

    def become(program: str, command: Callable[[int], list[str]], reading: int) -> NoReturn:
        """Become a program, which reads a pipe by its number.

        Raises:
            OSError: it cannot be started.

        """
        os.set_inheritable(reading, True)  # noqa: FBT003 - its only parameter
        os.execv(program, command(reading))  # noqa: S606 - the user's own interpreter and words
