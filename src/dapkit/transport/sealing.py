"""Authenticated bytes over a TCP connection: a process between its two ends cannot add, change or repeat any.

Once both ends have proved that they know the token (`authentication`), everything is sent in records:

    LENGTH (4 bytes, the most significant first)  DATA (LENGTH bytes)  TAG (32 bytes)

TAG is the HMAC-SHA256 over COUNTER, LENGTH and DATA. COUNTER is the number of the record in its direction, from 0, in
8 bytes. The key is `proof_of` as bytes, for the role `client records` or `server records`, by the end that sends. It is
made from the token and both nonces, so that it differs for each connection and direction. A connection that speaks TLS
has no records. The engine has the same (`debuggee.connection.sealing`); one table of examples tests both.
"""

import struct
from typing import Final

import anyio
from anyio.abc import ByteStream

from dapkit import limits

_LENGTH: Final = struct.Struct(">I")
_HEAD: Final = struct.Struct(">QI")
_TAG_BYTES: Final = 32
_RECORD_BYTES: Final = 1 << 18
"""The most data in one record."""


class BrokenSealError(Exception):
    """A record that the other end has not sent, or not in this place."""


class Seal:
    """The records of one end, without any input or output.

    Invariant: `_rest` has less than one whole record between two calls of `opened`.

    Args:
        sending: the key of the records that this end sends.
        receiving: the key of the other end.

    """

    def __init__(self, *, sending: bytes, receiving: bytes) -> None:
        self._sending = sending
        self._receiving = receiving
        self._next_sent = 0
        self._next_received = 0
        self._rest = bytearray()

    def sealed(self, data: bytes) -> bytes:
        """Return the records for some data."""
        records: list[bytes] = []
        for start in range(0, len(data), _RECORD_BYTES):
            part = data[start : start + _RECORD_BYTES]
            records += [_LENGTH.pack(len(part)), part, _tag(self._sending, self._next_sent, part)]
            self._next_sent += 1
        return b"".join(records)

    def opened(self, received: bytes) -> bytes:
        """Take bytes from the other end; return the data of the records that they complete.

        Raises:
            BrokenSealError: a record does not come from the other end, or not in this order.

        """
        rest = self._rest
        rest += received
        parts: list[bytes] = []
        while len(rest) >= _LENGTH.size:
            [length] = _LENGTH.unpack_from(rest)
            if length > _RECORD_BYTES:
                raise BrokenSealError
            end = _LENGTH.size + length
            if len(rest) < end + _TAG_BYTES:
                break
            part = bytes(rest[_LENGTH.size : end])
            if not _same(bytes(rest[end : end + _TAG_BYTES]), _tag(self._receiving, self._next_received, part)):
                raise BrokenSealError
            del rest[: end + _TAG_BYTES]
            self._next_received += 1
            parts.append(part)
        return b"".join(parts)


class SealedStream(ByteStream):
    """A stream whose bytes are sent in records.

    Args:
        stream: carries the records.
        seal: the seal of this end.
        early: data that was received already.

    Attributes:
        stream: as above.

    """

    def __init__(self, stream: ByteStream, seal: Seal, early: bytes = b"") -> None:
        self.stream = stream
        self._seal = seal
        self._early = early
        self._data = b""

    async def receive(self, max_bytes: int = limits.READ_CHUNK_BYTES) -> bytes:
        """Take the next bytes.

        Raises:
            BrokenResourceError: the connection is broken, or holds a record that the other end has not sent.

        """
        while not self._data:
            received, self._early = self._early or await self.stream.receive(), b""
            try:
                self._data = self._seal.opened(received)
            except BrokenSealError as error:
                await self.stream.aclose()
                raise anyio.BrokenResourceError from error
        data, self._data = self._data[:max_bytes], self._data[max_bytes:]
        return data

    async def send(self, item: bytes) -> None:
        """Send bytes."""
        await self.stream.send(self._seal.sealed(item))

    async def send_eof(self) -> None:
        """Tell the peer that nothing more comes."""
        await self.stream.send_eof()

    async def aclose(self) -> None:
        """Close the connection."""
        await self.stream.aclose()


def _tag(key: bytes, counter: int, data: bytes) -> bytes:
    import hmac

    return hmac.digest(key, _HEAD.pack(counter, len(data)) + data, "sha256")


def _same(tag: bytes, expected: bytes) -> bool:
    import hmac

    return hmac.compare_digest(tag, expected)
