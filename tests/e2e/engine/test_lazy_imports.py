"""Lazy imports of CPython 3.15 (PEP 810): who looks at a program imports nothing that the program has not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.engine.conftest import Start, starting
from e2e.engine.engine_client import EngineClient, Message, Refused
from interpreters import interpreter

PROGRAM = """
    import sys
    lazy import json
    lazy import xml.dom
    lazy from collections import OrderedDict as Ordered, deque
    lazy import decimal as numbers
    lazy import no_such_module
    lazy from settings import DEBUG, Problem
    lazy import talking
    import heapq  # has lazy imports of its own
    total = 3
    class Holder:
        kind = "holder"
    def work(number):
        here = number
        return here
    def handle(number):
        try:
            raise ValueError(number)
        except Problem:
            return 0
        except ValueError:
            return number
    for number in range(3):
        work(number)
    print(DEBUG, handle(1), "json" in sys.modules)
"""
LAZY = ("json", "xml", "Ordered", "deque", "numbers", "no_such_module", "DEBUG", "Problem", "talking")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program in the first version that has lazy imports."""
    (tmp_path / "settings.py").write_text("DEBUG = False\nclass Problem(Exception): pass\n")
    (tmp_path / "talking.py").write_text("print('imported')\nvalue = 7\n")
    with starting(str(interpreter("3.15")), tmp_path) as start:
        yield start


def stopped(start: Start, **breakpoint: object) -> EngineClient:
    peer = start(PROGRAM)
    peer.configure(breakpoints=[{"line": 15, **breakpoint}])
    peer.stopped("breakpoint")
    return peer


def modules(peer: EngineClient) -> set[str]:
    """Return the names of what the program has imported."""
    body = peer.ask("modules", startModule=0, moduleCount=0)
    return {module["name"] for module in body["modules"]}


def open_all(peer: EngineClient, reference: int, depth: int) -> Iterator[Message]:
    """Open what is shown, as far as an editor does that leaves alone what it is to load on demand."""
    for row in peer.rows(reference, count=200):
        yield row
        is_lazy = row.get("presentationHint", {}).get("lazy", False)
        if depth and row["variablesReference"] and not is_lazy:
            yield from open_all(peer, row["variablesReference"], depth - 1)


def scope(peer: EngineClient, name: str) -> dict[str, Message]:
    scopes = peer.ask("scopes", frameId=peer.stack()[0]["id"])["scopes"]
    [reference] = [scope["variablesReference"] for scope in scopes if scope["name"] == name]
    return {row["name"]: row for row in peer.rows(reference)}


@pytest.mark.thorough
def test_refresh_of_an_editor_imports_nothing(start: Start) -> None:
    peer = stopped(start)
    before = modules(peer)
    names = set()
    for frame in peer.stack():
        for shown in peer.ask("scopes", frameId=frame["id"])["scopes"]:
            names |= {row["name"] for row in open_all(peer, shown["variablesReference"], 4)}
    assert names >= set(LAZY)
    for name in ("total", "heapq", "Holder.kind", *LAZY):
        peer.value(name, "hover")
        peer.value(name, "watch")
        peer.value(name, "clipboard")
    for text in (
        "json.",
        "xml.",
        "DEBUG.",
        "Ordered.",
        "heapq.",
        "jso",
        "numbers[",
        "talking.va",
        "from talking import ",
    ):
        peer.ask("completions", text=text, column=len(text) + 1, frameId=peer.stack()[0]["id"])
    for name in ("json", "total", "talking.value"):
        peer.ask("dataBreakpointInfo", name=name, frameId=peer.stack()[0]["id"])
    peer.ask("stackTrace", threadId=1, format={"parameters": True, "parameterValues": True, "module": True})
    assert modules(peer) == before
    assert scope(peer, "Globals")["json"]["type"] == "lazy_import"


@pytest.mark.thorough
def test_lazy_import_shows_as_what_it_is(start: Start) -> None:
    peer = stopped(start)
    rows = scope(peer, "Globals")
    values = {name: rows[name]["value"] for name in ("json", "xml", "Ordered", "numbers", "DEBUG")}
    assert values == {
        "json": "<lazy_import 'json'>",
        "xml": "<lazy_import 'xml.dom'>",
        "Ordered": "<lazy_import 'collections.OrderedDict'>",
        "numbers": "<lazy_import 'decimal'>",
        "DEBUG": "<lazy_import 'settings.DEBUG'>",
    }
    assert rows["json"]["presentationHint"] == {"lazy": True, "attributes": ["hasSideEffects"]}
    watched = peer.ask("evaluate", expression=" json ", context="watch", frameId=peer.stack()[0]["id"])
    assert (watched["result"], watched["type"]) == ("<lazy_import 'json'>", "lazy_import")
    assert watched["presentationHint"]["lazy"]


def test_lazy_import_is_loaded_where_a_client_opens_it(start: Start) -> None:
    peer = stopped(start)
    [loaded] = peer.rows(scope(peer, "Globals")["talking"]["variablesReference"])
    assert (loaded["name"], loaded["type"]) == ("talking", "module")
    assert {row["name"]: row["value"] for row in peer.rows(loaded["variablesReference"])}["value"] == "7"
    peer.event("invalidated")
    assert "talking" in modules(peer)
    assert scope(peer, "Globals")["talking"]["type"] == "module"  # as where the program has used it
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go()
    assert peer.finish() == (0, "imported\nFalse 1 False\n", "")


def test_watch_that_is_a_lazy_import_is_loaded_where_a_client_opens_it(start: Start) -> None:
    peer = stopped(start)
    watched = peer.ask("evaluate", expression="numbers", context="watch", frameId=peer.stack()[0]["id"])
    [loaded] = peer.rows(watched["variablesReference"])
    assert loaded["value"].startswith("<module 'decimal'")
    assert peer.value("numbers").startswith("<module 'decimal'")


def test_what_cannot_be_imported_says_so_where_a_client_opens_it(start: Start) -> None:
    peer = stopped(start)
    [row] = peer.rows(scope(peer, "Globals")["no_such_module"]["variablesReference"])
    assert row["value"] == "<no_such_module raised ModuleNotFoundError: No module named 'no_such_module'>"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("context", "expression"), [("repl", "talking"), ("repl", "talking.value"), ("watch", "talking.value")]
)
def test_expression_that_uses_a_lazy_import_loads_it(start: Start, context: str, expression: str) -> None:
    peer = stopped(start)
    assert peer.value(expression, context) in ("7", f"<module 'talking' from '{peer.folder}/talking.py'>")
    assert "talking" in modules(peer)


def test_hover_on_a_part_of_a_lazy_import_says_that_it_was_not_imported(start: Start) -> None:
    peer = stopped(start)
    with pytest.raises(Refused, match="<lazy_import 'talking'> was not imported yet"):
        peer.value("talking.value", "hover")
    answer = peer.ask("dataBreakpointInfo", name="talking.value", frameId=peer.stack()[0]["id"])
    assert answer == {"dataId": None, "description": "talking is <lazy_import 'talking'>, which was not imported yet"}


@pytest.mark.parametrize("condition", ["total == 3", "[each for each in (total, here)] == [3, 0]"])
def test_condition_that_names_no_lazy_import_loads_none(start: Start, condition: str) -> None:
    peer = stopped(start, condition=condition)
    assert not modules(peer) & {"json", "settings", "talking"}


@pytest.mark.thorough
@pytest.mark.parametrize("condition", ["not DEBUG", "[DEBUG] == [False]", "f'{DEBUG}' == 'False'"])
def test_condition_on_a_lazy_import_means_what_it_loads(start: Start, condition: str) -> None:
    peer = start(PROGRAM)
    peer.configure(
        breakpoints=[{"line": 14, "condition": "DEBUG"}, {"line": 15, "condition": condition}, {"line": 15}],
    )
    peer.stopped("breakpoint")
    assert peer.at() == ("work", 15)
    assert "settings" in modules(peer)


def test_log_message_with_a_lazy_import_shows_what_it_loads(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(breakpoints=[{"line": 14, "logMessage": "debug: {DEBUG}"}, {"line": 15}])
    peer.stopped("breakpoint")
    [log] = [
        body
        for body in (event["body"] for event in peer.events() if event["event"] == "output")
        if body["category"] == "console"
    ]
    assert log["output"] == "debug: False\n"


def test_data_breakpoint_on_a_lazy_import_is_hit_where_the_program_loads_it(start: Start) -> None:
    peer = stopped(start)
    frame = peer.stack()[0]["id"]
    identity = peer.ask("dataBreakpointInfo", name="DEBUG", frameId=frame)["dataId"]
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.ask("setDataBreakpoints", breakpoints=[{"dataId": identity, "accessType": "write"}])
    peer.go()
    peer.stopped("data breakpoint")
    assert peer.at() == ("<module>", 25)
    assert peer.value("DEBUG") == "False"


def test_handler_of_a_lazy_exception_is_read_without_a_trace(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(filters=["userUnhandled", "uncaught"])
    assert peer.finish() == (0, "False 1 False\n", "")


def test_engine_is_loaded_where_all_imports_are_lazy(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("import json\nlist(map(str, range(3)))\nprint('done')\n")
    arguments = ("--program", "prog.py", "--")
    with EngineClient(str(interpreter("3.15")), tmp_path, *arguments, env={"PYTHON_LAZY_IMPORTS": "all"}) as peer:
        peer.configure(breakpoints=[{"line": 3, "condition": "len('abc') == 3"}])
        peer.stopped("breakpoint")
        assert peer.locals()["json"]["value"] == "<lazy_import 'json'>"
        peer.go()
        assert peer.finish() == (0, "done\n", "")
