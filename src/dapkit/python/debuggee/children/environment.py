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
    variables = native.environment()
    if variables is not None:
        return variables
    return [name + b"=" + value for name, value in mapping(getattr(sys.modules.get("os"), "environ", None)).items()]


def inherited_mapping() -> Variables:
    """Return that as a mapping; of a name that is there twice, the first value counts.

    Raises:
        OddArgument: it is not a mapping.

    """
    variables: Variables = {}
    for line in inherited():
        name, equals, value = line.partition(b"=")
        if not name or not equals:
            raise OddArgument
        variables.setdefault(name, value)
    return variables


def mapping(value: Any) -> Variables:  # noqa: ANN401 - a value of the program
    """Return a copy of a mapping of the program's.

    Raises:
        OddArgument: it is not an environment.

    """
    if defined(type(value), "__getitem__") is None:
        raise OddArgument
    try:
        count, names, values = len(value), list(value.keys()), list(value.values())
    except Exception as error:  # of the program's code
        raise OddArgument from error
    variables = dict(zip(map(encoded, names), map(encoded, values), strict=False))
    if not count == len(names) == len(values) == len(variables) or any(not name or b"=" in name for name in variables):
        raise OddArgument
    return variables


def value_in(lines: list[bytes], name: bytes) -> bytes:
    """Return the value of a variable, nothing if it is not there."""
    return next((line.partition(b"=")[2] for line in lines if line.startswith(name + b"=")), b"")


def lines_with(way: Variables, lines: list[bytes]) -> list[bytes]:
    """Return the lines with some variables changed."""
    others = [line for line in lines if line.partition(b"=")[0] not in way]
    return [*others, *(name + b"=" + value for name, value in way.items())]


def encoded(value: Any) -> bytes:  # noqa: ANN401 - a value of the program
    """Return a text, bytes, or the path that something has, as the system has it.

    Raises:
        OddArgument: it has none of these types, or the system cannot have it.

    """
    path = value
    if not is_a(value, str, bytes):
        try:
            path = type(value).__fspath__(value)
        except Exception as error:  # it does not exist, or belongs to the program's code
            raise OddArgument from error
    if is_a(path, str):
        try:
            data = str.encode(path, sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
        except UnicodeEncodeError as error:
            raise OddArgument from error
    elif is_a(path, bytes):
        data = bytes.__getitem__(path, slice(None))
    else:
        raise OddArgument
    if b"\0" in data:
        raise OddArgument
    return data


def decoded(value: Any) -> str:  # noqa: ANN401 - a value of the program
    """Return that as a text.

    Raises:
        OddArgument: as above.

    """
    return encoded(value).decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
