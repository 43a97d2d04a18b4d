"""The messages that one end of a conversation sends, cut out of its bytes as they pass."""

from dapkit.endpoint import Role
from dapkit.protocol import FrameDecoder, FramingError


class FrameSplitter:
    """The frames of one sender.

    Attributes:
        sender: which end it is.

    """

    def __init__(self, sender: Role) -> None:
        self.sender = sender
        self._frames = FrameDecoder()
        self._broken = False

    def messages(self, data: bytes) -> list[tuple[bytes, str | None]]:
        """Return the messages that these bytes complete.

        Each is the payload of a frame, and None. Bytes that make no frame are an empty payload, and a fault; no later
        bytes are understood any more.
        """
        if self._broken:
            return []
        try:
            return [(payload, None) for payload in self._frames.feed(data)]
        except FramingError as error:
            self._broken = True
            return [*((payload, None) for payload in error.payloads), (b"", str(error))]
