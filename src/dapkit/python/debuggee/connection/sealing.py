"""Authenticated bytes over a TCP connection, as `dapkit.transport.sealing` describes them.

It stands in the place of TLS (`tls`), with the same methods: a connection that speaks TLS needs no records.
"""

from _operator import _compare_digest  # the C half of `hmac.compare_digest`

from ..interpreter.gc_tracking import untrack
from .tokens import Keyed

_LENGTH_BYTES = 4
_TAG_BYTES = 32
_RECORD_BYTES = 1 << 18


class RecordSeal:
    """The records of one end.

    Invariant: `_rest` has less than one whole record between two calls of `take`.
    """

    def __init__(self, sending: bytes, receiving: bytes) -> None:
        """Take the key of the records that this end sends, and the key of the other end."""
        self._sending, self._receiving = Keyed(sending), Keyed(receiving)
        self._next_sent = 0
        self._next_received = 0
        self._rest = bytearray()
        untrack(self)

    def take(self, data: bytes) -> bytes:
        """Take bytes from the other end; return the data of the records that they complete.

        Raises:
            OSError: a record does not come from the other end, or not in this order.

        """
        rest = self._rest
        rest += data
        plain = b""
        while len(rest) >= _LENGTH_BYTES:
            length = int.from_bytes(rest[:_LENGTH_BYTES], "big")
            if length > _RECORD_BYTES:
                raise OSError("a record is too long: it was not sent by the other end")
            end = _LENGTH_BYTES + length
            if len(rest) < end + _TAG_BYTES:
                break
            part = bytes(rest[_LENGTH_BYTES:end])
            if not _compare_digest(bytes(rest[end : end + _TAG_BYTES]), self._receiving.tag(self._next_received, part)):
                raise OSError("a record was not sent by the other end")
            del rest[: end + _TAG_BYTES]
            self._next_received += 1
            plain += part
        return plain

    def wrap(self, data: bytes) -> bytes:
        """Return the records for some data."""
        records: list[bytes] = []
        for start in range(0, len(data), _RECORD_BYTES):
            part = data[start : start + _RECORD_BYTES]
            records += [len(part).to_bytes(_LENGTH_BYTES, "big"), part, self._sending.tag(self._next_sent, part)]
            self._next_sent += 1
        return b"".join(records)

    def outgoing(self) -> bytes:
        """Return the bytes to send so far: only TLS has any of its own."""
        return b""
