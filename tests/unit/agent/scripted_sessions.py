"""Sessions of the agent with a scripted adapter that listens on a port, as a user defines one in dap.toml."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from anyio.abc import ByteStream

from action_fixtures import Caller
from dapkit.testing import FakeAdapter, Script, Timeline
from dapkit.transport import left_token, listen_tcp, new_token
from fake_adapters import script


@asynccontextmanager
async def listening(caller: Caller, answers: Script, *settings: str) -> AsyncIterator[list[Timeline]]:
    """Define an adapter `mine` in the project, with these settings; yield what is said to it, session by session."""
    said: list[Timeline] = []

    async def serve(stream: ByteStream) -> None:
        async with FakeAdapter(stream, script(answers)) as adapter:
            said.append(adapter.timeline)
            await anyio.sleep_forever()

    token = new_token()
    async with listen_tcp("127.0.0.1", 0, serve, token=token) as port, AsyncExitStack() as stack:
        stack.enter_context(left_token(token, port))
        caller.write("dap.toml", "\n".join(["[mine]", 'transport = "connect"', f"port = {port}", *settings]))
        caller.write("program.mine", "")
        yield said
        await caller("terminate")


@asynccontextmanager
async def debugging(caller: Caller, answers: Script, *traits: str) -> AsyncIterator[Timeline]:
    """Launch a program under an adapter that has these traits."""
    async with listening(caller, answers, "[mine.traits]", *traits) as said:
        launched = await caller("launch", program="program.mine", adapter="mine", stop_on_entry=True)
        assert launched.details["adapter"] == "mine"
        yield said[0]
