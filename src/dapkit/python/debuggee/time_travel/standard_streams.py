"""The standard streams of a recorded program, made once more.

Their kinds of file decide how much is written at once.
"""

import _io
import os
import stat
import sys
from typing import Any, Final

from ..connection.framing import Json
from ..system import memory_file

_NAMES: Final = ("stdin", "stdout", "stderr")


def describe() -> Json:
    """Describe the streams as the interpreter has made them."""
    return {name: _described(getattr(sys, name)) for name in _NAMES}


def _described(stream: Any) -> Json | None:  # noqa: ANN401 - whatever stands there
    if type(stream) is not _io.TextIOWrapper:
        return None
    buffer: Any = stream.buffer
    raw: Any = getattr(buffer, "raw", buffer)
    return {
        "encoding": stream.encoding,
        "errors": stream.errors,
        "lineBuffering": stream.line_buffering,
        "writeThrough": stream.write_through,
        "size": raw._blksize if raw is not buffer else 0,
        "isFile": stat.S_ISREG(os.fstat(raw.fileno()).st_mode),
    }


def make_again(described: Json) -> tuple[int, int]:
    """Make the program's streams as they were described; return where its output and errors really go."""
    really = tuple(_out_of_the_way(number) for number in (1, 2))
    for number, name in enumerate(_NAMES):
        description = described.get(name)
        if isinstance(description, dict):
            setattr(sys, name, _made(number, name, description))
            setattr(sys, f"__{name}__", getattr(sys, name))
        else:
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
    return really[0], really[1]


def flush(really: tuple[int, int]) -> None:
    """Write the output that is still in the buffers, as the interpreter does when the program has ended.

    `really` is where the program's output and errors go.
    """
    for number, stream, goes_to in zip((1, 2), (sys.__stdout__, sys.__stderr__), really, strict=True):
        if type(stream) is not _io.TextIOWrapper or stream.closed:
            continue
        try:
            is_file = stat.S_ISREG(os.fstat(number).st_mode)  # one of ours, which has no reader
            begin = os.lseek(number, 0, os.SEEK_END) if is_file else 0
            stream.flush()
            if is_file:
                os.write(goes_to, os.pread(number, os.fstat(number).st_size - begin, begin))
        except (OSError, ValueError):  # the descriptor is closed
            continue


def _out_of_the_way(number: int) -> int:
    import fcntl

    return int(fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 4000))


def _made(number: int, name: str, description: Json) -> Any:  # noqa: ANN401 - a stream
    if description["isFile"]:  # it can be sought in
        file = memory_file("dapkit-stream")
        os.dup2(file, number)
        os.close(file)
    reads = name == "stdin"
    raw: Any = _io.FileIO(number, "rb" if reads else "wb", closefd=False)
    raw.name = f"<{name}>"
    size = int(str(description["size"]))
    buffer: Any = raw
    if size:
        usual = _io.DEFAULT_BUFFER_SIZE
        size = max(min(size, 8 << 20), usual) if sys.version_info >= (3, 14) else size if size > 1 else usual
        buffer = (_io.BufferedReader if reads else _io.BufferedWriter)(raw, size)
    text: Any = _io.TextIOWrapper(
        buffer,
        encoding=str(description["encoding"]),
        errors=str(description["errors"]),
        newline=None if reads else "\n",
        line_buffering=bool(description["lineBuffering"]),
        write_through=bool(description["writeThrough"]),
    )
    text.mode = "r" if reads else "w"
    return text
