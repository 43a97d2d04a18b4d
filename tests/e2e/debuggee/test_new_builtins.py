"""What CPython 3.14 and 3.15 have brought: templates, annotations evaluated late."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.debuggee.conftest import Start, starting
from e2e.debuggee.peer import Message, Peer, Refused
from interpreters import interpreter

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


@pytest.fixture(params=["3.14", "3.15"])
def start_late(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a program in a version that evaluates annotations when they are asked for."""
    with starting(str(interpreter(request.param)), tmp_path) as start:
        yield start


def opened(peer: Peer, reference: int, depth: int) -> Iterator[Message]:
    for row in peer.rows(reference, count=200):
        yield row
        if depth and row["variablesReference"]:
            yield from opened(peer, row["variablesReference"], depth - 1)


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
