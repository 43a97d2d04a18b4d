"""The thread that reads messages for a screen: one page at a time, and never ahead of it."""

import logging
import threading
from collections.abc import Callable

from dapkit.agent.results.diagnostics import WireRecords
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.wire_sources import WireReader, WireSource

log = logging.getLogger(__name__)

type Take = Callable[["WireFollower", WireRecords], object]
type End = Callable[["WireFollower", str], object]


class WireFollower:
    """Follows one source.

    Args:
        source: whose messages are read.
        take: called in the thread with each page; the next one is read when `taken` was called.
        ended: called in the thread at the end, with the error if there is one, else with an empty text.

    """

    def __init__(self, source: WireSource, *, take: Take, ended: End) -> None:
        self.source = source
        self._take = take
        self._ended = ended
        self._left = threading.Event()
        self._room = threading.Event()
        self._reader: WireReader | None = None

    def run(self) -> None:
        """Read until no more messages can come, or `leave` was called."""
        try:
            with WireReader(self.source) as reader:
                self._reader = reader
                for page in () if self._left.is_set() else reader.pages(follow=True):
                    self._room.clear()
                    if self._left.is_set():
                        return
                    self._take(self, page)
                    self._room.wait()
            self._ended(self, "")
        except DiagnosticsError as error:
            self._ended(self, str(error))
        except Exception as error:
            log.exception("the messages of %s cannot be followed because of an internal error", self.source.title)
            self._ended(self, f"Internal error: {type(error).__name__}: {error}")

    def taken(self) -> None:
        """Read the next page."""
        self._room.set()

    def leave(self) -> None:
        """Let the thread end now, whatever it waits for."""
        self._left.set()
        self._room.set()
        if self._reader is not None:
            self._reader.interrupt()
