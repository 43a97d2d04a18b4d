"""Facts about processes and sockets from psutil, for the systems that do not show them as files."""

import os

from dapkit.system.interface import System, override

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import psutil


class PsutilFacts(System):
    """The answers in which psutil knows more than the standard library."""

    @override
    def pids(self) -> "Iterator[int]":
        import psutil

        yield from psutil.pids()

    @override
    def parents(self) -> dict[int, int]:
        import psutil

        return {process.pid: process.info["ppid"] or 0 for process in psutil.process_iter(["ppid"])}

    @override
    def folder_of(self, pid: int) -> str:
        import psutil

        try:
            return str(psutil.Process(pid).cwd())
        except psutil.Error as error:
            raise _as_os_error(error) from error

    @override
    def executable_of(self, pid: int) -> str:
        import psutil

        try:
            return str(psutil.Process(pid).exe())
        except psutil.Error as error:
            raise _as_os_error(error) from error

    @override
    def program_file(self, pid: int) -> str:
        return self.executable_of(pid)

    @override
    def command_of(self, pid: int) -> list[str]:
        import psutil

        try:
            return list(psutil.Process(pid).cmdline())
        except psutil.Error as error:
            raise _as_os_error(error) from error

    @override
    def has_in_environment(self, pid: int, text: bytes) -> bool:
        import psutil

        try:
            return os.fsdecode(text) in "\0".join(map("=".join, psutil.Process(pid).environ().items()))
        except psutil.Error as error:
            raise _as_os_error(error) from error

    @override
    def started_at(self, pid: int) -> float:
        import psutil

        try:
            return float(psutil.Process(pid).create_time())
        except psutil.Error as error:
            raise _as_os_error(error) from error

    @override
    def listening_ports(self, pid: int) -> set[int]:
        import psutil

        try:
            connections = psutil.Process(pid).net_connections("tcp")
        except psutil.Error:  # it has ended, or is another user's
            return set()
        return {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}

    @override
    def shares_files(self, pid: int) -> bool:
        return True  # containers are Linux's

    @override
    def usable_cpus(self) -> int:
        return os.cpu_count() or 1

    @override
    def memory_of(self, pid: int) -> tuple[int | None, int | None]:
        import psutil

        try:
            return int(psutil.Process(pid).memory_info().rss), None
        except psutil.Error:  # it has ended, or is another user's
            return None, None

    @override
    def memory_sizes(self) -> tuple[int, int]:
        import psutil

        memory = psutil.virtual_memory()
        return memory.total, memory.available

    @override
    def shared_memory(self, name: str, size: int) -> int | None:
        return None  # descriptors of others cannot be opened


def _as_os_error(error: "psutil.Error") -> OSError:
    """Return the error of the system that an error of psutil stands for."""
    import psutil

    if isinstance(error, psutil.AccessDenied):
        return PermissionError(str(error))
    return ProcessLookupError(str(error))
