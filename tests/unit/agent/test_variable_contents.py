"""Members of variables in one line: how deep, how many, and what is not asked for."""

from collections.abc import Mapping

import pytest

from dapkit.agent import limits
from dapkit.agent.reading.local_variables import printed_variables
from dapkit.agent.reading.variable_contents import contents_of, contents_of_result
from dapkit.endpoint import RequestFailed
from dapkit.protocol import EvaluateBody, Variable, VariablePresentationHint, VariablesArguments, VariablesBody
from dapkit.redaction.redaction import Redaction, TextKind


def var(
    name: str, value: str = "", reference: int = 0, kind: str | None = None, *, indexed: int | None = None
) -> Variable:
    """Make a variable as an adapter sends it."""
    return Variable(name=name, value=value, type=kind, variables_reference=reference, indexed_variables=indexed)


class Members:
    """An adapter that knows the members of these values, and counts the requests."""

    def __init__(self, known: Mapping[int, list[Variable]]) -> None:
        self.known = known
        self.asked: list[VariablesArguments] = []

    async def ask(self, arguments: VariablesArguments) -> VariablesBody:
        """Answer with the page that is asked for."""
        self.asked.append(arguments)
        reference = arguments.variables_reference
        if reference not in self.known:
            raise RequestFailed("cannot access memory")
        begin = arguments.start or 0
        return VariablesBody(variables=self.known[reference][begin : begin + (arguments.count or 1_000_000)])


POINT = [var("x", "1", kind="int"), var("y", "2", kind="int")]


async def read(variable: Variable, known: Mapping[int, list[Variable]]) -> str | None:
    """Read what is inside one variable."""
    return (await contents_of([variable], Members(known).ask))[0]


@pytest.mark.parametrize("value", ["", "Point", "0x7ffe10", "@0x7ffe10", "Point @ 0x7ffe10"])
async def test_members_stand_in_braces_where_the_value_lacks_them(value: str) -> None:
    assert await read(var("p", value, 1, "const Point"), {1: POINT}) == "{x = 1, y = 2}"


@pytest.mark.parametrize(
    ("variable", "known"),
    [
        (var("n", "3"), {}),
        (var("text", '0x10 "abc"', 1, "char *"), {1: [var("*text", "'a'")]}),
        (var("nothing", "0x0000", 1, "Point *"), {1: POINT}),
        (var("said", "main.Point {x: 1, y: 2}", 1), {1: POINT}),
        (var("items", "(1, 2)", 1, "tuple"), {1: [var("0", "1"), var("1", "2")]}),
        (var("os", "<module 'os'>", 1, "module"), {1: POINT}),
        (var("refused", "", 9, "Point"), {}),
    ],
)
async def test_nothing_is_added_to_a_value_that_says_what_it_holds(
    variable: Variable, known: Mapping[int, list[Variable]]
) -> None:
    assert await read(variable, known) is None


async def test_members_of_members_are_shown_but_their_pointers_are_not_followed() -> None:
    known = {
        1: [var("inner", "", 2, "Inner"), var("next", "0x20", 3, "Node *"), var("items", "size=2", 4, "vector<int>")],
        2: [var("deep", "", 5, "Deep"), var("n", "7")],
        3: POINT,
        4: [var("[0]", "10"), var("[1]", "20")],
    }
    found = await read(var("node", "", 1, "Node"), known)
    assert found == "{inner = {deep = {...}, n = 7}, next = 0x20, items = size=2 {10, 20}}"


async def test_array_that_js_debug_only_counts_is_read() -> None:
    rows = [var("name", "'tea'"), var("sizes", "(2) [1, 2]", 2, "Array"), var("length", "2")]
    shown = await read(var("order", "{name: 'tea', sizes: Array(2)}", 1, "Object"), {1: rows[:2]})
    assert shown == "{name = 'tea', sizes = (2) [1, 2]}"
    assert await read(var("text", "'Array(2)'", 1, "string"), {1: rows}) is None


async def test_map_of_gdb_is_shown_with_its_keys() -> None:
    rows = [var("[0]", '"a"'), var("[1]", "", 2, "Point"), var("[2]", '"b"'), var("[3]", "7")]
    shown = await read(var("ages", "std::map with 2 elements", 1, "std::map<...>"), {1: rows, 2: POINT})
    assert shown == '{["a"] = {x = 1, y = 2}, ["b"] = 7}'


@pytest.mark.parametrize(("whole", "item"), [("", ""), ("Point[2]", "Point")])  # as gdb and lldb-dap have them
async def test_items_that_say_nothing_are_shown_by_their_members(whole: str, item: str) -> None:
    items = [var("[0]", item, 2, "Point"), var("[1]", item, 3, "Point")]
    assert await read(var("ps", whole, 1, "Point[2]"), {1: items, 2: POINT, 3: POINT}) == (
        "{{x = 1, y = 2}, {x = 1, y = 2}}"
    )


async def test_only_child_that_says_nothing_is_what_a_pointer_points_at() -> None:
    assert await read(var("p", "0x20", 1, "Point *"), {1: [var("value", "", 2, "Point")], 2: POINT}) == "{x = 1, y = 2}"


async def test_members_of_a_value_that_cannot_be_read_are_not_asked_for() -> None:
    members = Members({1: POINT})
    assert await contents_of([var("p", "<error: gone>", 1, "Point")], members.ask, unreadable="<error: ") == [None]
    assert not members.asked


@pytest.mark.parametrize("beside", [[], POINT])
async def test_property_is_left_alone(beside: list[Variable]) -> None:
    hint = VariablePresentationHint(lazy=True)
    price = Variable(name="price", value="", variables_reference=7, presentation_hint=hint)
    members = Members({1: [price, *beside], 7: [var("price", "1")]})
    found = await contents_of([var("shop", "<Shop object>", 1), price], members.ask)
    assert found == ["{x = 1, y = 2}" if beside else None, None]
    assert {asked.variables_reference for asked in members.asked} == {1}


async def test_container_of_many_items_is_asked_for_few() -> None:
    members = Members({1: [var(f"[{number}]", str(number)) for number in range(5000)]})
    found = (await contents_of([var("big", "size=5000", 1, indexed=5000)], members.ask))[0]
    assert found == "{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...}"
    assert [asked.count for asked in members.asked] == [limits.CONTENTS_MEMBERS + 1]


async def test_container_that_is_not_initialized_yet_is_not_asked_for_items() -> None:
    inner = var("inputs_", "size=4294967295", 2, indexed=4294967295)  # lldb-dap 23 never answers a request for them
    members = Members({1: [inner, var("x", "1")], 2: POINT})
    found = await contents_of([inner, var("edge", "", 1, "Edge")], members.ask)
    assert found == [None, "{inputs_ = size=4294967295, x = 1}"]
    assert [asked.variables_reference for asked in members.asked] == [1]
    result = EvaluateBody(result="size=4294967295", variables_reference=2)  # which has the number in its text alone
    assert await contents_of_result(result, members.ask) is None
    assert [asked.variables_reference for asked in members.asked] == [1]


async def test_requests_of_a_report_are_limited_and_reach_every_variable_first() -> None:
    inner = {100 + number: POINT for number in range(1000)}
    members = Members({1: [var(f"m{number}", "", 100 + number, "Point") for number in range(12)], 2: POINT, **inner})
    variables = [var(f"v{number}", "", 1, "Big") for number in range(20)] + [var("last", "", 2, "Point")]
    found = await contents_of(variables, members.ask)
    assert found[-1] == "{x = 1, y = 2}"
    assert len(members.asked) == limits.CONTENTS_REQUESTS


async def test_contents_end_where_their_characters_do_and_secrets_are_found_in_them() -> None:
    known = {1: [var("password", '"hunter2222"'), *(var(f"member_{number}", "v" * 50) for number in range(10))]}
    found = await read(var("settings", "", 1, "Settings"), known)
    assert found is not None
    assert Redaction().text(found, TextKind.VALUE).startswith('{password = "[redacted]", member_0 = ')
    assert found.endswith(", ...}")
    assert len(found) < limits.CONTENTS_CHARACTERS + 10


def test_variables_are_read_as_a_command_line_prints_them() -> None:
    text = 'No symbol table.\nn = <optimized out>\nbox = {a = 1,\n  b = {c = 2}}\n__PRETTY_FUNCTION__ = "f"\n'
    assert [(each.name, each.value) for each in printed_variables(text)] == [
        ("n", "<optimized out>"),
        ("box", "{a = 1,\n  b = {c = 2}}"),
        ("__PRETTY_FUNCTION__", '"f"'),
    ]
