"""Files: `open` as it is, but for the lowest layer, whose calls are noted."""

import _io
import sys
from collections.abc import Callable
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .descriptors import Descriptors
from .notes import NotedCalls
from .state import REPLAY, STANDARD_OUTPUTS, state

_LARGEST_BUFFER: Final = 8 << 20
_MODES: Final = frozenset("axrwbt+")


def file_type(notes: NotedCalls, descriptors: Descriptors) -> Any:  # noqa: ANN401 - a class made here
    """Return the class of files that are noted; it has the name of that in C."""
    call = notes.call
    base = _io.FileIO

    class FileIO(base):  # type: ignore[misc, valid-type]  # it is one
        __module__ = "_io"

        @unseen
        def __init__(self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> None:  # noqa: ANN401 - as in C
            if not state.is_of_program:
                base.__init__(self, file, mode, closefd, opener)
            elif opener is not None or type(file) is int:
                notes.aside(base.__init__, self, file, mode, closefd, _of_program(opener))
            else:
                number = call("open", lambda *_: _opened(self, file, mode, closefd), (file, mode))
                if state.mode is REPLAY:
                    notes.aside(base.__init__, self, file, mode, closefd, lambda *_: descriptors.have(number))

    FileIO.readinto = _reading(notes)
    FileIO.write = _writing(notes)
    for name in ("isatty", "read", "readall", "seek", "seekable", "tell", "truncate"):
        setattr(FileIO, name, _method(notes, name))
    FileIO.__qualname__ = "FileIO"
    return FileIO


def _reading(notes: NotedCalls) -> Callable[..., Any]:
    real, call = _io.FileIO.readinto, notes.call

    @unseen
    def readinto(self: Any, buffer: Any, /) -> Any:  # noqa: ANN401 - as in C
        if not state.is_of_program:
            return real(self, buffer)
        place = memoryview(buffer).cast("B")

        def really(_: int) -> bytes | None:
            size = real(self, place)
            return None if size is None else bytes(place[:size])

        content = call("readinto", really, (len(place),))
        if content is None:
            return None
        place[: len(content)] = content
        return len(content)

    return readinto


def _writing(notes: NotedCalls) -> Callable[..., Any]:
    real, call = _io.FileIO.write, notes.call

    @unseen
    def write(self: Any, content: Any, /) -> Any:  # noqa: ANN401 - as in C
        if not state.is_of_program:
            return real(self, content)
        number, place = self.fileno(), memoryview(content).cast("B")
        size = call("write", lambda *_: real(self, place), (number, len(place)))
        if size is not None and number in STANDARD_OUTPUTS:
            state.written += size
        return size

    return write


def _opened(file: Any, *given: Any) -> int:  # noqa: ANN401 - as in C
    _io.FileIO.__init__(file, *given)
    return int(file.fileno())


def _of_program(opener: Callable[..., int] | None) -> Callable[..., int] | None:
    """Have what opens a file for the program be called as the program's."""
    if opener is None:
        return None

    @unseen
    def open_for_program(*given: object) -> int:
        state.is_inside = True
        try:
            return opener(*given)
        finally:
            state.is_inside = False

    return open_for_program


def _method(notes: NotedCalls, name: str) -> Callable[..., Any]:
    call = notes.call
    real = getattr(_io.FileIO, name)

    @unseen
    def method(self: Any, /, *args: Any) -> Any:  # noqa: ANN401 - any method's
        return call(name, lambda *_: real(self, *args), args)

    method.__name__ = name
    method.__qualname__ = f"FileIO.{name}"
    return method


def opening(notes: NotedCalls, raw_type: Any) -> Callable[..., Any]:  # noqa: ANN401 - a class
    """Return what stands for `open`."""

    @unseen
    def open(  # noqa: A001, PLR0917 - as in C
        real: Any,  # noqa: ANN401 - the one in C
        /,
        file: Any,  # noqa: ANN401 - as in C
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,  # noqa: ANN401 - as in C
    ) -> Any:  # noqa: ANN401 - as in C
        given = encoding, errors, newline
        if not state.is_of_program or not _is_right(mode, buffering, given):
            return real(file, mode, buffering, *given, closefd, opener)
        raw = raw_type(file, "".join(letter for letter in mode if letter not in "bt"), closefd, opener)
        result = raw
        try:
            size, by_lines = _buffer(notes, raw, buffering)
            if not size:
                return raw
            kind = _io.BufferedRandom if "+" in mode else _io.BufferedReader if "r" in mode else _io.BufferedWriter
            result = kind(raw, size)
            if "b" not in mode:
                result = _io.TextIOWrapper(result, *given, by_lines)
                result.mode = mode  # type: ignore[misc]  # as in C
        except BaseException:
            result.close()
            raise
        return result

    return open


def _is_right(mode: str, buffering: int, given: tuple[str | None, ...]) -> bool:
    """Say whether arguments are so that no error comes of them, which the one in C is left to explain."""
    if (
        type(mode) is not str
        or type(buffering) is not int
        or not all(type(text) in (str, type(None)) for text in given)
    ):
        return False
    letters = set(mode)
    if letters - _MODES or len(letters) != len(mode) or len(letters & set("axrw")) != 1 or {"b", "t"} <= letters:
        return False
    if "b" in letters:
        return given == (None, None, None) and buffering != 1
    return buffering != 0 and given[2] in (None, "", "\n", "\r", "\r\n")


def _buffer(notes: NotedCalls, raw: Any, buffering: int) -> tuple[int, bool]:  # noqa: ANN401 - a file
    """Return how large its buffer is, and whether each line is written at once."""
    by_lines = buffering == 1 or (buffering < 0 and raw.isatty())
    if buffering > 1 or buffering == 0:
        return buffering, by_lines
    size = notes.call("blksize", lambda: raw._blksize, ())
    usual: int = _io.DEFAULT_BUFFER_SIZE
    if sys.version_info >= (3, 14):
        return max(min(size, _LARGEST_BUFFER), usual), by_lines
    return size if size > 1 else usual, by_lines


def opening_code(notes: NotedCalls, raw_type: Any) -> Callable[..., Any]:  # noqa: ANN401 - a class
    """Return what stands for `open_code`."""

    @unseen
    def open_code(real: Any, /, path: str) -> Any:  # noqa: ANN401 - as in C
        if not state.is_of_program:
            return real(path)
        raw = raw_type(path, "r")
        return _io.BufferedReader(raw, _buffer(notes, raw, -1)[0])

    return open_code
