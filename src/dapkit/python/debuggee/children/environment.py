"""The environment that a program is started with, as lines of bytes, as the system has it."""

import sys
from typing import Any, Final

from .. import native

PATH: Final = b"PYTHONPATH"

type Variables = dict[bytes, bytes]


def inherited() -> list[bytes]:
    """Return what children of this process inherit."""
    known = native.environment()
    if known is not None:
        return known
    return [name + b"=" + value for name, value in mapping(getattr(sys.modules.get("os"), "environ", {})).items()]


def mapping(given: Any) -> Variables:  # noqa: ANN401 - what the program gives
    """Return a copy of a mapping of the program's, right or wrong; None stands for what is inherited."""
    if given is not None:
        return {_encoded(name): _encoded(given[name]) for name in given}
    pairs = [line.partition(b"=") for line in inherited()]
    return {name: value for name, _, value in pairs}


def path_in(lines: list[bytes]) -> bytes:
    """Return the value of PYTHONPATH."""
    return next((line.partition(b"=")[2] for line in lines if line.startswith(PATH + b"=")), b"")


def lines_with(way: Variables, lines: list[bytes]) -> list[bytes]:
    """Return the lines with some variables changed."""
    others = [line for line in lines if not line.startswith(PATH + b"=")]
    return [*others, *(name + b"=" + value for name, value in way.items())]


def decoded(given: Any) -> str:  # noqa: ANN401 - what the program gives: a text, bytes, or what has a path
    """Return what the program gives as a text."""
    named = given.__fspath__() if hasattr(given, "__fspath__") else given
    return named if isinstance(named, str) else bytes(named).decode("utf-8", "surrogateescape")


def _encoded(given: Any) -> bytes:  # noqa: ANN401 - as above
    named = given.__fspath__() if hasattr(given, "__fspath__") else given
    return named.encode("utf-8", "surrogateescape") if isinstance(named, str) else bytes(named)
