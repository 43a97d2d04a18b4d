"""Bytes of Python files as texts, whatever their encoding, without a look-up of a codec, which may import."""

import sys

_BOM = b"\xef\xbb\xbf"
_BUILT_IN = frozenset(("utf8", "utf_8", "latin_1", "latin1", "iso_8859_1", "iso8859_1", "ascii", "us_ascii"))
"""Encodings, by their normalized names, that `bytes.decode` knows by itself."""


def decoded(content: bytes) -> str:
    """Turn the bytes of a Python file into text, in the encoding that its first lines declare (PEP 263).

    An encoding that the program has not looked up yet is taken for Latin-1, which keeps ASCII and lines as they are.
    """
    if content.startswith(_BOM):
        return content.removeprefix(_BOM).decode("utf-8", "replace")
    encoding = _declared(content)
    if encoding in _BUILT_IN:
        return content.decode(encoding, "replace")
    codec = getattr(sys.modules.get("encodings"), "_cache", {}).get(encoding)
    return content.decode("latin-1") if codec is None else codec.decode(content, "replace")[0]


def _declared(content: bytes) -> str:
    """Return the normalized name of the encoding of a text."""
    for line in content.split(b"\n", 2)[:2]:
        comment, mark, declared = line.partition(b"coding")
        if mark and comment.lstrip().startswith(b"#") and declared[:1] in (b":", b"="):
            name = declared[1:].strip().split()
            return name[0].rstrip(b"-*;,").decode("ascii", "replace").lower().replace("-", "_") if name else "utf_8"
    return "utf_8"
