"""The protocol between a caller and the hub: one JSON object a line, both ways.

    hub      {"hub":"dapkit","protocol":1,"version":"0.1.0","pid":4711}               once, at the beginning
    caller   {"id":1,"call":"step_over","arguments":{},"project":"/abs/path",
              "session":"name"|null,"read_only":false,"env":{...},"overrides":{...}}
    hub      {"id":1,"progress":{"message":"...","percentage":40}}                    any number of times
    hub      {"id":1,"result":{...}}                                                  once, or
             {"id":1,"error":{"code":"...","message":"...","hint":"..."}}
    caller   {"cancel":1}                                                             gives a call up

`env` is the caller's own environment, sent only with calls that start a program; `overrides` are its variables that
replace settings. Calls whose names begin with `hub.` are answered by the hub itself. A caller that disconnects gives up
all its calls. Neither the first line nor `hub.stop` may ever change: by them a hub of
another version is recognised, and ended.
"""

import json

from dapkit import __version__
from dapkit.hub import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROTOCOL = 1
"""Version of this protocol; a hub with another one cannot be called."""

VERSION = __version__
"""Version of this side; a hub of another one is not called."""

STARTING = frozenset({"launch", "attach", "restart", "core", "run", "compare_runs"})
"""Calls that start an adapter, which is looked for in PATH of the caller and gets the caller's environment."""

STATUS = "hub.status"
STOP = "hub.stop"
ENDING = "hub_ending"
"""Code of the refusal of a hub that is about to end: the call was not begun, and another hub will do it."""


class BadLine(ValueError):  # noqa: N818 - it is the line that is bad
    """A line that is not a message, or is too long."""


def encode(message: "Mapping[str, object]") -> bytes:
    """Make a line of a message.

    Raises:
        ValueError, TypeError, RecursionError: it holds something that has no form in JSON.

    """
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes | bytearray) -> dict[str, object]:
    """Read a message from a line.

    Raises:
        BadLine: it is not a JSON object.

    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"a line is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise BadLine(f"a line is not a JSON object, but {type(message).__name__}")
    return message


class LineBuffer:
    """Cuts bytes into lines of at most `limits.HUB_LINE_BYTES`."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytearray]:
        """Take more bytes, return the lines that are complete now.

        Raises:
            BadLine: a line is too long; nothing can be read from here on.

        """
        lines: list[bytearray] = []
        self._rest += data
        if b"\n" in data:
            *lines, self._rest = self._rest.split(b"\n")
        if any(len(line) > limits.HUB_LINE_BYTES for line in (*lines, self._rest)):
            raise BadLine(f"a line is longer than {limits.HUB_LINE_BYTES} bytes")
        return [line for line in lines if line]
