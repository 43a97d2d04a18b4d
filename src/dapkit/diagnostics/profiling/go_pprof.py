"""Profiles of Go programs that serve them: those that import net/http/pprof.

Its server is looked for among the ports at which the program listens on this machine: each is asked once for the
command line of its process, which must be the program's. Closing our half of the connection ends a profile early: the
server notices, and answers with its partial profile (Go 1.19).

A profile is a message of Protocol Buffers, packed by gzip: samples name locations, these lines of functions, and these
numbers of texts (https://github.com/google/pprof/blob/main/proto/profile.proto).
"""

import re
import select
import socket
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple

from dapkit.diagnostics import limits
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.profile import Profile, ProfileKind
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.profiling.samples import FrameKind, SampledFrame, StackCounts
from dapkit.diagnostics.programs import Program
from dapkit.system import procfs
from dapkit.system.selection import LINUX, NAME
from dapkit.system.this_system import SYSTEM

type _Fields = dict[int, list[int | bytes]]


class PprofFormatError(Exception):
    """The data is not a profile; the text says why."""


class PprofCall(NamedTuple):
    """A call, as a profile has it."""

    function: str
    file: str
    line: int


def samples_in(packed: bytes) -> Iterator[tuple[Sequence[PprofCall], int]]:
    """Return the stacks of a profile, the outermost call first, each with its count.

    Raises:
        PprofFormatError: it is not a profile.

    """
    profile = _fields(_unpacked(packed))
    texts = [text.decode(errors="replace") for text in _messages(profile, 6)]
    functions = {}
    for function in map(_fields, _messages(profile, 5)):
        functions[_number(function, 1)] = (_text(texts, _number(function, 2)), _text(texts, _number(function, 4)))
    locations = {}
    for location in map(_fields, _messages(profile, 4)):
        lines = [_fields(line) for line in _messages(location, 4)]  # the innermost of inlined calls first
        calls = [PprofCall(*functions.get(_number(line, 1), ("?", "")), _number(line, 2)) for line in lines]
        locations[_number(location, 1)] = calls or [PprofCall(f"{_number(location, 3):#x}", "", 0)]
    for sample in map(_fields, _messages(profile, 2)):
        values = _numbers(sample, 2)
        frames = [call for number in _numbers(sample, 1) for call in locations.get(number, [])]
        if values:
            yield frames[::-1], values[0]  # of a CPU profile: samples, then nanoseconds


def _unpacked(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)  # gzip
    try:
        unpacked = unpacker.decompress(packed, limits.PROFILE_BYTES)
    except zlib.error as error:
        raise PprofFormatError(f"it cannot be unpacked: {error}") from error
    if not unpacker.eof:
        raise PprofFormatError("it is cut, or too long")
    return unpacked


def _fields(data: bytes) -> _Fields:
    """Read one message: the values of each field, by its number."""
    fields: _Fields = defaultdict(list)
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        value: int | bytes
        match key & 7:
            case 0:
                value, place = _varint(data, place)
            case 1:
                value, place = data[place : place + 8], place + 8
            case 2:
                size, place = _varint(data, place)
                value, place = data[place : place + size], place + size
            case 5:
                value, place = data[place : place + 4], place + 4
            case kind:
                raise PprofFormatError(f"a field has the unknown type {kind}")
        if place > len(data):
            raise PprofFormatError("a field is longer than its message")
        fields[key >> 3].append(value)
    return fields


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise PprofFormatError("a number is cut")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise PprofFormatError("a number has more than ten bytes")


def _messages(fields: _Fields, number: int) -> list[bytes]:
    return [value for value in fields.get(number, ()) if isinstance(value, bytes)]


def _numbers(fields: _Fields, number: int) -> list[int]:
    """Return the numbers of a field that may have several: each by itself, or packed."""
    numbers: list[int] = []
    for value in fields.get(number, ()):
        match value:
            case int():
                numbers.append(value)
            case bytes():
                place = 0
                while place < len(value):
                    one, place = _varint(value, place)
                    numbers.append(one)
    return numbers


def _number(fields: _Fields, number: int) -> int:
    return next(iter(_numbers(fields, number)), 0)


def _text(texts: Sequence[str], number: int) -> str:
    return texts[number] if number < len(texts) else "?"


_RECEIVER_OR_TYPES = re.compile(r"[(\[]")
"""The beginning of a receiver, or of the types of a generic function: both may name packages, too."""


def package_of(function: str) -> str:
    """Return the package of a function.

    >>> package_of("net/http.(*conn).serve"), package_of("example.com/shop/cart.Total.func1")
    ('net/http', 'example.com/shop/cart')
    """
    plain = _RECEIVER_OR_TYPES.split(function)[0]
    folder, slash, rest = plain.rpartition("/")
    return f"{folder}{slash}{rest.partition('.')[0]}"


def is_own_in_go(function: str, file: str = "") -> bool:
    """Whether a function is the program's own: not of the standard library, nor of a module that was fetched."""
    package = package_of(function)
    is_standard = "." not in package.partition("/")[0] and package != "main"
    return not is_standard and "/pkg/mod/" not in file and "/vendor/" not in file


ADVICE = (
    'A Go program serves its own profiles with: import _ "net/http/pprof", and a server of net/http on this machine'
)

RATE = 100
"""Samples in a second, which Go decides."""

_EVERYWHERE_OR_HERE = {
    "00000000": "127.0.0.1",
    "0100007F": "127.0.0.1",
    "0" * 32: "::1",
    "0" * 24 + "01000000": "::1",
}
"""Addresses as /proc has them, with the one by which we reach a listener there; the system is of little endian."""


def find_server(pid: int) -> tuple[str, int] | None:
    """Return host and port at which a process serves its profiles; None if it does not."""
    for address in listeners(pid)[: limits.PPROF_PORTS]:
        if _is_server(address, pid):
            return address
    return None


def listeners(pid: int) -> Sequence[tuple[str, int]]:
    """Return where a process listens on this machine."""
    if NAME != LINUX:
        return [("127.0.0.1", port) for port in sorted(SYSTEM.listening_ports(pid))]
    folder = Path(f"/proc/{pid}")
    try:
        if (folder / "ns" / "net").readlink() != Path("/proc/self/ns/net").readlink():
            return []  # its ports are not ours
    except OSError:
        return []
    sockets = procfs.sockets_of(pid)
    addresses = []
    for row in procfs.tcp_sockets(folder / "net"):
        if row.state != procfs.LISTEN or row.link not in sockets:
            continue
        host, _, port = row.local.partition(":")
        if host in _EVERYWHERE_OR_HERE:
            addresses.append((_EVERYWHERE_OR_HERE[host], int(port, 16)))
    return addresses


def _is_server(address: tuple[str, int], pid: int) -> bool:
    connection = HTTPConnection(*address, timeout=limits.PPROF_PROBE_SECONDS)
    try:
        connection.request("GET", "/debug/pprof/cmdline")
        response = connection.getresponse()
        answer = response.read(limits.PPROF_PROBE_BYTES)
        command = "\0".join(SYSTEM.command_of(pid)).encode()[: limits.PPROF_PROBE_BYTES]
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    words = answer.decode(errors="replace").encode()[: limits.PPROF_PROBE_BYTES]
    return response.status == 200 and words.rstrip(b"\0") == command.rstrip(b"\0")


def record(program: Program, kind: ProfileKind, window: Window, *, server: tuple[str, int]) -> Profile:
    """Record a program.

    Raises:
        DiagnosticsError: its server does not give a profile.

    """
    window.report("asking the program for its profile")
    most = int(window.seconds) + 1
    connection = HTTPConnection(*server, timeout=limits.PROFILE_START_SECONDS)
    start = time.monotonic()
    try:
        connection.request("GET", f"/debug/pprof/profile?seconds={most}", headers={"Connection": "close"})
        seconds, complete = window.pass_by(lambda: not _is_readable(connection.sock))
        window.report("reading the profile")
        connection.sock.settimeout(limits.PROFILE_FINISH_SECONDS)
        connection.sock.shutdown(socket.SHUT_WR)
        response = connection.getresponse()
        body = response.read(limits.PROFILE_BYTES)
        seconds = min(seconds, time.monotonic() - start)
    except (OSError, HTTPException) as error:
        if not SYSTEM.exists(program.pid):
            raise DiagnosticsError("not_running", "The program has ended, and its profile with it.") from error
        raise DiagnosticsError("tool_failed", f"net/http/pprof of the program gave no profile: {error}") from error
    finally:
        connection.close()
    return Profile(
        kind=kind,
        program=program.name,
        pid=program.pid,
        tool="net/http/pprof",
        rate=RATE,
        of_each="processor",
        seconds=seconds,
        waiting_included=False,
        stacks=_counted(response, body, Path(program.snapshot.cwd)).counts,
        complete=complete,
    )


def _is_readable(connected: socket.socket) -> bool:
    """Whether the answer has come, or the connection has ended."""
    return bool(select.select([connected], [], [], 0)[0])


def _counted(response: HTTPResponse, body: bytes, folder: Path) -> StackCounts:
    if response.status != 200:
        text = body.decode(errors="replace").strip()[: limits.PROFILE_ERROR_CHARACTERS]
        raise DiagnosticsError("tool_failed", f"net/http/pprof of the program gave no profile: {text}")
    counts = StackCounts()
    try:
        for calls, count in samples_in(body):
            counts.add(tuple(_frame(call, folder) for call in calls), count)
    except PprofFormatError as error:
        raise DiagnosticsError("tool_failed", f"The profile of the program cannot be read: {error}.") from error
    return counts


def _frame(call: PprofCall, folder: Path) -> SampledFrame:
    file = Path(call.file)
    place = str(file.relative_to(folder)) if file.is_relative_to(folder) else file.name
    kind: FrameKind = "own" if is_own_in_go(call.function, call.file) else "library"
    return SampledFrame(call.function, place, call.line, kind)
