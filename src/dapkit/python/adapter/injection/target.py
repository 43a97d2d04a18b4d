"""A process to attach to: its facts, and the obstacles, in the words of the user.

All of it is seen from outside, in /proc and in the files that the process runs: the version of the interpreter is a
constant in a file of machine code, and is read without running it.
"""

import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from dapkit.adapter import RequestFailed
from dapkit.python.versions import OLDEST
from dapkit.system import procfs
from dapkit.system.platform_support import needs_linux
from dapkit.system.this_system import SYSTEM

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")

_DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM, of elf.h, as those below
_LOADED = 1  # PT_LOAD
_BITS = {1: 32, 2: 64}  # EI_CLASS


def bits_of(path: Path) -> int:
    """Return the size of its addresses in bits; 0 if it is not such a file."""
    with path.open("rb") as file:
        start = file.read(5)
    return _BITS.get(start[4], 0) if start[:4] == b"\x7fELF" else 0


def exported(path: Path, names: frozenset[str], size: int) -> dict[str, bytes]:
    """Return the exported names among these, with their first bytes.

    Raises:
        OSError: it cannot be read.

    """
    data = path.read_bytes()
    try:
        return dict(_found(data, {name.encode() for name in names}, size))
    except (struct.error, IndexError, ValueError):
        return {}  # damaged, or of another kind


def _found(data: bytes, names: set[bytes], size: int) -> list[tuple[str, bytes]]:
    header = _HEADER.unpack_from(data)
    sections = [_SECTION.unpack_from(data, header[6] + index * header[11]) for index in range(header[12])]
    segments = [_SEGMENT.unpack_from(data, header[5] + index * header[9]) for index in range(header[10])]
    symbols: list[tuple[str, bytes]] = []
    for section in sections:
        if section[1] != _DYNAMIC_SYMBOLS:
            continue
        texts = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], _SYMBOL.size):
            name, _, _, where, address, _ = _SYMBOL.unpack_from(data, place)
            text = data[texts + name : data.index(b"\0", texts + name)]
            if where and text in names:
                offset = _offset(segments, address)
                symbols.append((text.decode(), data[offset : offset + size]))
    return symbols


def _offset(segments: list[tuple[int, ...]], address: int) -> int:
    """Return where in the file the content of an address is."""
    for kind, _, offset, start, _, length, _, _ in segments:
        if kind == _LOADED and start <= address < start + length:
            return offset + address - start
    raise ValueError("the address is not in the file")


ENGINE_FOLDER = Path(__file__).parents[2] / "debuggee"

_VERSION = "Py_Version"
_RUN = "PyRun_SimpleString"
_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
OTHERWISE = "or have the program call dapkit.listen(), and attach with connect"


@dataclass(frozen=True, slots=True)
class TargetProcess:
    """A Python program that may be attached to.

    Attributes:
        executable: its executable; its own interpreter, unless that is embedded in another program.
        version: of Python, such as (3, 12); (0, 0) where it does not say so, which it does from 3.11 on.
        user: that it runs as.

    """

    pid: int
    executable: Path
    version: tuple[int, int]
    user: int

    @property
    def tracer(self) -> int:
        """The process that debugs it from outside, 0 for none."""
        return int(procfs.status_of(self.pid).get("TracerPid", "0"))

    def __str__(self) -> str:
        return f"process {self.pid}"


def number_of(process_id: int | str) -> int:
    """Return the number of a process, which clients may give as a text.

    Raises:
        RequestFailed: it is not a Python process.

    """
    if isinstance(process_id, str) and not process_id.strip().isdigit():
        raise RequestFailed(f"processId is {process_id!r}, expected the number of a process")
    return int(process_id)


def look_at(pid: int) -> TargetProcess:
    """Examine a process to attach to.

    Raises:
        RequestFailed: attaching is impossible; the text says why, and what to do.

    """
    target = read(pid)
    if procfs.status_of(pid).get("State", "").startswith("T"):
        raise RequestFailed(f"process {pid} was stopped by a signal: continue it (`kill -CONT {pid}`), then attach")
    if target.user != os.geteuid():  # it could not reach our private folder
        raise RequestFailed(f"process {pid} may not be attached to: {_prohibition(target.user)}")
    _need_support(target)
    _need_shared_files(pid)
    return target


def read(pid: int) -> TargetProcess:
    """Examine a process, whatever its version of Python.

    Raises:
        RequestFailed: it is not Python, or may not be looked into.

    """
    if (problem := needs_linux("attaching to a process by its number")) is not None:
        raise RequestFailed(
            f"{problem}: let the program listen with `python -m dapkit --listen 5678 PROGRAM`, and attach by that port"
        )
    status = procfs.status_of(pid)
    _need_process(pid, status)
    user = int(status["Uid"].split()[1])
    _need_permission(pid, user)
    try:
        executable = Path(f"/proc/{pid}/exe").readlink()
        interpreter = _interpreter(pid, executable)
    except FileNotFoundError as error:
        raise RequestFailed(f"process {pid} is part of the kernel, or has ended") from error
    except OSError as error:
        raise RequestFailed(f"process {pid} cannot be looked at: {error.strerror}") from error
    number = int.from_bytes(interpreter.get(_VERSION, b""), sys.byteorder)
    return TargetProcess(pid, executable, (number >> 24 & 0xFF, number >> 16 & 0xFF), user)


def command_line(pid: int) -> str:
    """Return the command line of a process, for people."""
    try:
        return " ".join(SYSTEM.command_of(pid)).strip()
    except OSError:
        return ""


def _need_process(pid: int, status: dict[str, str]) -> None:
    if not status:
        raise RequestFailed(f"process {pid} does not exist: it has ended, or its id is wrong")
    if pid == os.getpid():
        raise RequestFailed(f"process {pid} is the debugger itself")
    if status.get("Tgid") != str(pid):
        raise RequestFailed(f"{pid} is a thread of process {status.get('Tgid')}: name that")
    if status.get("State", "").startswith(("Z", "X")):
        raise RequestFailed(f"process {pid} has ended; only its parent, {status.get('PPid')}, has not noticed yet")


def _need_permission(pid: int, user: int) -> None:
    """Refuse a process that the system does not let us into: opening its memory asks for the right to trace it."""
    try:
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC))
    except FileNotFoundError as error:
        raise RequestFailed(f"process {pid} has ended") from error
    except PermissionError as error:
        raise RequestFailed(f"process {pid} may not be debugged: {_prohibition(user)}") from error
    except OSError as error:
        raise RequestFailed(f"process {pid} cannot be looked at: {error.strerror}") from error


def _prohibition(user: int) -> str:
    if user != os.geteuid():
        return f"it runs as {_name(user)}, and the debugger as {_name(os.geteuid())}: do it as that user"
    scope = _SCOPE.read_text().strip() if _SCOPE.exists() else "0"
    if scope in ("1", "2"):
        return f"kernel.yama.ptrace_scope is {scope}: as root, `sysctl kernel.yama.ptrace_scope=0`, or do it as root"
    if scope == "3":
        return "kernel.yama.ptrace_scope is 3, which only a new start of the system changes"
    advice = "" if os.geteuid() == 0 else ": do it as root"
    return f"it has rights that the debugger lacks, perhaps in a container (`--cap-add=SYS_PTRACE`){advice}"


def _name(user: int) -> str:
    import pwd

    try:
        return f"user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"user {user}"


def _interpreter(pid: int, executable: Path) -> dict[str, bytes]:
    """Return the exports of the file with the interpreter; nothing if no file has one."""
    root = f"/proc/{pid}/root"
    files = [Path(f"/proc/{pid}/exe"), *(Path(root + path) for path in _libraries(pid))]
    for file in files:
        try:
            if exports := exported(file, frozenset({_VERSION, _RUN}), 8):
                _need_same_bits(pid, file)
                return exports
        except FileNotFoundError:
            raise RequestFailed(
                f"process {pid} runs an interpreter whose file {str(file).removeprefix(root)} was replaced meanwhile: "
                "start the program again"
            ) from None
    if bits_of(files[0]) == 32:
        _need_same_bits(pid, files[0])
    raise RequestFailed(
        f"process {pid} is not a Python program: it runs {executable}, which contains no CPython; "
        "debuggers of other languages attach to it"
    )


def _libraries(pid: int) -> list[str]:
    """Return the libraries of Python that a process has loaded."""
    return [path for path in procfs.mapped_files(pid) if path.rpartition("/")[2].startswith("libpython")]


def _need_same_bits(pid: int, file: Path) -> None:
    ours = struct.calcsize("P") * 8
    if (bits := bits_of(file)) != ours:
        raise RequestFailed(
            f"process {pid} runs a Python of {bits} bits, expected one of {ours}, as the debugger's own"
        )


def _need_support(target: TargetProcess) -> None:
    if target.version < OLDEST:
        version = ".".join(map(str, target.version)) if any(target.version) else "older than 3.11"
        expected = ".".join(map(str, OLDEST))
        raise RequestFailed(
            f"{target} runs Python {version} ({target.executable}), expected CPython {expected} or later; "
            "debugpy attaches to older ones"
        )


def _need_shared_files(pid: int) -> None:
    """Refuse a program that does not see our files where we see them."""
    ours = ENGINE_FOLDER / "loader.py"
    try:
        if ours.samefile(f"/proc/{pid}/root{ours}"):
            return
    except OSError:
        pass  # it is not there
    raise RequestFailed(
        f"process {pid} runs in a container, or under another root, where {ENGINE_FOLDER} is not to be found: "
        f"run the debugger there, {OTHERWISE}"
    )
