"""Texts of modules in zip archives, read without `zipimport`, which would import `zlib` for the program."""

import os
from typing import Final

from .decoding import decoded

_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_COMMENT_BYTES: Final = 0xFFFF
_ENTRY: Final = b"PK\x01\x02"
_ENTRY_BYTES: Final = 46
_HEADER_BYTES: Final = 30
_STORED: Final = 0
_DEFLATED: Final = 8


def archive_member(path: str) -> str | None:
    """Return the text of a member of a zip archive, from a path that leads into it."""
    archive = os.path.dirname(path)
    while archive not in ("", "/") and not os.path.exists(archive):
        archive = os.path.dirname(archive)
    if not os.path.isfile(archive):
        return None
    try:
        content = _member(archive, path[len(archive) + 1 :].encode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
    return None if content is None else decoded(content)


def _member(archive: str, name: bytes) -> bytes | None:
    """Read one member: the directory of an archive stands at its end, and says where its members begin."""
    with open(archive, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _END_BYTES - _COMMENT_BYTES))
        tail = file.read()
        at = tail.rfind(_END)
        if at < 0 or len(tail) < at + _END_BYTES:
            return None
        length = _number(tail, at + 12, 4)
        begin = size - len(tail) + at - length
        shift = begin - _number(tail, at + 16, 4)  # the text before the archive, as in a zipapp
        file.seek(max(0, begin))
        directory = file.read(length)
        at = 0
        while directory[at : at + 4] == _ENTRY:
            texts = [_number(directory, at + field, 2) for field in (28, 30, 32)]  # name, extra, comment
            if texts[0] == len(name) and directory.startswith(name, at + _ENTRY_BYTES):
                method, packed = _number(directory, at + 10, 2), _number(directory, at + 20, 4)
                file.seek(shift + _number(directory, at + 42, 4))
                header = file.read(_HEADER_BYTES)
                file.seek(_number(header, 26, 2) + _number(header, 28, 2), os.SEEK_CUR)
                return _unpacked(file.read(packed), method)
            at += _ENTRY_BYTES + sum(texts)
    return None


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "little")


def _unpacked(data: bytes, method: int) -> bytes | None:
    if method == _STORED:
        return data
    if method != _DEFLATED:
        return None
    import zlib

    try:
        return zlib.decompress(data, -15)  # without the header of zlib
    except zlib.error:
        return None
