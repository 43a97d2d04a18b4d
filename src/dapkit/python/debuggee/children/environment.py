"""The environment that a program is started with, as lines of bytes, as the system has it.

The program's arguments are read as the interpreter's functions in C read them. Arguments that they refuse raise an
`OddArgument` and are left to them, so that the error is theirs.
"""

import sys
from typing import Any, Final

from ..interpreter import native
from ..interpreter.safe_types import defined, is_a

PATH: Final = b"PYTHONPATH"

type Variables = dict[bytes, bytes]


class OddArgument(Exception):
    """The program's value cannot be used to start a child."""


def inherited() -> list[bytes]:
    """Return the environment that children of this process inherit.

    Raises:
        OddArgument: that is not known.

    """
    known = native.environment()
    if known is not None:
        return known
    return [name + b"=" + value for name, value in mapping(getattr(sys.modules.get("os"), "environ", None)).items()]


def inherited_mapping() -> Variables:
    """Return that as a mapping; of a name that is there twice, the first value counts.

    Raises:
        OddArgument: it is not a mapping.

    """
    found: Variables = {}
    for line in inherited():
        name, equals, value = line.partition(b"=")
        if not name or not equals:
            raise OddArgument
        found.setdefault(name, value)
    return found


def mapping(given: Any) -> Variables:  # noqa: ANN401 - a value of the program
    """Return a copy of a mapping of the program's.

    Raises:
        OddArgument: it is not an environment.

    """
    if defined(type(given), "__getitem__") is None:
        raise OddArgument
    try:
        count, names, values = len(given), list(given.keys()), list(given.values())
    except Exception as error:  # of the program's code
        raise OddArgument from error
    found = dict(zip(map(encoded, names), map(encoded, values), strict=False))
    if not count == len(names) == len(values) == len(found) or any(not name or b"=" in name for name in found):
        raise OddArgument
    return found


def value_in(lines: list[bytes], name: bytes) -> bytes:
    """Return the value of a variable, nothing if it is not there."""
    return next((line.partition(b"=")[2] for line in lines if line.startswith(name + b"=")), b"")


def lines_with(way: Variables, lines: list[bytes]) -> list[bytes]:
    """Return the lines with some variables changed."""
    others = [line for line in lines if line.partition(b"=")[0] not in way]
    return [*others, *(name + b"=" + value for name, value in way.items())]


def encoded(given: Any) -> bytes:  # noqa: ANN401 - a value of the program
    """Return a text, bytes, or the path that something has, as the system has it.

    Raises:
        OddArgument: it has none of these types, or the system cannot have it.

    """
    named = given
    if not is_a(given, str, bytes):
        try:
            named = type(given).__fspath__(given)
        except Exception as error:  # it does not exist, or belongs to the program's code
            raise OddArgument from error
    if is_a(named, str):
        try:
            found = str.encode(named, sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
        except UnicodeEncodeError as error:
            raise OddArgument from error
    elif is_a(named, bytes):
        found = bytes.__getitem__(named, slice(None))
    else:
        raise OddArgument
    if b"\0" in found:
        raise OddArgument
    return found


def decoded(given: Any) -> str:  # noqa: ANN401 - a value of the program
    """Return that as a text.

    Raises:
        OddArgument: as above.

    """
    return encoded(given).decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
