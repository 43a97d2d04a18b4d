"""Checksums of source files, as the protocol's Source carries them."""

import os

from ..connection.framing import Json

ALGORITHMS = ["SHA256", "MD5", "timestamp"]

_known: dict[str, tuple[int, int, list[Json]]] = {}


def checksums_of(path: str) -> list[Json]:
    """Return the checksums of a file as it is now; none if it cannot be read.

    `timestamp` is the time of its last change in seconds.
    """
    try:
        status = os.stat(path)
        earlier = _known.get(path)
        if earlier is not None and earlier[:2] == (status.st_mtime_ns, status.st_size):
            return earlier[2]
        with open(path, "rb") as file:
            content = file.read()
    except (OSError, ValueError):
        return []
    # The C modules themselves: `hashlib` would load OpenSSL into the program.
    from _md5 import md5  # type: ignore[import-not-found]  # has no stub
    from _sha2 import sha256  # type: ignore[import-not-found]  # the same

    checksums: list[Json] = [
        {"algorithm": "SHA256", "checksum": sha256(content).hexdigest()},
        {"algorithm": "MD5", "checksum": md5(content).hexdigest()},
        {"algorithm": "timestamp", "checksum": str(int(status.st_mtime))},
    ]
    _known[path] = (status.st_mtime_ns, status.st_size, checksums)
    return checksums
