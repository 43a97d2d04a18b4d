"""Variables and evaluation: pages, odd objects, deadlines, assignments."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Refused

SCENE = """
    import collections, enum, dataclasses
    class Slotted:
        __slots__ = ("a", "b")
        def __init__(self): self.a = 1
    @dataclasses.dataclass
    class Point:
        x: int
        _hidden: int = 2
    class Colour(enum.Enum):
        RED = 1
    class Odd(dict):
        pass
    def scene(outer):
        def inner():
            numbers = list(range(1_000_000))
            table = {i: str(i) for i in range(1000)}
            mixed = {"a b": 1, (1, 2): 2, None: 3}
            group = {1, 2, 3}
            slotted = Slotted()
            point = Point(1)
            colour = Colour.RED
            odd = Odd(k=1); odd.extra = 5
            text = "x" * 5_000_000
            big = 10 ** 5000
            nested = [[[[[1]]]]]
            loop = []; loop.append(loop)
            ring = collections.deque(range(5))
            error = ValueError("v")
            lone = "\\udcff ok"
            cell = outer
            return cell
        return inner()
    scene("closed over")
"""


@pytest.fixture(scope="module")
def scene(start_shared: Start) -> EngineClient:
    """Return a program that stands in its scene; tests only look."""
    peer = start_shared(SCENE)
    peer.configure(lines=[30])
    peer.stopped("breakpoint")
    return peer


@pytest.mark.each_python
def test_locals_are_shown_with_types_and_children(scene: EngineClient) -> None:
    rows = scene.locals()
    assert list(rows)[:3] == ["numbers", "table", "mixed"]
    assert rows["numbers"]["value"].startswith("[0, 1, 2,")
    assert rows["numbers"]["value"].endswith("… (1,000,000 in all)]")
    assert (rows["numbers"]["type"], rows["numbers"]["indexedVariables"]) == ("list", 1_000_000)
    assert rows["point"]["value"].endswith("Point(x=1, _hidden=2)")
    assert rows["point"]["type"] == "__main__.Point"
    assert rows["colour"]["value"] == "<Colour.RED: 1>"
    assert len(rows["text"]["value"]) <= 1000
    assert "5,000,000 in all" in rows["text"]["value"]
    assert rows["big"]["value"] == "<int of 16,610 bits>"
    assert rows["nested"]["value"] == "[[[[…]]]]"
    assert rows["loop"]["value"] == "[[[[…]]]]"
    assert rows["ring"]["value"] == "deque([0, 1, 2, 3, 4])"
    assert rows["lone"]["value"] == "'\\udcff ok'"
    assert rows["error"]["namedVariables"] == 3


def test_page_from_the_middle_of_a_million_is_that_page(scene: EngineClient) -> None:
    reference = scene.locals()["numbers"]["variablesReference"]
    rows = scene.rows(reference, filter="indexed", start=500_000, count=100)
    assert [row["name"] for row in rows] == [f"[{n}]" for n in range(500_000, 500_100)]
    assert rows[0]["value"] == "500000"
    assert rows[0]["evaluateName"] == "numbers[500000]"
    assert scene.rows(reference, filter="named") == []


def test_container_asked_for_without_pages_shows_a_part_and_leads_to_the_rest(scene: EngineClient) -> None:
    rows = scene.rows(scene.locals()["table"]["variablesReference"])
    assert len(rows) == 501
    assert (rows[7]["name"], rows[7]["value"], rows[7]["evaluateName"]) == ("7", "'7'", "table[7]")
    assert (rows[-1]["name"], rows[-1]["value"]) == ("[500…]", "500 more items")
    rest = scene.rows(rows[-1]["variablesReference"])
    assert [row["name"] for row in rest] == [str(n) for n in range(500, 1000)]
    middle = scene.rows(rows[-1]["variablesReference"], filter="indexed", start=10, count=2)
    assert [row["name"] for row in middle] == ["510", "511"]


@pytest.mark.each_python
@pytest.mark.thorough
def test_object_with_very_many_attributes_shows_a_part_and_leads_to_the_rest(start: Start) -> None:
    peer = start(
        "class Many: pass\nmany = Many()\nvars(many).update((f'a{n:06}', n) for n in range(20_000))\nstop = 1\n"
    )
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    row = peer.locals()["many"]
    shown = peer.rows(row["variablesReference"])
    assert [each["name"] for each in shown[:2]] == ["a000000", "a000001"]
    assert (shown[-1]["name"], shown[-1]["value"]) == ("[500…]", "19,500 more attributes")
    assert len(shown) == 501
    further = peer.rows(shown[-1]["variablesReference"])
    assert (further[0]["name"], further[-1]["value"], len(further)) == ("a000500", "19,000 more attributes", 501)
    [page] = [peer.rows(row["variablesReference"], start=15_000, count=3)]
    assert [each["name"] for each in page] == ["a015000", "a015001", "a015002"]
    peer.ask("setVariable", variablesReference=row["variablesReference"], name="a010000", value="'new'")
    assert peer.value("many.a010000") == "'new'"


def test_children_of_objects_of_many_kinds(scene: EngineClient) -> None:
    rows = scene.locals()

    def inside(name: str) -> dict[str, str]:
        return {row["name"]: row["value"] for row in scene.rows(rows[name]["variablesReference"])}

    assert inside("mixed") == {"'a b'": "1", "(1, 2)": "2", "None": "3"}
    assert inside("slotted") == {"a": "1"}
    assert inside("point") == {"x": "1", "private variables": ""}
    assert inside("odd") == {"extra": "5", "'k'": "1"}
    assert inside("group") == {"[0]": "1", "[1]": "2", "[2]": "3"}
    assert inside("ring") == {"maxlen": "None", **{f"[{n}]": str(n) for n in range(5)}}
    assert inside("error")["args"] == "('v',)"
    point = {row["name"]: row for row in scene.rows(rows["point"]["variablesReference"])}
    assert point["x"]["evaluateName"] == "point.x"
    hidden = scene.rows(point["private variables"]["variablesReference"])
    assert [(row["name"], row["evaluateName"], row["presentationHint"]) for row in hidden] == [
        ("_hidden", "point._hidden", {"visibility": "private"})
    ]


HOSTILE = """
    import time, sys, os
    class Raises:
        def __repr__(self): raise ValueError("no")
    class Exits:
        def __repr__(self): sys.exit(3)
    class Interrupts:
        def __getattribute__(self, name): raise KeyboardInterrupt
        def __repr__(self): raise KeyboardInterrupt
    class Number:
        def __repr__(self): return 42
    class Recurses:
        def __repr__(self): return repr(self)
    class Spins:
        def __repr__(self):
            while True: pass
    class Sleeps:
        def __repr__(self): time.sleep(3600)
    class Huge:
        def __repr__(self): return "x" * 2_000_000
    class Lies:
        @property
        def __class__(self): raise RuntimeError("liar")
        @property
        def __dict__(self): raise RuntimeError("liar")
    class Quits:
        def __repr__(self): os._exit(7)
    class Aborts:
        def __repr__(self): os.abort()
    class Prints:
        def __repr__(self):
            print("side effect"); sys.stderr.write("side effect")
            return "<prints>"
    class Gigabyte:
        def __repr__(self): return "x" * 1_000_000_000
    class Mutates:
        def __init__(self): self.seen = 0
        def __repr__(self):
            self.seen += 1
            shared.clear()
            return "<mutates>"
    shared = {"a": 1, "b": Mutates(), "c": 3}
    class Long:
        def __dir__(self): return [f"name{n}" for n in range(3_000_000)]
        def __repr__(self): return "<long>"
    class Waits:
        @property
        def answer(self):
            import threading
            threading.Event().wait()
        @property
        def broken(self): raise KeyError("gone")
        @property
        def quits(self): os._exit(3)
        @property
        def good(self): return [1, 2]
        def __repr__(self): return "<waits>"
    class Sub(str):
        def __str__(self): return 7
    class SubRepr:
        def __repr__(self): return Sub("sub")
    class Swallows:
        def __repr__(self):
            while True:
                try:
                    while True: pass
                except BaseException: pass
    def scene({names}):
        before = 1
        zz = 2
        return before
    scene({values})
"""
HOSTILE_LINE = next(n for n, line in enumerate(HOSTILE.strip().splitlines(), 1) if "return before" in line)


@pytest.mark.thorough
@pytest.mark.row("scopes, variables")
@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("Raises", "<repr of __main__.Raises raised ValueError: no>"),
        ("Exits", "<repr of __main__.Exits raised SystemExit: 3>"),
        ("Interrupts", "<repr of __main__.Interrupts raised KeyboardInterrupt>"),
        ("Number", "<repr of __main__.Number raised TypeError: __repr__ returned non-string (type int)>"),
        ("Recurses", "<repr of __main__.Recurses raised RecursionError"),
        ("Spins", "<repr of __main__.Spins timed out after 0.25 s>"),
        ("Sleeps", "<repr of __main__.Sleeps timed out after 0.25 s>"),
        ("Swallows", "<repr of __main__.Swallows timed out after 0.25 s>"),
        ("Huge", "xxx"),
        ("Lies", "<__main__.Lies object at"),
        ("Quits", "<repr of __main__.Quits tried to end the process: os._exit was called>"),
        ("Aborts", "<repr of __main__.Aborts tried to end the process: os.abort was called>"),
        ("Prints", "<prints>"),
        ("Gigabyte", ""),
        ("Mutates", "<mutates>"),
        ("Long", "<long>"),
        ("Waits", "<waits>"),
        ("SubRepr", "sub"),
    ],
)
def test_hostile_value_costs_a_time_limit_and_not_its_siblings(start: Start, kind: str, shown: str) -> None:
    peer = start(HOSTILE.replace("{names}", "hostile").replace("{values}", f"{kind}()"))
    peer.configure(lines=[HOSTILE_LINE])
    peer.stopped("breakpoint")
    locals_of = peer.ask("scopes", frameId=peer.stack()[0]["id"])["scopes"][0]["variablesReference"]
    answer = peer.answer(peer.send("variables", variablesReference=locals_of), seconds=40)
    rows = {row["name"]: row for row in answer["body"]["variables"]}
    assert rows["hostile"]["value"].startswith(shown)
    assert (rows["before"]["value"], rows["zz"]["value"]) == ("1", "2")
    assert peer.ask("threads")["threads"]
    if kind != "Swallows":
        assert peer.value("before + zz") == "3"
        peer.go()
        assert peer.finish() == (0, "", "")


@pytest.mark.row("scopes, variables")
def test_properties_are_read_only_when_they_are_opened(start: Start) -> None:
    peer = start(HOSTILE.replace("{names}", "hostile").replace("{values}", "Waits()"))
    peer.configure(lines=[HOSTILE_LINE])
    peer.stopped("breakpoint")
    rows = {row["name"]: row for row in peer.rows(peer.locals()["hostile"]["variablesReference"])}
    assert list(rows) == ["answer", "broken", "quits", "good"]
    assert all(row["presentationHint"]["lazy"] and row["value"] == "" for row in rows.values())

    def opened(name: str) -> dict[str, object]:
        (row,) = peer.rows(rows[name]["variablesReference"])
        assert row["name"] == name
        return row

    assert opened("answer")["value"] == "<answer timed out after 0.25 s>"
    assert opened("broken")["value"] == "<broken raised KeyError: 'gone'>"
    assert opened("quits")["value"] == "<quits tried to end the process: os._exit was called>"
    good = opened("good")
    assert (good["value"], good["evaluateName"], good["indexedVariables"]) == ("[1, 2]", "hostile.good", 2)
    peer.go()
    assert peer.finish() == (0, "", "")


def test_many_hostile_values_together_are_answered_in_time(start: Start) -> None:
    kinds = ("Spins", "Raises", "Spins", "Spins", "Number", "Sleeps", "Spins")
    names = ", ".join(f"h{n}" for n, _ in enumerate(kinds))
    peer = start(HOSTILE.replace("{names}", names).replace("{values}", ", ".join(f"{kind}()" for kind in kinds)))
    peer.configure(lines=[HOSTILE_LINE])
    peer.stopped("breakpoint")
    rows = peer.locals()
    assert len(rows) == 9
    assert rows["h4"]["value"] == "<repr of __main__.Number was not called: those before it took too long>"
    assert (rows["before"]["value"], rows["zz"]["value"]) == ("1", "2")


EVALUATE = """
    shared = 10
    def work(n):
        items = [1, 2, 3]
        cell = 5
        def inner(): return cell
        x = n
        y = x
        return x, y, cell, items, inner()
    print(work(1))
"""


def at_work(start: Start) -> EngineClient:
    peer = start(EVALUATE)
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    return peer


@pytest.fixture(scope="module")
def working(start_shared: Start) -> EngineClient:
    """Return a program that stands at work; tests only look."""
    return at_work(start_shared)


@pytest.mark.each_python
def test_evaluate_sees_locals_globals_builtins_and_closures(start: Start) -> None:
    peer = at_work(start)
    assert peer.value("n + shared + len(items)") == "14"
    assert peer.value("[i * n for i in items]") == "[1, 2, 3]"
    assert peer.value("any(i > n for i in items)") == "True"
    assert peer.value("(lambda: n + shared)()") == "11"
    assert peer.value("  n\n") == "1"
    assert peer.ask("evaluate", expression="shared")["result"] == "10"
    assert peer.ask("evaluate", expression="items", frameId=peer.stack()[0]["id"])["indexedVariables"] == 3


@pytest.mark.each_python
def test_console_runs_statements_and_assignments_reach_the_program(start: Start) -> None:
    peer = at_work(start)
    assert peer.value("x = 100", context="repl") == ""
    assert peer.value("cell = 6; items.append(4)", context="repl") == ""
    assert peer.value("for i in range(3):\n    print('line', i)\nx += 1\nx", context="repl") == "101"
    assert peer.value("def helper():\n    return x + n\nhelper()", context="repl") == "102"
    assert peer.value("new_name = 7", context="repl") == ""
    assert peer.value("new_name") == "7"
    assert peer.locals()["x"]["value"] == "101"
    peer.value("global shared; shared = 11", context="repl")
    assert peer.ask("evaluate", expression="shared")["result"] == "11"
    peer.go()
    assert peer.finish() == (0, "line 0\nline 1\nline 2\n(101, 101, 6, [1, 2, 3, 4], 6)\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("expression", "context", "said"),
    [
        ("nothing", "watch", "NameError: name 'nothing' is not defined"),
        ("1 +", "watch", "SyntaxError: invalid syntax"),
        ("x = 1", "watch", "SyntaxError"),
        ("1/0", "repl", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "repl", "SystemExit: 3"),
        ("len(items)", "hover", "a hover calls nothing"),
    ],
)
def test_evaluation_that_fails_says_why(working: EngineClient, expression: str, context: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        working.value(expression, context=context)
    assert said in str(refused.value)
    assert working.value("n") == "1"


@pytest.mark.thorough
def test_evaluation_that_never_ends_is_interrupted(start: Start) -> None:
    peer = at_work(start)
    with pytest.raises(Refused, match=r"did not end"):
        peer.value("[0 for _ in iter(int, 1) if _]")
    assert peer.value("n") == "1"
    peer.go()
    assert peer.finish()[0] == 0


def test_clipboard_gets_the_whole_value_and_hover_a_part(start: Start) -> None:
    peer = start("s = 'x' * 50_000\nt = 1\n")
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    assert peer.value("s", context="clipboard") == "'" + "x" * 50_000 + "'"
    assert len(peer.value("s", context="hover")) <= 1000


def test_module_scope_shows_plain_names_first(start: Start) -> None:
    peer = start("_private = 1\nplain = 2\nend = 3\n")
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    assert list(peer.locals()) == ["plain", "special variables", "private variables"]


@pytest.mark.thorough
def test_variables_wait_for_a_slow_watch_and_are_shown_as_they_are(start: Start) -> None:
    peer = start(
        """
        class Thing:
            def __repr__(self): return "a thing"
        def work():
            thing = Thing()
            print()
        work()
        """
    )
    peer.configure(lines=[5])
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    scope = peer.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    watch = peer.send("evaluate", expression="__import__('time').sleep(1.5)", context="watch", frameId=frame)
    second = peer.send("evaluate", expression="repr(thing)", context="watch", frameId=frame)
    shown = peer.send("variables", variablesReference=scope)
    assert peer.answer(watch)["body"]["result"] == "None"
    assert peer.answer(second)["body"]["result"] == "'a thing'"
    assert [row["value"] for row in peer.answer(shown)["body"]["variables"]] == ["a thing"]
