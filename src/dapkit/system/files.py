"""Opening and locking of files, as each system does it; nothing of it is left when a process ends."""

import os
import sys
import time

if sys.platform == "win32":
    import msvcrt
    from contextlib import suppress

    CLOSE_IN_CHILDREN = os.O_NOINHERIT | os.O_BINARY
    AT_ONCE = 0
    NO_LINK = 0

    def user() -> int:
        """Return our user; users have no numbers here, and files are protected by the folder that they are in."""
        return 0

    def lock(descriptor: int, *, waits: bool = True, shared: bool = False) -> bool:  # noqa: ARG001 - no lock is
        """Lock a file until it is closed; return false if another process has, and we do not wait.

        Others can have a `shared` lock at the same time, where the system has such.
        """
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not waits:
                    return False
                time.sleep(_LOCK_SECONDS)
            else:
                os.lseek(descriptor, 0, os.SEEK_SET)
                return True

    def read_at(descriptor: int, size: int, place: int) -> bytes:
        """Read from a place in a file, which one thread reads. Raises: OSError."""
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, size)

    def duplicate_above(descriptor: int, _lowest: int) -> int:
        """Duplicate a descriptor, to one that no child inherits. Raises: OSError."""
        return os.dup(descriptor)

    def open_to_lock(folder: str) -> int:
        """Open the file whose lock stands for a folder. Raises: OSError."""
        return os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | CLOSE_IN_CHILDREN, 0o600)

    def open_private(path: str | os.PathLike[str], flags: int) -> int:
        """Open a file, and make it, if it is not there, for its owner alone. Raises: OSError."""
        from dapkit.system.file_owner import restrict_to_owner

        is_new = not os.path.exists(path)
        descriptor = os.open(path, flags | os.O_CREAT | CLOSE_IN_CHILDREN)
        if is_new:
            with suppress(OSError):  # a disk without access lists
                restrict_to_owner(os.fspath(path))
        return descriptor

    def open_by_type(path: str) -> bool:
        """Open a file with the program that the desktop has for its type; return whether there is one."""
        try:
            os.startfile(path)  # noqa: S606 - the purpose of this function
        except OSError:
            return False
        return True

else:
    CLOSE_IN_CHILDREN = os.O_CLOEXEC
    AT_ONCE = os.O_NONBLOCK | os.O_NOCTTY
    """To open a file with that may be a pipe with a name, or a terminal: nothing waits for its other end."""
    NO_LINK = os.O_NOFOLLOW
    """To open a file with that must not be a link."""

    def user() -> int:
        """Return our user."""
        return os.geteuid()

    def lock(descriptor: int, *, waits: bool = True, shared: bool = False) -> bool:
        """Lock a file until it is closed; return false if another process has, and we do not wait.

        Others can have a `shared` lock at the same time, where the system has such.
        """
        import fcntl  # a program that listens has no other use for it

        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def read_at(descriptor: int, size: int, place: int) -> bytes:
        """Read from a place in a file. Raises: OSError."""
        return os.pread(descriptor, size, place)

    def duplicate_above(descriptor: int, lowest: int) -> int:
        """Duplicate a descriptor, to one that no child inherits, and that is not lower. Raises: OSError."""
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)

    def open_to_lock(folder: str) -> int:
        """Open the file whose lock stands for a folder. Raises: OSError."""
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open_private(path: str | os.PathLike[str], flags: int) -> int:
        """Open a file, and make it, if it is not there, for its owner alone. Raises: OSError."""
        return os.open(path, flags | os.O_CREAT | CLOSE_IN_CHILDREN, 0o600)

    def open_by_type(path: str) -> bool:  # noqa: ARG001 - as on Windows
        """Return that the system itself does not; desktops have programs for that."""
        return False


_LOCKED_BYTE = 1 << 30
"""Behind the end of the file: no other process can read a part that is locked on Windows."""
_LOCK_SECONDS = 0.01
