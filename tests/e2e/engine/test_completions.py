"""completions: from what the running program holds, without running any of it."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.row("completions")

PROGRAM = """
    import os.path, threading
    class Thing:
        made = 1
        def __init__(self):
            self.stored = {"name": 1, "other key": 2, 3: 4}
            self._hidden = 1
        @property
        def computed(self): print("ran"); return self
        def method(self): pass
        def __dir__(self): raise SystemExit
    def work(number):
        thing = Thing()
        things = [thing]
        nämé = 1
        stop = 1
        return stop
    work(1)
"""


def at_work(start: Start) -> EngineClient:
    peer = start(PROGRAM)
    peer.configure(lines=[16])
    peer.stopped("breakpoint")
    return peer


@pytest.fixture(scope="module")
def peer(start_shared: Start) -> EngineClient:
    """Return a program that stands at work; tests only look."""
    return at_work(start_shared)


def complete(peer: EngineClient, text: str, column: int | None = None, line: int | None = None) -> list[Message]:
    arguments = {"text": text, "column": column or len(text) + 1, "frameId": peer.stack()[0]["id"]}
    targets: list[Message] = peer.ask("completions", **arguments, **({"line": line} if line else {}))["targets"]
    return targets


def labels(targets: list[Message]) -> list[str]:
    return [target["label"] for target in targets]


def test_names_come_from_locals_globals_builtins_and_keywords_in_this_order(peer: EngineClient) -> None:
    assert labels(complete(peer, "thi")) == ["thing", "things", "Thing"]
    assert labels(complete(peer, "1 + (T"))[:5] == ["Thing", "TabError", "TimeoutError", "True", "TypeError"]
    (number,) = complete(peer, "print(numb")
    assert number == {
        "label": "number",
        "type": "variable",
        "detail": "int",
        "sortText": "00number",
        "start": 6,
        "length": 4,
    }
    kinds = {target["label"]: target["type"] for target in complete(peer, "")}
    assert (kinds["thing"], kinds["Thing"], kinds["work"], kinds["threading"], kinds["lambda"]) == (
        *("variable", "class", "function", "module", "keyword"),
    )


def test_attributes_are_found_without_running_properties_or_dir(start: Start) -> None:
    peer = at_work(start)
    targets = complete(peer, "things[0].")
    assert labels(targets)[:6] == ["computed", "made", "method", "stored", "_hidden", "__class__"]
    kinds = {target["label"]: target["type"] for target in targets}
    assert (kinds["computed"], kinds["method"], kinds["stored"]) == ("property", "method", "field")
    assert labels(complete(peer, "x = thing.st")) == ["stored"]
    assert "made" in labels(complete(peer, "Thing."))
    assert labels(complete(peer, "os.path.isab")) == ["isabs"]
    assert labels(complete(peer, "'text'.startsw")) == ["startswith"]
    assert complete(peer, "thing.computed.") == []
    assert complete(peer, "thing.method().") == []
    peer.go()
    assert peer.finish() == (0, "", "")


def test_keys_are_proposed_in_brackets(peer: EngineClient) -> None:
    assert labels(complete(peer, "thing.stored[")) == ["'name'", "'other key'", "3"]
    (name,) = complete(peer, "thing.stored['na")
    assert (name["text"], name["start"], name["length"], name["type"]) == ("'name']", 13, 3, "value")
    assert labels(complete(peer, 'thing.stored["o')) == ['"other key"']
    assert labels(complete(peer, "things[thin")) == ["thing", "things", "Thing"]


def test_imports_propose_modules_and_names(peer: EngineClient) -> None:
    (peer.folder / "beside.py").write_text("")
    assert "beside" in labels(complete(peer, "import besi"))
    assert "json" in labels(complete(peer, "import js"))
    assert "path" in labels(complete(peer, "import os.pa"))
    assert labels(complete(peer, "from thread")) == ["threading"]
    assert labels(complete(peer, "from threading import Thre")) == ["Thread", "ThreadError"]
    assert "decoder" in labels(complete(peer, "from json import dec"))


def test_capitals_do_not_matter_and_names_in_the_typed_form_come_first(peer: EngineClient) -> None:
    assert labels(complete(peer, "thing")) == ["thing", "things", "Thing"]
    assert labels(complete(peer, "TABE")) == ["TabError"]
    assert labels(complete(peer, "thing.MA")) == ["made"]
    assert labels(complete(peer, "import XML.")) == []
    assert labels(complete(peer, "from os.path import JOI")) == ["join"]


def test_columns_count_utf_16_units_and_lines_from_one(peer: EngineClient) -> None:
    (name,) = complete(peer, "'😀' + näm", column=11)
    assert (name["label"], name["start"], name["length"]) == ("nämé", 7, 3)
    assert labels(complete(peer, "first\nthin.x\nlast", column=5, line=2)) == ["thing", "things", "Thing"]
    assert complete(peer, "'in a tex") == []
    for column, line in ((1, 9), (10_000, 1)):
        if line == 9:
            with pytest.raises(Refused, match="line is 9, the text has 1"):
                complete(peer, "x", column, line)
        else:
            assert complete(peer, "numbe", column, line)
