"""Processes that are started, as each system does it."""

import os
import subprocess
import sys

if sys.platform == "win32":
    NO_WINDOW = subprocess.CREATE_NO_WINDOW

    def start_to_empty(pipe: int) -> None:
        """Start a process that reads a pipe until its end, and outlives us."""
        reads = "import os\nwhile os.read(0, 65536): pass"
        quiet = subprocess.DEVNULL
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        command = [sys.executable, "-I", "-S", "-c", reads]
        process = subprocess.Popen(command, stdin=pipe, stdout=quiet, stderr=quiet, creationflags=flags)
        process.returncode = 0  # it is not waited for

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
