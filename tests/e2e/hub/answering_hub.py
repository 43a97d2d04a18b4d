"""A hub with a handler of a few lines: what a caller, a connection and a process need to be tested with.

python answering_hub.py [VERSION]
"""

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from dapkit.hub import wire
from dapkit.hub.calls import HubCall
from dapkit.hub.daemon import run
from dapkit.settings import Settings
from dapkit.system.signals import KILL


class Answering:
    """Answers by the name of the call.

    Attributes:
        held: how many things live that would be lost.

    """

    def __init__(self) -> None:
        self.held = 0
        self._cancelled = 0
        self._waiting = 0

    def busy(self) -> bool:
        return self.held > 0

    async def handle(self, call: HubCall) -> dict[str, object]:
        result: dict[str, object] = {}
        match call.name:
            case "echo" | "launch":
                result = {
                    "arguments": dict(call.arguments),
                    "project": str(call.project),
                    "session": call.session,
                    "read_only": call.read_only,
                    "env": None if call.env is None else dict(call.env),
                    "timeout": call.settings.request_timeout_seconds,
                    "pid": os.getpid(),
                }
            case "surroundings":
                result = surroundings()
            case "wait" | "linger":
                await self._wait(call)
            case "counts":
                result = {"waiting": self._waiting, "cancelled": self._cancelled}
            case "hold":
                self.held += 1
            case "release":
                self.held -= 1
            case "fail":
                raise RuntimeError("this is how it fails")
            case "unfit":
                result = {"value": object()}
            case "die":
                os.kill(os.getpid(), KILL)
        return result

    async def _wait(self, call: HubCall) -> None:
        self._waiting += 1
        call.report("waiting", 50.0)
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self._cancelled += 1
            with anyio.move_on_after(1 if call.name == "linger" else 0, shield=True):
                await anyio.sleep_forever()
            raise
        finally:
            self._waiting -= 1


def surroundings() -> dict[str, object]:
    return {
        "cwd": str(Path.cwd()),
        "stdin": str(Path("/proc/self/fd/0").readlink()),
        "stdout": str(Path("/proc/self/fd/1").readlink()),
        "session": os.getsid(0),
    }


@asynccontextmanager
async def answering(_settings: Settings) -> AsyncIterator[Answering]:
    yield Answering()


def main(arguments: Sequence[str]) -> None:
    if arguments:
        wire.VERSION = arguments[0]
    run(answering)


if __name__ == "__main__":
    main(sys.argv[1:])
