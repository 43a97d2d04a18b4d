"""Values through the whole adapter: every request about them once, with our client, in each Python version."""

import base64

import anyio
import pytest

from dapkit.client import Stopped
from dapkit.protocol import StoppedEvent, VariablesArguments
from e2e.python.adapter_client import AdapterClient
from e2e.python.raw_client import raw_client

pytestmark = pytest.mark.each_python

PROGRAM = """
    import time
    def double(number):
        return number * 2
    class Thing:
        @property
        def answer(self):
            return 42
    def work(items):
        thing = Thing()
        raw = bytearray(b"abc")
        stop = 1
        return items, raw
    print(work([10, 20]))
"""
STOP = 11


@pytest.fixture
async def stopped(driver: AdapterClient, python: str) -> AdapterClient:
    """Return the client of a program that is stopped in `work`."""
    await driver.start(PROGRAM, STOP, python=python)
    await driver.session.next_stop()
    return driver


async def test_capabilities_of_values_are_announced(driver: AdapterClient) -> None:
    able = driver.session.capabilities
    assert able.supports_set_variable
    assert able.supports_set_expression
    assert able.supports_completions_request
    assert able.completion_trigger_characters == [".", "[", "'", '"']
    assert able.supports_evaluate_for_hovers
    assert able.supports_clipboard_context
    assert able.supports_read_memory_request
    assert able.supports_write_memory_request
    assert able.supports_value_formatting_options
    assert able.supports_cancel_request


@pytest.mark.row("setVariable, setExpression")
async def test_variables_and_expressions_are_set(stopped: AdapterClient) -> None:
    session = stopped.session
    items = (await stopped.locals())["items"]
    answer = await session.set_variable(items.variables_reference, name="[0]", value="'new'")
    assert (answer.value, answer.type) == ("'new'", "str")
    frame = (await stopped.frames())[0]
    assert (await session.set_expression("items[1]", "thing.answer", frame_id=frame.id)).value == "42"
    await session.resume()
    await session.wait_until_ended()
    assert stopped.output("stdout") == "(['new', 42], bytearray(b'abc'))\n"


@pytest.mark.row("scopes, variables")
async def test_properties_are_lazy_and_numbers_hexadecimal(stopped: AdapterClient) -> None:
    session = stopped.session
    variables = await stopped.locals()
    [answer] = (await session.variables(variables["thing"].variables_reference)).variables
    assert answer.presentation_hint is not None
    assert answer.presentation_hint.lazy
    [opened] = (await session.variables(answer.variables_reference)).variables
    assert (opened.name, opened.value) == ("answer", "42")


@pytest.mark.row("evaluate")
async def test_evaluate_stops_at_breakpoints_in_what_it_calls(stopped: AdapterClient) -> None:
    session = stopped.session
    frame = (await stopped.frames())[0]
    await session.add_breakpoint(stopped.file, 3)
    results: list[str] = []

    async def evaluate() -> None:
        results.append((await session.evaluate("double(21)", frame_id=frame.id, context="repl")).result)

    async with anyio.create_task_group() as tasks:
        events = session.events()
        tasks.start_soon(evaluate)
        await events.next(StoppedEvent)
        assert await stopped.where() == ("double", 3)
        await stopped.resume()
    assert results == ["42"]
    assert await stopped.where() == ("work", STOP)


@pytest.mark.row("completions")
async def test_completions_come_from_the_program(stopped: AdapterClient) -> None:
    frame = (await stopped.frames())[0]
    body = await stopped.session.completions("thing.an", 9, frame_id=frame.id)
    [target] = body.targets
    assert (target.label, target.type, target.start, target.length) == ("answer", "property", 6, 2)


@pytest.mark.row("readMemory, writeMemory")
async def test_memory_is_read_and_written(stopped: AdapterClient) -> None:
    session = stopped.session
    raw = (await stopped.locals())["raw"]
    assert raw.memory_reference is not None
    body = await session.read_memory(raw.memory_reference, 8)
    assert (base64.b64decode(body.data or ""), body.unreadable_bytes) == (b"abc", 5)
    await session.write_memory(raw.memory_reference, base64.b64encode(b"xy").decode(), offset=1)
    assert (await stopped.locals())["raw"].value == "bytearray(b'axy')"


@pytest.mark.row("source, loadedSources, modules, locations")
async def test_function_value_leads_to_its_definition(stopped: AdapterClient) -> None:
    frame = (await stopped.frames())[0]
    body = await stopped.session.evaluate("double", frame_id=frame.id)
    assert body.value_location_reference is not None
    place = await stopped.session.locations(body.value_location_reference)
    assert (place.source.path, place.line) == (str(stopped.file), 2)


@pytest.mark.row("cancel, progress")
async def test_cancelled_evaluation_is_interrupted_in_the_program(python: str) -> None:
    async with raw_client() as client:
        await client.start(code="import time\nprint('on')\nwhile True:\n    time.sleep(0.01)\n", python=python)
        await client.event("output")
        assert (await client.ask("pause", {"threadId": 1}))["success"]
        await client.event("stopped")
        frame = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"][0]["id"]
        arguments = {"expression": "time.sleep(1000)", "frameId": frame, "context": "repl"}
        asked = await client.send("evaluate", arguments)
        assert (await client.ask("cancel", {"requestId": asked}))["success"]
        assert (await client.answer(asked))["message"] == "cancelled"
        again = await client.ask("evaluate", {"expression": "1 + 1", "frameId": frame, "context": "watch"})
        assert again["body"]["result"] == "2"


async def test_presenters_that_the_project_names_are_used(driver: AdapterClient) -> None:
    (driver.folder / "pyproject.toml").write_text('[tool.dapkit]\npresenters = ["shown.py", "open.py"]\n')
    (driver.folder / "shown.py").write_text("PRESENTERS = {'__main__.Money': lambda money: f'{money.amount} EUR'}\n")
    (driver.folder / "open.py").touch()
    (driver.folder / "open.py").chmod(0o666)
    await driver.start("class Money:\n    amount = 3\nmoney = Money()\nprint()\n", 4)
    assert isinstance(await driver.session.next_stop(), Stopped)
    assert (await driver.locals())["money"].value == "3 EUR"
    assert driver.output("console").startswith(f"presenters {driver.folder / 'open.py'} are not used: ")


async def test_more_items_than_the_protocol_counts_are_shown_up_to_there(driver: AdapterClient, python: str) -> None:
    await driver.start("many = range(5 * 10**9)\npass\n", 2, python=python)
    await driver.session.next_stop()
    many = (await driver.locals())["many"]
    assert many.indexed_variables == 2**31 - 1
    shown = await driver.session.request(
        VariablesArguments(variables_reference=many.variables_reference, filter="indexed", start=2**31 - 2, count=1)
    )
    assert [(row.name, row.value) for row in shown.variables] == [("[2147483646]", "2147483646")]
