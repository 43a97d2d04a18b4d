"""The kind of a program, by its name and by its contents."""

import os
import shlex
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from dapkit.catalog.errors import NoProgram
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.trusted_files import read_start

type ProgramKind = Literal["folder", "executable", "script", "file"]


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """Something that may be debugged.

    Attributes:
        kind: a `script` names its interpreter in a `#!` line; a `file` is anything else.
        interpreter: the one that it names, without its version; `go` for an executable that Go has built.

    """

    path: Path
    kind: ProgramKind
    interpreter: str = ""

    def __str__(self) -> str:
        match self.kind, self.interpreter:
            case "folder", _:
                return f"{self.path.name} is a folder"
            case "executable", "go":
                return f"{self.path.name} is an executable that Go has built"
            case "executable", _:
                return f"{self.path.name} is an executable of this machine"
            case "script", interpreter:
                return f"{self.path.name} is a script for {interpreter}"
            case _:
                return f"{self.path.name} is a {self.path.suffix or 'plain'} file"


def look_at(path: Path) -> ProgramFile:
    """Determine the kind of a program.

    Raises:
        NoProgram: the file does not exist, or its kind cannot be run.

    """
    if path.is_dir():
        return ProgramFile(path, "folder")
    try:
        start = read_start(path, 512)
        if start.startswith(_ELF):
            with path.open("rb") as file:
                return ProgramFile(path, "executable", _builder(file, start, path))
    except FileNotFoundError as error:
        raise NoProgram(f"there is no program {path}") from error
    except OSError as error:
        raise NoProgram(f"{path} cannot be read: {error.strerror}") from error
    if start.startswith(_MACH_O) or (IS_WINDOWS and start.startswith(_PE) and path.suffix.lower() == ".exe"):
        return ProgramFile(path, "executable")
    if start.startswith(b"#!"):
        return ProgramFile(path, "script", bare_name(_interpreter(start)))
    return ProgramFile(path, "file")


def check_executable(path: Path, adapter: str) -> None:
    """Raise NoProgram unless this is an executable of the machine, which may be run."""
    file = look_at(path)
    if file.kind != "executable":
        raise NoProgram(f"{path} is a {_kind(file)}, and {adapter} runs executables of the machine")
    if not os.access(path, os.X_OK):
        raise NoProgram(f"{path} may not be executed: chmod +x {shlex.quote(str(path))}")


def check_core(path: Path) -> None:
    """Raise NoProgram unless this is a core file."""
    try:
        start = read_start(path, 512)
    except FileNotFoundError as error:
        raise NoProgram(f"there is no core file {path}") from error
    except OSError as error:
        raise NoProgram(f"{path} cannot be read: {error.strerror}") from error
    if not start.startswith(_ELF) or _elf_type(start) != _CORE:
        raise NoProgram(f"{path} is not a core file")


def _kind(file: ProgramFile) -> str:
    match file.kind:
        case "script":
            return f"script for {file.interpreter}"
        case "folder":
            return "folder"
        case _:
            return f"{file.path.suffix or 'plain'} file"


def bare_name(program: str) -> str:
    """Return the name of a program without folder and version: `python` of `/usr/bin/python3.12`."""
    name = Path(program).name.removesuffix(".exe") if IS_WINDOWS else Path(program).name
    return name.rstrip("0123456789.-") or name


def shebang(path: Path) -> str:
    """Return the first word of a script's `#!` line, verbatim; empty if the file has no such line."""
    try:
        start = read_start(path, 512)
    except OSError:
        return ""
    return _words(start)[0] if start.startswith(b"#!") and _words(start) else ""


def _words(start: bytes) -> list[str]:
    return start[2:].split(b"\n", 1)[0].decode(errors="replace").split()


def _interpreter(start: bytes) -> str:
    words = _words(start)
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


_ELF = b"\x7fELF"
_RELOCATABLE, _CORE = 1, 4  # elf.h, e_type
_PE = b"MZ"
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # of macOS, for one machine or several


def _elf_type(start: bytes) -> int | None:
    """Return the type of an ELF file; None if it is cut off."""
    if len(start) < _ELF_HEADER:
        return None
    (kind,) = struct.unpack_from(">H" if start[5] == _BIG_ENDIAN else "<H", start, 16)
    return int(kind)


_ELF_HEADER, _BIG_ENDIAN = 52, 2  # elf.h: the length of the shorter header, EI_DATA


def _builder(file: BinaryIO, start: bytes, path: Path) -> str:
    """Return `go` if Go has built this executable.

    Raises:
        NoProgram: it is not an executable but an object file or a core file, or is cut off.

    """
    kind = _elf_type(start)
    if kind is None:
        raise NoProgram(f"{path} begins as an executable and is cut off after {len(start)} bytes")
    if kind == _RELOCATABLE:
        raise NoProgram(f"{path} is an object file: link it, and launch the executable")
    if kind == _CORE:
        raise NoProgram(f"{path} is a core file, which cannot be launched: dapkit core PROGRAM {path.name} opens it")
    return "go" if is_built_by_go(file) else ""


def is_built_by_go(file: BinaryIO) -> bool:
    """Whether an ELF file has the section in which Go says how it was built."""
    try:
        return b"\0.go.buildinfo\0" in _section_names(file)
    except (struct.error, OSError, IndexError):  # cut off, or not the file type that it claims
        return False


def _section_names(file: BinaryIO) -> bytes:
    file.seek(0)
    header = file.read(64)
    wide, order = header[4] == 2, ">" if header[5] == 2 else "<"
    if wide:
        (offset,) = struct.unpack_from(f"{order}Q", header, 40)
        size, _, names = struct.unpack_from(f"{order}3H", header, 58)
    else:
        (offset,) = struct.unpack_from(f"{order}I", header, 32)
        size, _, names = struct.unpack_from(f"{order}3H", header, 46)
    file.seek(offset + size * names)
    section = file.read(size)
    if wide:
        where, length = struct.unpack_from(f"{order}2Q", section, 24)
    else:
        where, length = struct.unpack_from(f"{order}2I", section, 16)
    file.seek(where)
    return file.read(min(length, 1 << 20))
