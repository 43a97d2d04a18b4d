"""`why --follow`: the lines that a value has come by, across calls, to where it came from."""

from pathlib import Path

import msgspec
import pytest

from dapkit.protocol.time_travel import WhyArguments, WhyBody
from e2e.python.adapter_client import AdapterClient

pytestmark = [pytest.mark.each_python, pytest.mark.row("reverseContinue"), pytest.mark.timeout(900)]

PROGRAM = Path(__file__).with_name("travel") / "followed.py"
PARSED = (
    "price = price_of(tea)",
    "return item.price",
    "self.price = price",
    'return Item(data["name"], price)',
    'price = data["price"]',
    "data = json.loads(text)",
)
CHAINS = {
    "price": (PARSED, "it came with data; that is the result of json.loads(text), with text = '{"),
    "best": (["best = max([tea, free], key=key_of)"], "it is the result of max([tea, free], key=key_of), with"),
    "through": (
        ["through = wrapped(price)", "return function(*args)", "return amount", "return function(*args)"],
        "it is a default, or one of several arguments, of function(*args)",
    ),
    "deep": (
        [
            "deep = down(3, price)",
            *["return down(depth - 1, result)"] * 3,
            "return result",
            *["return down(depth - 1, result)"] * 3,
            "deep = down(3, price)",
            "price = price_of(tea)",
        ],
        "these are 10 steps; item.price could be followed",
    ),
    "number": (["for number in numbers():"], "it is an item of numbers()"),
    "awaited": (
        ["awaited = await later(price)", "return value", "awaited = await later(price)", *PARSED],
        "it came with",
    ),
    "nothing": (["nothing = price_of(None)", "return"], "it is written out"),
    "cost": (["cost = tea.cost", *PARSED[2:]], "it came with data"),
    "unit": (
        ["unit = tea.unit", "self.unit = unit", 'return Item(data["name"], price)'],
        'it is a default, or one of several arguments, of Item(data["name"], price)',
    ),
    "zero": (["zero = free.price", "self.price = price", "return cls(name, 0)"], "it is written out"),
    "small": (["small = price if price < 9 else 9"], "it was computed, with price = 4"),
    "two": (["one, two = price, best", "best = max([tea, free], key=key_of)"], "it is the result of max("),
    "part": (["part, _ = divmod(price, 3)"], "it is a part of divmod(price, 3)"),
    "last": (["last = rows[-1]", "rows[0] += 1"], "it was computed, with rows[0] = 4"),
    "entry": (['entry = table["a"]', 'table = {"a": price}'], "it came with table; that was computed, with price = 4"),
    "file": (['with open("/dev/null") as file:'], 'it was entered by open("/dev/null")'),
    "size": (["size = len(rows)"], "it is the result of len(rows), with rows = [5]"),
    "again": (
        ["again = use(price, *rows)", "return mark", "mark = given", "again = use(price, *rows)", *PARSED],
        "it came",
    ),
    "tea": (
        ['tea = parsed(\'{"name": "tea", "price": 4}\')', 'return Item(data["name"], price)'],
        "it was made by Item(",
    ),
    "value": (["value = pick(value, 9)", "return value", "value = pick(value, 9)"], "it is written out"),
    "held": (["held = locked(value)"], "it is the result of locked(value)"),
    "ended": (["ended = finished(value)"], "it is the result of finished(value)"),
    "left": (["left = other.left", "some.left, other.left = 1, 2"], "it was changed"),
    "table": (['kept = table.setdefault("c", price)'], "it was changed"),
    "table['b']": (['table.setdefault("b", price)'], "it was changed, with price = 4"),
    "enclosed": (
        ["enclosed = closed(price)", "return amount", "amount = amount + 1"],
        "it was computed, with amount = 4",
    ),
    "first": (["first = absolute = abs(price)"], "it is the result of abs(price), with price = 4"),
    "kind": (["kind = str"], "it is built in"),
    "rows": (["rows[0] += 1"], "it was computed, with rows[0] = 4"),
}


@pytest.mark.thorough
async def test_a_value_is_followed_to_where_it_came_from(driver: AdapterClient, python: str) -> None:
    text = PROGRAM.read_text()
    await driver.start(text, text[: text.index('print("end")')].count("\n") + 1, python=python, timeTravel=True)
    await driver.session.next_stop()
    [frame, *_] = await driver.frames()
    for expression, (lines, ends) in CHAINS.items():
        arguments = WhyArguments(expression=expression, frame_id=frame.id, follow=True)
        answer = msgspec.convert(await driver.session.request_custom("dapkit/why", arguments, deadline=120), WhyBody)
        inputs = ", ".join(f"{part.expression} = {part.value}" for part in answer.inputs)
        found = f"{answer.ends}{inputs and f', with {inputs}'}"
        assert ([step.text for step in answer.chain], found[: len(ends)]) == (list(lines), ends), expression
        assert all(step.clock is not None for step in answer.chain if step.expression is not None)
        first = answer.chain[0]
        assert (first.path, first.line, first.clock, first.new) == (answer.path, answer.line, answer.clock, answer.new)
