"""Each key of debugpy does what docs/how-to/move-from-debugpy.md says of it."""

import sys
from pathlib import Path
from typing import Any

import pytest

import dapkit
from dapkit.client import Ended
from dapkit.protocol import OutputEvent
from dapkit.python.adapter.configuration.keys import REMARKS
from e2e.python.adapter_client import AdapterClient
from e2e.python.listening_program import client, running
from e2e.python.raw_client import raw_client
from from_debugpy_page import REQUESTS, Key, Request, Verdict, things, verdict_of

NOBODY_MEANS_THIS: list[list[str]] = [[]]
"""A value of a type that no key has."""
READ = {Verdict.SAME, Verdict.RENAMED}
HOW_TO_BEGIN = {
    "launch": {"program", "module", "code"},
    "attach": {"connect", "listen", "host", "port", "processId"},
}


def keys(request: Request, *verdicts: Verdict) -> dict[str, Key]:
    """Return the keys of a request of which the page says one of these."""
    every = {name: key for name, key in things().keys.items() if request in key.requests}
    return {name: key for name, key in every.items() if not verdicts or verdict_of(name, request) in verdicts}


def filled(value: Any, file: Path) -> Any:  # noqa: ANN401 - a value of any key
    """Put the program into an example."""
    if not isinstance(value, str):
        return value
    return value.replace("{file}", str(file)).replace("{folder}", str(file.parent)).replace("{python}", sys.executable)


def configuration(request: Request, file: Path) -> dict[str, Any]:
    """Return a configuration with all keys at once, those that are not done with values that ask for something."""
    given = {
        name: key.value_that_asks if verdict_of(name, request) is Verdict.REMARKED else key.example
        for name, key in keys(request).items()
        if name not in HOW_TO_BEGIN[request]
    }
    return {name: filled(value, file) for name, value in given.items()}


def remarks(request: Request) -> list[str]:
    return sorted(f"{name}: {REMARKS[name]}\n" for name in keys(request, Verdict.REMARKED))


@pytest.mark.row("launch")
async def test_keys_that_are_the_same_are_read_and_those_without_effect_are_not() -> None:
    async with raw_client() as editor:
        await editor.initialize()
        for request in REQUESTS:
            for name in keys(request, *READ):
                answer = await editor.ask(request, {name: NOBODY_MEANS_THIS})
                assert answer["message"].startswith(f"{request}: $.arguments.{name}"), answer
        unread = keys("launch", Verdict.UNUSED, Verdict.FOR_THE_EDITOR)
        launched = await editor.send("launch", {"code": "pass", **dict.fromkeys(unread, NOBODY_MEANS_THIS)})
        await editor.event("initialized")
        await editor.ask("configurationDone")
        assert (await editor.answer(launched))["success"]
        await editor.event("terminated")
        outputs = [message for message in editor.heard if message.get("event") == "output"]
        assert outputs == []


@pytest.mark.row("launch")
async def test_launch_with_every_key_of_debugpy_runs_and_says_of_each_what_the_page_says(driver: AdapterClient) -> None:
    file = driver.write("import os, sys; print(sys.argv[1:], os.environ['NAME'], sys.flags.dev_mode)")
    (file.parent / ".env").write_text("")
    given = configuration("launch", file)
    given["env"] |= dict.fromkeys(things().variables, "1")
    await driver.session.launch({"program": str(file), **given})
    assert await driver.session.wait_until_ended() == Ended(0)
    assert driver.output("stdout") == "['one'] value True\n"
    assert driver.output("stderr") == ""
    assert sorted(driver.output("console").splitlines(keepends=True)) == remarks("launch")


@pytest.mark.row("attach")
async def test_attach_with_every_key_of_debugpy_says_of_each_what_the_page_says(tmp_path: Path) -> None:
    waiting = "import dapkit\ndapkit.listen()\ndapkit.wait_for_client()\nprint('went on')\n"
    with running(waiting, tmp_path, sys.executable) as program:
        program.read_place()
        async with client() as session:
            await session.attach({**program.connect, **configuration("attach", program.file)})
            await session.wait_until_ended()
            console = [event.output for event in session.events(since=0).unread if isinstance(event, OutputEvent)]
        assert sorted(text for text in "".join(console).splitlines(keepends=True) if ": " in text) == remarks("attach")


def test_functions_that_the_page_names_are_public() -> None:
    assert {name for name in things().functions if hasattr(dapkit, name)} <= set(dapkit.__all__)
