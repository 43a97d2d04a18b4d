"""Notes of a recording, as the debugger's C extension has written them: `log.c` and `LogHead` in `time_travel.h`."""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

type Bytes = mmap.mmap | bytes

_NOTE: Final = struct.Struct("<IIQQQqqQ")
_NUMBER: Final = struct.Struct("<Q")
_NAMES: Final = 96
_NAME_BYTES: Final = 32
_MOST_NAMES: Final = 1024
"""The head has the number of names of calls, and then the names."""
FIRST_NOTE: Final = _NAMES + 8 + _NAME_BYTES * _MOST_NAMES
"""Where the first note begins: the size of the head."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the notes.

    Attributes:
        end: where the notes end, in bytes from the beginning of the head.
        exit: 0, or 1 more than the exit code of a process that has ended by itself, or `EXECUTED`.
        collections: how many collections of garbage there were.
        why: the recording ended before the program, for this reason; empty if not.

    """

    end: int
    exit: int
    collections: int
    why: str


EXECUTED: Final = (1 << 64) - 1
"""Another program has taken the place of the recorded one."""


def head_of(notes: Bytes) -> Head:
    """Read the head of notes."""
    end, code, collections = struct.unpack_from("<QQQ", notes)
    return Head(end, code, collections, notes[32:_NAMES].partition(b"\0")[0].decode("utf-8", "replace"))


def data_of_calls(notes: Bytes, call: str, first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield, for each note of a call in a range, its result, and the place and size of the first data that it has."""
    call_number = _number_of(notes, call)
    place = first
    while place + _NOTE.size <= end:
        size, parts, number, _, _, result, _, _ = _NOTE.unpack_from(notes, place)
        if size < _NOTE.size:
            return
        if number == call_number and parts:
            data = place + _NOTE.size + _NUMBER.size
            yield result, data, _NUMBER.unpack_from(notes, place + _NOTE.size)[0]
        place += size


def _number_of(notes: Bytes, call: str) -> int:
    (count,) = _NUMBER.unpack_from(notes, _NAMES)
    for number in range(min(count, _MOST_NAMES)):
        begin = _NAMES + 8 + number * _NAME_BYTES
        if notes[begin : begin + _NAME_BYTES].partition(b"\0")[0] == call.encode():
            return number
    return -1
