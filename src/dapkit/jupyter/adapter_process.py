"""The debug adapter of a kernel: a process of its own, to which requests are passed with numbers of dapkit.

Everything runs on the event loop of the kernel's control thread. The adapter ends with the kernel, however that ends.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import anyio

from dapkit.protocol import FrameDecoder, FramingError, encode_frame
from dapkit.transport import CannotStart, ChildProcess, spawn

type Message = dict[str, Any]
"""A message of the protocol as the kernel has it: decoded JSON."""

_COMMAND = (sys.executable, "-P", "-m", "dapkit.python")


class AdapterGone(Exception):  # noqa: N818 - named after the event
    """The adapter has ended, or could not be started."""


class AdapterProcess:
    """One adapter, from its start to its end.

    Args:
        on_message: is given each response and event, in the order of their arrival, before the request returns.

    """

    def __init__(self, on_message: Callable[[Message], None]) -> None:
        self._on_message = on_message
        self._pending: dict[int, asyncio.Future[Message]] = {}
        self._last = 0
        self._child: asyncio.Future[ChildProcess] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._live())

    async def request(self, message: Message) -> Message:
        """Pass a request on, and return the response, both with the number that the sender has given.

        Raises:
            AdapterGone: there is no adapter that could answer.

        """
        try:
            child = await asyncio.shield(self._child)
        except CannotStart as error:
            raise AdapterGone(str(error)) from error
        if self._task.done():
            raise AdapterGone("the debug adapter has ended")
        self._last += 1
        number = self._last
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            await child.stream.send(encode_frame(json.dumps({**message, "type": "request", "seq": number}).encode()))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise AdapterGone("the debug adapter has ended") from error
        return {**await answer, "request_seq": message["seq"]}

    async def end(self) -> None:
        """End the adapter, and wait until it has gone."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self) -> None:
        try:
            async with spawn(_COMMAND) as child:
                self._child.set_result(child)
                await self._read(child)
        except CannotStart as error:
            self._child.set_exception(error)
        finally:
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(AdapterGone("the debug adapter has ended before it could answer"))

    async def _read(self, child: ChildProcess) -> None:
        frames = FrameDecoder()
        try:
            async for data in child.stream:
                for payload in frames.feed(data):
                    self._take(json.loads(payload))
        except (FramingError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # there is nothing more to read; `finally` tells those who wait

    def _take(self, message: Message) -> None:
        self._on_message(message)
        if message["type"] == "response":
            answer = self._pending.pop(message["request_seq"], None)
            if answer is not None and not answer.done():
                answer.set_result(message)
