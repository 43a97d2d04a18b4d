"""The format of Go's profiles, as far as they have stacks: https://github.com/google/pprof/blob/main/proto/profile.proto.

A profile is a message of Protocol Buffers, packed by gzip: samples name locations, these lines of functions, and these
numbers of texts.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dapkit.diagnostics import limits

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
