"""Tokens of ports: made, proved, and kept in files that only our own user can reach.

The names of the files and the proofs follow the rule of the adapter (`dapkit.transport.private_files`,
`dapkit.transport.authentication`), so that each finds the other's files, and accepts its proofs.
"""

import os
import stat
from _operator import _compare_digest  # the C half of `hmac.compare_digest`
from binascii import b2a_base64

try:  # the modules that `hashlib` uses without OpenSSL, whose import takes milliseconds
    from _sha2 import sha256  # type: ignore[import-not-found]  # the typeshed has the public modules only
except ImportError:  # a Python that was built without it
    from _hashlib import openssl_sha256 as sha256

from ..interpreter import limits
from ..interpreter.gc_tracking import untrack
from ..system import NO_LINK, READ_ONLY, lock, locked_folder, openness

_BLOCK_BYTES = 64
_NONCE_DIGITS = 64


def make() -> str:
    """Make a secret that cannot be guessed."""
    text = b2a_base64(os.urandom(32), newline=False).decode()
    return text.rstrip("=").replace("+", "-").replace("/", "_")


def make_nonce() -> str:
    """Make a nonce that the other end must put into its proof."""
    return os.urandom(_NONCE_DIGITS // 2).hex()


def is_nonce(value: object) -> bool:
    """Return whether a value is a valid nonce of the other end."""
    return isinstance(value, str) and len(value) == _NONCE_DIGITS and set(value) <= set("0123456789abcdef")


def proof_of(role: str, token: str, port: int, client_nonce: str, server_nonce: str) -> str:
    """Return the proof that this side knows the token, for these nonces: an HMAC (RFC 2104), with SHA-256."""
    statement = f"dapkit {role} {port} {client_nonce} {server_nonce}".encode()
    return Keyed(token.encode("utf-8", "surrogatepass")).digest(statement).hex()


def record_keys(token: str, port: int, client_nonce: str, server_nonce: str) -> tuple[bytes, bytes]:
    """Return the keys of the records that the client sends, and of those that the server sends (`sealing`)."""
    roles = ("client records", "server records")
    client, server = (bytes.fromhex(proof_of(role, token, port, client_nonce, server_nonce)) for role in roles)
    return client, server


class Keyed:
    """An HMAC with SHA-256 and one key (RFC 2104)."""

    def __init__(self, key: bytes) -> None:
        if len(key) > _BLOCK_BYTES:
            key = sha256(key).digest()
        key = key.ljust(_BLOCK_BYTES, b"\0")
        self._inner = untrack(sha256(bytes(byte ^ 0x36 for byte in key)))
        self._outer = untrack(sha256(bytes(byte ^ 0x5C for byte in key)))
        untrack(self)

    def digest(self, *parts: bytes) -> bytes:
        """Return the digest of some data, given in parts."""
        inner, outer = self._inner.copy(), self._outer.copy()
        for part in parts:
            inner.update(part)
        outer.update(inner.digest())
        digest: bytes = outer.digest()
        return digest

    def tag(self, counter: int, data: bytes) -> bytes:
        """Return the tag of a record (`sealing`)."""
        return self.digest(counter.to_bytes(8, "big") + len(data).to_bytes(4, "big"), data)


def same(proof: object, expected: str) -> bool:
    """Compare a proof with the right one, in a time that does not depend on how much of it is right."""
    return isinstance(proof, str) and _compare_digest(proof.encode("utf-8", "surrogatepass"), expected.encode())


def leave(token: str, place: tuple[str, int], folder: str) -> tuple[str, int]:
    """Leave a token for processes of our user that connect to an address and port; return the file, open and locked.

    It stays so for as long as it is of use: files that are not locked were left by programs that were killed, and
    are removed here.
    """
    path = os.path.join(folder, _name(*place))
    of_folder = locked_folder(folder)
    try:
        for name in os.listdir(folder):
            if name.startswith("port-") and name.endswith(".token"):
                _remove_unless_held(os.path.join(folder, name))
        if os.path.lexists(path):
            os.unlink(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        lock(handle)
    finally:
        os.close(of_folder)
    os.write(handle, token.encode())
    return path, handle


def find(place: tuple[str, int], folders: list[str]) -> str | None:
    """Return the token that a debugger which waits at an address and port has left in one of these folders."""
    host, port = place
    for folder in folders:
        for address in (host, "::" if ":" in host else "0.0.0.0"):  # noqa: S104 - it listens at all addresses
            path = os.path.join(folder, _name(address, port))
            if os.path.exists(path) and _is_held(path):
                return read(path)
    return None


def read(path: str) -> str:
    """Return the token in a file.

    Raises:
        ValueError: others can read the file, or it holds none.
        OSError: it cannot be read.

    """
    handle = os.open(path, READ_ONLY)
    try:
        _need_private(path, os.fstat(handle))
        text = os.read(handle, limits.TOKEN_MESSAGE_BYTES)
    finally:
        os.close(handle)
    token = text.decode("ascii", "replace").strip()
    if not token or not token.isascii():
        raise ValueError(f"{path} holds no token: expected one line of ASCII")
    return token


def _name(address: str, port: int) -> str:
    """Return the name of the file for an address and port."""
    where = "" if address in ("127.0.0.1", "localhost") else f"-{address.replace(':', '_')}"
    return f"port-{port}{where}.token"


def _is_held(path: str) -> bool:
    try:
        handle = os.open(path, READ_ONLY | NO_LINK)
    except OSError:  # its owner has just removed it
        return False
    try:
        return not lock(handle, waits=False)  # the process that left it still runs
    finally:
        os.close(handle)


def _remove_unless_held(path: str) -> None:
    if not _is_held(path):
        try:
            os.unlink(path)
        except OSError:
            return  # its owner has just removed it


def _need_private(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a regular file")
    if (problem := openness(status)) is not None:
        raise ValueError(f"{path} {problem}")
