"""Having clients come to a program that runs already: `python -m dapkit --listen PORT --pid PID`."""

import os
from collections.abc import Mapping
from pathlib import Path

import anyio

from dapkit.adapter import RequestFailed
from dapkit.python import limits
from dapkit.python.adapter.injection.injector import Ways, bring
from dapkit.python.adapter.injection.target import TargetProcess, look_at
from dapkit.python.debuggee.starting.injected import ANSWER
from dapkit.transport import background_tasks, private_folder


async def begin_in(pid: int, beginning: Mapping[str, object], *, ways: Ways) -> str:
    """Make a program listen for clients, as `debuggee.starting.startup` describes; return the address that it reports.

    Raises:
        RequestFailed: it cannot be; the text says why.

    """
    target = await anyio.to_thread.run_sync(look_at, pid)
    place = private_folder() / f"engine-{os.urandom(8).hex()}"
    answer = place.with_name(place.name + ANSWER)
    place.touch(0o600)
    try:
        async with background_tasks() as tasks:
            tasks.start_soon(_bring, target, place, beginning, ways)
            return await _word(answer)
    finally:
        place.unlink()
        answer.unlink(missing_ok=True)


async def _bring(target: TargetProcess, place: Path, beginning: Mapping[str, object], ways: Ways) -> None:
    await bring(target, place, beginning=beginning, ways=ways)
    raise RequestFailed(f"{target} has ended")


async def _word(file: Path) -> str:
    text = ""
    while not text:
        await anyio.sleep(limits.REFUSAL_TICK_SECONDS)
        text = _content(file)
    return text


def _content(file: Path) -> str:
    return file.read_text() if file.exists() else ""
