"""This process's standard input and output as the protocol stream.

An adapter on stdio loses its session to the first stray `print`. So the two
descriptors are taken away from the program: fd 0 becomes the null device and
fd 1 becomes stderr, for Python, for C code and for every child alike, and the
protocol keeps private duplicates that no child inherits.

The open files behind them may be shared with other processes (a terminal with
its shell, stdout with stderr), so their non-blocking flag is never touched.
"""

import os
import socket
import stat
import sys
from typing import TextIO

from anyio.abc import ByteStream

from dapkit import limits
from dapkit.system.files import duplicate_above
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.standard_streams import flush_c_streams
from dapkit.system.this_system import SYSTEM
from dapkit.transport.careful_writer import careful_writer
from dapkit.transport.descriptors import DescriptorReader, DescriptorWriter
from dapkit.transport.errors import TransportError
from dapkit.transport.pumps import reader_of, writer_of

AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
"""The flag by which a connection that has ended is an error and no signal; Python ignores the signal elsewhere."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2


def stdio() -> ByteStream:
    """Take over standard input and output until the stream is closed.

    From now on the output of this process or of a child to standard output goes to stderr, including text that was
    printed before and still waits in a buffer.

    Raises:
        TransportError: they are closed, or taken already.

    """
    return _Stdio()


class _Stdio(ByteStream):
    """Invariant: from construction to closing fd 0 is the null device and fd 1 is stderr."""

    _taken = False

    def __init__(self) -> None:
        if _Stdio._taken:
            raise TransportError("standard input and output are in use by another stream of this process")
        self._input = _private(_STDIN, "input")
        self._output: int | None = _private(_STDOUT, "output")
        self._reader = _reader(self._input)
        self._writer = _writer(self._output)
        self._python: tuple[TextIO | None, TextIO | None] = (sys.stdin, sys.stdout)
        _point_at_null(_STDIN)
        if sys.__stderr__ is None:  # started without it, and by now its number may belong to any file
            _point_at_null(_STDOUT)
        else:
            os.dup2(_STDERR, _STDOUT)
        _flush(sys.stdout)
        sys.stdin = open(_STDIN, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long-lived as the one it replaces
        sys.stdout = sys.stderr
        _Stdio._taken = True
        self._open = True

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        return await self._reader.receive(max_bytes)

    async def send(self, item: bytes) -> None:
        await self._writer.send(item)

    def send_now(self, item: bytes) -> int:
        return self._writer.send_now(item)

    async def send_eof(self) -> None:
        """End our side for good: fd 1 stays stderr, also after closing."""
        if self._output is not None:
            os.close(self._output)
            self._output = None
        await self._writer.aclose()

    async def aclose(self) -> None:
        """Put everything back as it was."""
        if self._open:
            self._open = False
            self._give_back()
        await self._reader.aclose()
        await self._writer.aclose()

    def _give_back(self) -> None:
        # Text that still waits in a buffer was printed during the conversation: it must not follow it on the wire.
        _flush(sys.stdout)
        _flush(self._python[1])
        flush_c_streams()
        sys.stdin, sys.stdout = self._python
        os.dup2(self._input, _STDIN)
        if self._output is not None:
            os.dup2(self._output, _STDOUT)
            os.close(self._output)
            self._output = None
        _Stdio._taken = False


def _private(fd: int, name: str) -> int:
    """Duplicate above the standard descriptors, closed in children."""
    try:
        return duplicate_above(fd, _STDERR + 1)
    except OSError as error:
        raise TransportError(f"standard {name} is closed, and the protocol was to use it") from error


def _reader(descriptor: int) -> DescriptorReader:
    """Reader of a descriptor that stays ours."""
    return reader_of(_private(descriptor, "input")) if IS_WINDOWS else DescriptorReader(descriptor)


def _writer(output: int) -> DescriptorWriter:
    """Writer with a descriptor of its own that never blocks, whatever kind of file it is."""
    if IS_WINDOWS:
        return writer_of(_private(output, "output"))
    kind = os.fstat(output).st_mode
    if stat.S_ISSOCK(kind):
        own = socket.socket(fileno=_private(output, "output"))
        return DescriptorWriter(own.fileno(), write=lambda data: own.send(data, AT_ONCE | NO_SIGNAL), close=own.close)
    if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind):
        own_file = SYSTEM.own_file(output)
        return careful_writer(_private(output, "output")) if own_file is None else DescriptorWriter.over(own_file)
    return DescriptorWriter.over(_private(output, "output"))


def _point_at_null(fd: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)


def _flush(stream: TextIO | None) -> None:
    if stream is not None and not stream.closed:
        stream.flush()
