"""Errors of the engine inside the program, which it reports to us for the log (`--log`).

The client hears of them by other ways, once: an error response, or an `output` event.
"""

import logging
from typing import Final

import msgspec

from dapkit.protocol import DapkitError, RawJson
from dapkit.protocol.codec import decode_as

log = logging.getLogger(__name__)

LOG_EVENT: Final = "dapkit/log"
"""The event that is for us, and not for the client."""
RELEASED_EVENT: Final = "dapkit/released"
"""The engine cannot continue, has told the client so, and has let the program keep running."""


class _Entry(msgspec.Struct):
    text: str


def write_entry(body: object) -> None:
    """Log an event."""
    try:
        entry = decode_as(_Entry, body if isinstance(body, RawJson) else None)
    except DapkitError as error:
        log.warning("the engine reports an error in an unknown form: %s", error)
    else:
        log.error("inside the program: %s", entry.text)
