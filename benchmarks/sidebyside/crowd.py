"""Many requests at once: what an adapter costs that has to do nothing but to pass them on.

The client is bare here: it writes all requests in one go and counts responses, so that what it costs itself
does not hide the adapter.
"""

import json
import re
import time
from itertools import count

from anyio import create_task_group
from anyio.abc import ByteStream

from dapkit.protocol import encode_frame
from dapkit.transport import spawn
from sidebyside.contest import DEBUGPY, ENVIRONMENT, OURS, PROGRAMS, Contest, Debugger
from sidebyside.table import Row

REQUESTS = 10_000
FEWER_REQUESTS = 100
"""Those of debugpy, which answers one after the other, 44 ms each."""

_RESPONSE = re.compile(rb'"type": ?"response"')


async def crowd(contest: Contest) -> list[Row]:
    """Wait for the answers to many `threads` requests that were made at once, at a stop."""
    each: dict[str, list[float]] = {"debugpy": [], "ours": []}
    for _ in range(contest.rounds):
        for debugger, requests in ((DEBUGPY, FEWER_REQUESTS), (OURS, REQUESTS)):
            each[debugger.name].append(await _crowd(contest, debugger, requests) / requests * 1e6)
    title = f"threads, {REQUESTS:,} requests at once, each answered"
    return [Row("crowd", title, "us", min(each["debugpy"]), min(each["ours"]), 150)]


async def _crowd(contest: Contest, debugger: Debugger, requests: int) -> float:
    seqs = count(1)

    def framed(command: str, arguments: object) -> bytes:
        request = {"seq": next(seqs), "type": "request", "command": command, "arguments": arguments}
        return encode_frame(json.dumps(request).encode())

    launch = {
        "program": str(PROGRAMS / "small.py"),
        "stopOnEntry": True,
        "console": "internalConsole",
        "env": dict(contest.environment),
    }
    async with spawn([contest.python, "-m", debugger.module], env=ENVIRONMENT) as adapter:
        stream = adapter.stream
        await stream.send(framed("initialize", {"adapterID": "python"}))
        await _until(stream, _RESPONSE)
        await stream.send(framed("launch", launch))
        await _until(stream, re.compile(rb'"event": ?"initialized"'))
        await stream.send(framed("configurationDone", {}))
        await _until(stream, re.compile(rb'"event": ?"stopped"'))
        frames = b"".join(framed("threads", {}) for _ in range(requests))
        begun = time.perf_counter()
        async with create_task_group() as tasks:
            tasks.start_soon(stream.send, frames)
            await _until(stream, _RESPONSE, requests)
        return time.perf_counter() - begun


async def _until(stream: ByteStream, pattern: re.Pattern[bytes], times: int = 1) -> None:
    """Read until a pattern has come so often."""
    found, rest = 0, b""
    while found < times:
        data = rest + await stream.receive()
        matches = list(pattern.finditer(data))
        found += len(matches)
        rest = data[matches[-1].end() if matches else max(0, len(data) - 40) :]
