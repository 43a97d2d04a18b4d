"""A transcript of a conversation: one JSON object per line, written as the messages pass.

    {"time":0.001734,"from":"client","message":{"seq":1,"type":"request",...}}
    {"time":0.004125,"from":"adapter","problem":"found ... expected ..."}

`time` is in seconds since the recorder was made. `message` has the bytes on the wire, except for line breaks between
tokens, which become spaces. Where a sender's bytes make no frame, or a frame no JSON, `problem` says so,
with the payload in `text` if there is one.

A message that a proxy has put in place of another follows it, without `message` if the message was dropped:

    {"time":0.004131,"from":"proxy","to":"client","in_place_of":3,"message":{"seq":3,...}}
"""

import json
import logging
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from dapkit.endpoint import Role
from dapkit.system.files import open_private
from dapkit.transport.wire_buffer import FrameSplitter

log = logging.getLogger(__name__)

_LINE_BREAKS = bytes.maketrans(b"\r\n", b"  ")


class Recorder:
    """Writes the transcript of one connection; give it to a `Connection` as its tap.

    The file is replaced, and readable by its owner only: conversations contain data of programs. A file that cannot be
    written any more ends the recording, not the conversation.

    Args:
        path: the file to write.
        role: which end the connection is.

    Example:
        with Recorder(Path("session.jsonl"), role=Role.CLIENT) as recorder:
            async with Connection(stream, Endpoint(Role.CLIENT), tap=recorder) as connection:
                ...

    """

    def __init__(self, path: Path, *, role: Role) -> None:
        self._path = path
        self._start = time.monotonic()
        self._lanes = {"sent": FrameSplitter(role), "received": FrameSplitter(role.peer)}
        self._file: int | None = open_private(path, os.O_WRONLY | os.O_TRUNC)

    def __enter__(self) -> Self:
        """Record until the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; later messages are not recorded."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __call__(self, direction: Literal["sent", "received"], data: bytes) -> None:
        """Record the messages that these bytes complete."""
        if self._file is None:
            return
        passed = time.monotonic() - self._start
        lane = self._lanes[direction]
        for payload, problem in lane.messages(data):
            entry = _entry(payload) if problem is None else b'"problem":%b' % json.dumps(problem).encode()
            self._write(b'{"time":%.6f,"from":"%b",%b}\n' % (passed, str(lane.sender).encode(), entry))

    def replaced(self, seq: int, payload: bytes | None, *, to: Role) -> None:
        """Record the message that a proxy has put in place of another, or that it has dropped it."""
        passed = time.monotonic() - self._start
        head = b'{"time":%.6f,"from":"proxy","to":"%b","in_place_of":%d' % (passed, str(to).encode(), seq)
        self._write(head + (b"" if payload is None else b"," + _entry(payload)) + b"}\n")

    def _write(self, line: bytes) -> None:
        if self._file is None:
            return
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            log.warning("the transcript %s ends here: %s", self._path, error.strerror)
            self.close()


def _entry(payload: bytes) -> bytes:
    try:
        json.loads(payload)
    except (ValueError, RecursionError) as error:
        text = payload.decode(errors="backslashreplace")
        return b'"problem":%b,"text":%b' % (json.dumps(f"no JSON: {error}").encode(), json.dumps(text).encode())
    return b'"message":%b' % payload.translate(_LINE_BREAKS)
