"""The stacks of all threads of a process, by py-spy, or as an interpreter of 3.15 reads them.

The interpreter needs nothing that is not there, and knows builds that py-spy does not. py-spy adds facts that its
stacks lack: the names of threads, and the values of variables, by which locks are known.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dapkit.adapter import RequestFailed
from dapkit.python import limits

_LIBRARY = re.compile(
    r"^<(?!dynamic-code>)|/(?:site|dist)-packages/|/lib(?:64)?/(?:pypy|python)\d[\d.]*/|/python\d+\.zip/"
)


class NoPySpy(Exception):  # noqa: N818 - the sentence reads right where it is raised
    """py-spy is not installed; the text says how to install it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One call.

    Attributes:
        function: its name, with the name of its class.
        file: of its source, or the library that has native code.
        line: 0 if that is not known.
        is_own: whether it is the program's own code, not a library's.
        roots: addresses of the objects that its variables hold, by name.
        has_roots: whether these were read.

    """

    function: str
    file: str
    line: int
    is_own: bool
    roots: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    has_roots: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DumpedThread:
    """One thread.

    Attributes:
        number: of the operating system.
        name: that `threading` gives it; empty if it is not known.
        is_running: whether it uses a processor, as far as that can be seen.
        has_interpreter: whether it holds the lock of the interpreter (GIL).
        frames: the newest first.

    """

    number: int
    name: str
    is_running: bool
    has_interpreter: bool
    frames: tuple[Frame, ...]

    def __str__(self) -> str:
        return self.name or f"thread {self.number}"


def is_own(file: str) -> bool:
    """Return whether a source is the program's own: neither of the standard library nor of an installed package."""
    return _LIBRARY.search(file) is None


def _is_engine(file: str) -> bool:
    """Return whether a source is the debugger's own, inside the program: a member of a job has its engine loaded."""
    return "/dapkit/python/debuggee/" in file


def stacks_of(pid: int, *, native: bool, traced: bool) -> list[DumpedThread]:
    """Return all threads of a process.

    Args:
        pid: the process.
        native: whether calls of native code are shown as well.
        traced: whether another debugger holds the process, so that it cannot be made to stand still meanwhile.

    Raises:
        NoPySpy: it is not installed.
        RequestFailed: it cannot read the process.

    """
    command = [find_py_spy(), "dump", "--pid", str(pid), "--json", "--locals"]
    command += ["--native"] * native + ["--nonblocking"] * traced
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=limits.DUMP_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )
    except subprocess.TimeoutExpired:
        raise RequestFailed(f"py-spy did not read process {pid} within {limits.DUMP_SECONDS:g} s") from None
    except OSError as error:
        raise RequestFailed(f"{command[0]} cannot be run: {error.strerror}") from error
    if answer.returncode != 0:
        message = " ".join(answer.stderr.decode(errors="replace").split())
        raise RequestFailed(f"py-spy cannot read process {pid}: {message.removeprefix('Error: ')}")
    return [thread_of(thread, pid) for thread in json.loads(answer.stdout)]


def find_py_spy() -> str:
    """Find it beside our interpreter, or on PATH. Raises: NoPySpy."""
    places = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]  # noqa: PTH120 - a text, for which
    path = shutil.which("py-spy", path=os.pathsep.join(places))
    if path is None:
        raise NoPySpy("stacks are read by py-spy, which is not installed: pip install 'dapkit[dump]'")
    return path


def thread_of(entry: dict[str, Any], pid: int) -> DumpedThread:
    """Read a thread of py-spy's answer."""
    frames = tuple(_frame(frame) for frame in entry["frames"] if not _is_engine(frame["filename"] or ""))
    number = entry["os_thread_id"] or entry["thread_id"]
    name = entry["thread_name"] or ("MainThread" if number == pid else "")
    return DumpedThread(number, name, entry["active"], entry["owns_gil"], frames)


def _frame(entry: dict[str, Any]) -> Frame:
    file, line = entry["filename"] or entry["module"] or "", entry["line"] or 0
    is_python = not entry["module"] and line > 0
    roots = {variable["name"]: variable["addr"] for variable in entry["locals"] or ()}
    return Frame(entry["name"], file, line, is_python and is_own(file), roots, has_roots=True)


def threads_in(reading: Sequence[Mapping[str, Any]], pid: int, others: Sequence[DumpedThread]) -> list[DumpedThread]:
    """Make threads of the interpreter's data.

    Args:
        reading: of the interpreter.
        pid: the process.
        others: py-spy's data of the same threads, if it was read; a stack that was different then has no variables.

    """
    of_number = {thread.number: thread for thread in others}
    threads: list[DumpedThread] = []
    for entry in reading:
        number = int(entry["number"])
        stack = [(str(file), int(line), str(function)) for file, line, function in entry["stack"]]
        frames = tuple(
            Frame(function, file, line, line > 0 and is_own(file))
            for file, line, function in stack
            if not _is_engine(file)
        )
        thread = DumpedThread(number, "", entry["running"], entry["has_interpreter"], frames)
        if (other := of_number.get(number)) is not None:
            thread = replace(thread, name=other.name, frames=other.frames if other.frames == frames else frames)
        else:
            thread = replace(thread, name="MainThread" if number == pid else name_in_system(pid, number))
        threads.append(thread)
    return threads


def name_in_system(pid: int, number: int) -> str:
    """Return the system's name of a thread, which is the name in `threading` from 3.14 on, cut at 15 bytes."""
    try:
        name = Path(f"/proc/{pid}/task/{number}/comm").read_text(errors="replace").strip()
        return "" if name == Path(f"/proc/{pid}/comm").read_text(errors="replace").strip() else name
    except OSError:
        return ""
