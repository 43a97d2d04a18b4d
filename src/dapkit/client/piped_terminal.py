"""The substitute for a terminal on Windows: pipes, which the program sees as such, and no window.

A pseudo-console (ConPTY) would answer `isatty`; it is not used, since nothing here could test it.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import anyio
from anyio.abc import ByteSendStream

from dapkit.client.started_terminal import StartedTerminal, environment_of
from dapkit.protocol import RunInTerminalRequestArguments
from dapkit.system.started_processes import NO_WINDOW, start_to_empty
from dapkit.transport import CannotStart
from dapkit.transport.descriptors import DescriptorWriter
from dapkit.transport.pumps import reader_of, writer_of

_END_OF_INPUT = b"\x04"


def start(request: RunInTerminalRequestArguments, program_input: Path | None) -> StartedTerminal:
    """Start the program. Raises: CannotStart."""
    try:
        opened = None if program_input is None else program_input.open("rb")
    except OSError as error:
        raise CannotStart(f"{program_input} cannot be read as the program's input: {error.strerror}") from error
    try:
        process = subprocess.Popen(
            list(request.args),
            bufsize=0,
            cwd=request.cwd or None,
            env=environment_of(request.env, os.environ),
            stdin=subprocess.PIPE if opened is None else opened,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=NO_WINDOW,
        )
    except OSError as error:
        raise CannotStart(f"{request.args[0]} could not be run in {request.cwd}: {error.strerror}") from error
    finally:
        if opened is not None:
            opened.close()
    process.returncode = 0  # its end is awaited by its handle
    outputs = {_own(process.stdout): "stdout", _own(process.stderr): "stderr"}
    copies = [os.dup(descriptor) for descriptor in outputs]
    return StartedTerminal(
        process.pid,
        tuple((reader_of(descriptor), category) for descriptor, category in outputs.items()),
        _TypedInput(None if process.stdin is None else writer_of(_own(process.stdin))),
        resize=lambda _rows, _columns: None,  # pipes have no size
        leave=lambda goes_on: _leave(copies, goes_on=goes_on),
        process=process,
    )


class _TypedInput(ByteSendStream):
    """Typed text: the end of input at its end closes the pipe, as Ctrl-D does in a terminal."""

    def __init__(self, pipe: DescriptorWriter | None) -> None:
        self._pipe = pipe

    async def send(self, item: bytes) -> None:
        if self._pipe is None:
            raise anyio.ClosedResourceError
        if text := item.removesuffix(_END_OF_INPUT):
            await self._pipe.send(text)
        if text != item:
            await self.aclose()

    async def aclose(self) -> None:
        if self._pipe is not None:
            pipe, self._pipe = self._pipe, None
            await pipe.aclose()


def _own(pipe: IO[bytes] | None) -> int:
    """Return our end of a pipe, as a descriptor of our own."""
    assert pipe is not None  # noqa: S101 - Popen has made it
    with pipe:
        return os.dup(pipe.fileno())


def _leave(descriptors: Sequence[int], *, goes_on: bool) -> None:
    for descriptor in descriptors:
        if goes_on:
            start_to_empty(descriptor)
        os.close(descriptor)
