from pathlib import Path

import anyio
import pytest

from dapkit.hub import CallRefused, HubLost, HubSilent
from dapkit.hub.async_client import call
from dapkit.hub.client import HubClient
from e2e.hub.programs import ROOT

PROJECT = str(Path(ROOT, "project"))


async def test_call_starts_a_hub_and_returns_its_answer(hub_client: HubClient) -> None:
    answer = await call("echo", {"line": 3}, project=PROJECT, session="s", read_only=True, hub_client=hub_client)
    assert answer["arguments"] == {"line": 3}
    assert (answer["project"], answer["session"], answer["read_only"]) == (PROJECT, "s", True)


async def test_cancelled_call_is_given_up_in_the_hub_too(hub_client: HubClient) -> None:
    told: list[str] = []
    async with anyio.create_task_group() as tasks:

        def stop(message: str, _percentage: float | None) -> None:
            told.append(message)
            tasks.cancel_scope.cancel()

        await call("wait", {}, project=ROOT, on_progress=stop, hub_client=hub_client)
    assert told == ["waiting"]
    with anyio.fail_after(30):
        while (await call("counts", {}, project=ROOT, hub_client=hub_client))["waiting"]:
            pass
    assert await call("counts", {}, project=ROOT, hub_client=hub_client) == {"waiting": 0, "cancelled": 1}


@pytest.mark.thorough
async def test_refusal_and_a_dead_hub_are_errors(hub_client: HubClient) -> None:
    with pytest.raises(CallRefused, match="this is how it fails"):
        await call("fail", {}, project=ROOT, hub_client=hub_client)
    with pytest.raises(HubLost, match="ended before it answered"):
        await call("die", {}, project=ROOT, hub_client=hub_client)
    assert await call("counts", {}, project=ROOT, hub_client=hub_client) == {"waiting": 0, "cancelled": 0}


@pytest.mark.thorough
async def test_call_that_takes_too_long_is_given_up(hub_client: HubClient) -> None:
    with pytest.raises(HubSilent, match="did not answer in time"):
        await call("wait", {}, project=ROOT, timeout=2, hub_client=hub_client)
    with anyio.fail_after(30):
        while (await call("counts", {}, project=ROOT, hub_client=hub_client))["waiting"]:
            pass
