"""What CPython 3.14 and 3.15 have brought: `frozendict`, `sentinel`, templates, annotations evaluated late."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.engine.conftest import Start, starting
from e2e.engine.engine_client import EngineClient, Message, Refused
from interpreters import interpreter

FROZEN = """
    import types
    class Named(frozendict):
        pass
    def scene():
        many = frozendict((number, str(number)) for number in range(100_000))
        nested = frozendict(plain=1, inner=frozendict(deep=[1, 2]))
        empty = frozendict()
        named = Named(key=1)
        view = types.MappingProxyType(nested)
        mark = sentinel("MARK")
        return many
    scene()
"""
ANNOTATED = """
    def told():
        print("evaluated", flush=True)
        return int
    class Holder:
        field: told()
        def method(self, value: told()) -> None: ...
    def work(number: told()) -> told():
        holder = Holder()
        return number
    type Alias = told()
    def generic[T: told()](value: T) -> T: return value
    work(1)
    print("end")
"""
TEMPLATE = """
    def scene():
        name = "world"
        template = t"hello {name!r:>10}!"
        return template
    scene()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program in the first version that has frozendict."""
    with starting(str(interpreter("3.15")), tmp_path) as start:
        yield start


@pytest.fixture(params=["3.14", "3.15"])
def start_late(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program in a version that evaluates annotations when they are asked for."""
    with starting(str(interpreter(request.param)), tmp_path) as start:
        yield start


@pytest.fixture
def frozen(start: Start) -> EngineClient:
    peer = start(FROZEN)
    peer.configure(lines=[11])
    peer.stopped("breakpoint")
    return peer


def opened(peer: EngineClient, reference: int, depth: int) -> Iterator[Message]:
    for row in peer.rows(reference, count=200):
        yield row
        if depth and row["variablesReference"]:
            yield from opened(peer, row["variablesReference"], depth - 1)


def test_frozendict_shows_as_a_dict_does(frozen: EngineClient) -> None:
    rows = frozen.locals()
    assert rows["many"]["value"].startswith("frozendict({0: '0', 1: '1',")
    assert rows["many"]["value"].endswith("… (100,000 in all)})")
    assert (rows["many"]["type"], rows["many"]["indexedVariables"]) == ("frozendict", 100_000)
    assert rows["nested"]["value"] == "frozendict({'plain': 1, 'inner': frozendict({'deep': [1, 2]})})"
    assert rows["empty"]["value"] == "frozendict()"
    assert rows["named"]["value"] == "Named({'key': 1})"
    assert rows["named"]["type"] == "__main__.Named"
    assert rows["view"]["indexedVariables"] == 2
    assert (rows["mark"]["value"], rows["mark"]["type"], rows["mark"]["variablesReference"]) == ("MARK", "sentinel", 0)


def test_page_of_a_large_frozendict_is_that_page(frozen: EngineClient) -> None:
    reference = frozen.locals()["many"]["variablesReference"]
    rows = frozen.rows(reference, filter="indexed", start=70_000, count=100)
    assert [row["name"] for row in rows] == [str(number) for number in range(70_000, 70_100)]
    assert (rows[0]["value"], rows[0]["evaluateName"]) == ("'70000'", "many[70000]")
    assert frozen.value(rows[0]["evaluateName"]) == "'70000'"
    assert frozen.rows(reference, filter="named") == []


def test_nested_frozendict_is_opened_level_by_level(frozen: EngineClient) -> None:
    [plain, inner] = frozen.rows(frozen.locals()["nested"]["variablesReference"])
    assert plain["presentationHint"] == {"attributes": ["readOnly"]}
    [deep] = frozen.rows(inner["variablesReference"])
    assert (deep["name"], deep["evaluateName"]) == ("'deep'", "nested['inner']['deep']")
    assert [row["value"] for row in frozen.rows(deep["variablesReference"])] == ["1", "2"]


def test_item_of_a_frozendict_cannot_be_set(frozen: EngineClient) -> None:
    reference = frozen.locals()["nested"]["variablesReference"]
    with pytest.raises(Refused, match="'plain' cannot be set: a frozendict does not let its items be replaced"):
        frozen.ask("setVariable", variablesReference=reference, name="'plain'", value="2")
    answer = frozen.ask("dataBreakpointInfo", variablesReference=reference, name="'plain'")
    assert (answer["dataId"], answer["description"]) == (
        None,
        "nested['plain'] is not a variable, attribute or item that could change",
    )
    with pytest.raises(Refused, match="'frozendict' object does not support item assignment"):
        frozen.ask("setExpression", expression="nested['plain']", value="2", frameId=frozen.stack()[0]["id"])


def test_frozendict_is_hovered_over_and_completed_as_a_dict_is(frozen: EngineClient) -> None:
    assert frozen.value("nested['inner']['deep'][1]", "hover") == "2"
    frame = frozen.stack()[0]["id"]
    targets = frozen.ask("completions", text="nested[", column=8, frameId=frame)["targets"]
    assert {target["label"] for target in targets} == {"'plain'", "'inner'"}
    labels = {item["label"] for item in frozen.ask("completions", text="nested.", column=8, frameId=frame)["targets"]}
    assert labels >= {"keys", "items", "copy", "get"}


def test_code_whose_globals_are_a_frozendict_is_debugged(start: Start, tmp_path: Path) -> None:
    inner = tmp_path / "inner.py"
    inner.write_text("def work(number):\n    here = number + offset\n    return here\nresult(work(1))\n")
    peer = start(f"""
        text = open({str(inner)!r}).read()
        names = frozendict(offset=5, result=print, __builtins__=__builtins__, __name__="frozen")
        exec(compile(text, {str(inner)!r}, "exec"), names, {{}})
    """)
    peer.configure(lines=[3], path=inner)
    peer.stopped("breakpoint")
    [top, *_] = peer.ask("stackTrace", threadId=1, format={"module": True, "parameters": True})["stackFrames"]
    assert top["name"] == "frozen.work(number)"
    scopes = peer.ask("scopes", frameId=top["id"])["scopes"]
    rows = {row["name"]: row for row in peer.rows(scopes[-1]["variablesReference"])}
    assert rows["offset"]["value"] == "5"
    assert "readOnly" in rows["offset"]["presentationHint"]["attributes"]
    assert peer.value("offset + here") == "11"
    assert peer.value("offset", "hover") == "5"
    assert peer.ask("completions", text="off", column=4, frameId=top["id"])["targets"][0]["label"] == "offset"
    assert peer.step()[1] == 4
    peer.go()
    assert peer.finish() == (0, "6\n", "")


@pytest.mark.thorough
def test_looking_at_classes_and_functions_evaluates_no_annotation(start_late: Start) -> None:
    peer = start_late(ANNOTATED)
    peer.configure(lines=[9])
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    for shown in peer.ask("scopes", frameId=frame)["scopes"]:
        assert list(opened(peer, shown["variablesReference"], 4))
    for text in ("Holder.", "work.", "holder.", "Alias.", "generic.", "Holder.__annotations__.", "Alias.__value__."):
        peer.ask("completions", text=text, column=len(text) + 1, frameId=frame)
    for name in ("Holder", "work", "Alias", "generic", "holder.method", "Holder.method", "work.__annotate__"):
        peer.value(name, "hover")
    for name in ("Holder.__annotations__", "work.__annotations__", "Alias.__value__", "generic.__annotations__"):
        with pytest.raises(Refused, match="can be found without running code"):
            peer.value(name, "hover")
    with pytest.raises(Refused, match="can be found without running code"):
        peer.value("generic.__type_params__[0].__bound__", "hover")
    peer.go()
    assert peer.finish() == (0, "end\n", "")


def test_annotations_are_evaluated_where_a_user_asks_for_them(start_late: Start) -> None:
    peer = start_late(ANNOTATED)
    peer.configure(lines=[9])
    peer.stopped("breakpoint")
    assert peer.value("Holder.__annotations__", "repl") == "{'field': <class 'int'>}"
    peer.go()
    assert peer.finish() == (0, "evaluated\nend\n", "")


def test_template_shows_its_parts(start_late: Start) -> None:
    peer = start_late(TEMPLATE)
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    template = peer.locals()["template"]
    assert template["type"] == "string.templatelib.Template"
    rows = {row["name"]: row for row in peer.rows(template["variablesReference"])}
    assert rows["strings"]["value"] == "('hello ', '!')"
    assert rows["values"]["value"] == "('world',)"
    [interpolation] = peer.rows(rows["interpolations"]["variablesReference"])
    parts = {row["name"]: row["value"] for row in peer.rows(interpolation["variablesReference"])}
    assert parts == {"conversion": "'r'", "expression": "'name'", "format_spec": "'>10'", "value": "'world'"}
