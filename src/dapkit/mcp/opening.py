"""The opening of a conversation on standard streams: `initialize` is answered before the server is imported.

A client waits for this answer, and imports take most of the time until then.
"""

import json
from typing import Any, BinaryIO, Final

from dapkit import __version__
from dapkit.agent import skill

type Json = dict[str, Any]

VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of the protocol with the messages of the server, the newest first, which a client of another is offered."""

TITLE: Final = "dapkit debugger"


def server_info() -> Json:
    """Return the name and the version of the server."""
    return {"name": "dapkit", "title": TITLE, "version": __version__}


def initialized(params: Json) -> Json:
    """Return the result of `initialize`."""
    version = params.get("protocolVersion")
    return {
        "protocolVersion": version if version in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": server_info(),
        "instructions": skill.opening(),
    }


def line_of(message: Json) -> bytes:
    """Return a message as it is sent."""
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def answer_opening(reads: BinaryIO, writes: BinaryIO, most: int) -> bytes:
    """Answer the first message if it is a plain `initialize`; return the line of any other, for the server.

    Args:
        reads: the messages of the client, each in a line.
        writes: the messages of the server.
        most: bytes of a line that are read.

    """
    line = reads.readline(most + 1)
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    match message:
        case {"jsonrpc": "2.0", "method": "initialize", "id": int() | str() as number, "params": dict() as params}:
            writes.write(line_of({"id": number, "result": initialized(params)}))
            writes.flush()
            return b""
        case _:
            return line
