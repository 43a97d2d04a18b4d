"""Processes that are started, as each system does it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

if sys.platform == "win32":
    import msvcrt

    NO_WINDOW = subprocess.CREATE_NO_WINDOW

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
