"""TLS between a program and its debugger, for ports that other machines reach: bytes in, bytes out.

On the C half of `ssl`, which is loaded by the first certificate. The side that listens shows a certificate; the side
that connects must be given one that vouches for it, and the name of the host must be in it. Who knows the token is
proved inside (`tokens`).
"""

import _ssl

from ..interpreter.gc_tracking import untrack

_SERVER, _CLIENT = 17, 16  # PROTOCOL_TLS_SERVER, PROTOCOL_TLS_CLIENT
_OLDEST = 0x0303  # TLS 1.2
_CHUNK_BYTES = 1 << 16


class Tls:
    """One end of a TLS connection.

    Invariant: `_out` holds the bytes that `take` and `wrap` have made for the other end, until `outgoing` hands them
    over.
    """

    def __init__(self, context: "_ssl._SSLContext", *, serves: bool, host: str | None = None) -> None:
        self._in, self._out = untrack(_ssl.MemoryBIO()), untrack(_ssl.MemoryBIO())
        end = context._wrap_bio(self._in, self._out, serves, server_hostname=host)  # type: ignore[attr-defined]
        self._end = untrack(end)
        self.is_open = False
        """Whether the handshake is over."""
        untrack(self)

    def begin(self) -> bytes:
        """Return the first bytes of the connecting side."""
        self._shake_hands()
        return self.outgoing()

    def take(self, data: bytes) -> bytes:
        """Take bytes from the other end; return the decrypted data.

        Raises:
            OSError: it does not speak TLS, or its certificate is not vouched for.

        """
        self._in.write(data)
        if not self.is_open and not self._shake_hands():
            return b""
        plain = b""
        try:
            while part := self._end.read(_CHUNK_BYTES):
                plain += part
        except _ssl.SSLWantReadError:
            pass
        except _ssl.SSLZeroReturnError:
            pass  # the end of the stream follows
        return plain

    def wrap(self, data: bytes) -> bytes:
        """Return the bytes that say something to the other end."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._end.write(rest) :]
        return self.outgoing()

    def outgoing(self) -> bytes:
        """Return the bytes to send so far."""
        return self._out.read()

    def _shake_hands(self) -> bool:
        try:
            self._end.do_handshake()
        except _ssl.SSLWantReadError:
            return False
        self.is_open = True
        return True


def server_context(certificate: str, key: str | None) -> "_ssl._SSLContext":
    """Return the certificate of a listening side, and its key if that is in another file.

    Raises:
        OSError: one of them cannot be read, or they do not fit.

    """
    context = _context(_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def client_context(authority: str) -> "_ssl._SSLContext":
    """Return the check of the connecting side: a file of certificates that vouch for the other side.

    Raises:
        OSError: it cannot be read.

    """
    context = _context(_CLIENT)
    context.load_verify_locations(authority)
    return context


def _context(protocol: int) -> "_ssl._SSLContext":
    context = untrack(_ssl._SSLContext(protocol))
    context.minimum_version = _OLDEST
    return context
