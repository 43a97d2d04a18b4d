"""Constants in files of machine code: the version of the interpreter in a file, without running it."""

import struct
from pathlib import Path

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
