"""setVariable and setExpression: every place that a value can be stored at."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.each_python

PROGRAM = """
    import dataclasses
    shared = 10
    class Slotted:
        __slots__ = ("a",)
        def __init__(self): self.a = 1
    class Guarded:
        def __init__(self): self._level = 1
        @property
        def level(self): return self._level
        @level.setter
        def level(self, new):
            if new > 10: raise ValueError("too high")
            self._level = new
        @property
        def fixed(self): return 3
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        x: int
    def work(n):
        cell = 5
        slotted, guarded, frozen = Slotted(), Guarded(), Frozen(1)
        items = [1, [2, 3]]
        table = {"k": 1, (1, 2): 2}
        fixed = (1, 2)
        group = {1, 2}
        raw = bytearray(b"abc")
        def inner():
            y = n
            return cell, y
        inner()
        result = n, cell, items, table, slotted.a, guarded.level, raw
        return result
    print(work(1), shared)
"""
END = 30


def at_end(start: Start) -> EngineClient:
    peer = start(PROGRAM)
    peer.configure(lines=[END])
    peer.stopped("breakpoint")
    return peer


@pytest.fixture(scope="module")
def ended(start_shared: Start) -> EngineClient:
    """Return a program that stands at its end; tests change nothing in it."""
    return at_end(start_shared)


def set_in(peer: EngineClient, reference: int, name: str, value: str) -> Message:
    body: Message = peer.ask("setVariable", variablesReference=reference, name=name, value=value)
    return body


def scope(peer: EngineClient, at: int = 0, frame: int = 0) -> int:
    scopes = peer.ask("scopes", frameId=peer.stack()[frame]["id"])["scopes"]
    reference: int = scopes[at]["variablesReference"]
    return reference


@pytest.mark.row("scopes, variables")
def test_scopes_are_locals_closure_and_globals(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[29])
    peer.stopped("breakpoint")
    scopes = peer.ask("scopes", frameId=peer.stack()[0]["id"])["scopes"]
    assert [one["name"] for one in scopes] == ["Locals", "Closure", "Globals"]
    closure = {row["name"]: row["value"] for row in peer.rows(scopes[1]["variablesReference"])}
    assert closure == {"cell": "5", "n": "1"}
    assert [row["name"] for row in peer.rows(scopes[0]["variablesReference"])] == ["y"]


@pytest.mark.row("setVariable, setExpression")
def test_locals_cells_and_globals_are_set(start: Start) -> None:
    peer = at_end(start)
    answer = set_in(peer, scope(peer), "n", "[shared, 2]")
    assert (answer["value"], answer["type"], answer["indexedVariables"]) == ("[10, 2]", "list", 2)
    assert [row["value"] for row in peer.rows(answer["variablesReference"])] == ["10", "2"]
    assert peer.event("invalidated") == {"areas": ["variables"]}
    assert set_in(peer, scope(peer), "cell", "n")["value"] == "[10, 2]"
    assert set_in(peer, scope(peer, 1), "shared", "'s'")["type"] == "str"
    assert peer.value("inner()") == "([10, 2], [10, 2])"
    assert peer.value("shared") == "'s'"
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[{"line": 29}])
    peer.go()
    peer.stopped("breakpoint")
    set_in(peer, scope(peer, 1), "cell", "'from inside'")
    peer.go()
    code, out, err = peer.finish()
    assert (code, err) == (0, "")
    assert out.startswith("([10, 2], 'from inside', ")
    assert out.endswith(" s\n")


@pytest.mark.row("setVariable, setExpression")
def test_attributes_items_and_properties_are_set_by_reference(start: Start) -> None:
    peer = at_end(start)
    rows = peer.locals()

    def below(name: str) -> int:
        reference: int = rows[name]["variablesReference"]
        return reference

    assert set_in(peer, below("slotted"), "a", "7")["value"] == "7"
    nested = peer.rows(below("items"))[1]["variablesReference"]
    assert set_in(peer, nested, "[0]", "'two'")["value"] == "'two'"
    assert set_in(peer, below("table"), "'k'", "8")["value"] == "8"
    assert set_in(peer, below("table"), "(1, 2)", "9")["value"] == "9"
    assert set_in(peer, below("guarded"), "level", "4")["value"] == "4"
    assert set_in(peer, below("raw"), "[1]", "0x7a")["value"] == "122"
    peer.step()
    peer.go()
    assert peer.finish()[1] == ("(1, 5, [1, ['two', 3]], {'k': 8, (1, 2): 9}, 7, 4, bytearray(b'azc')) 10\n")


@pytest.mark.row("setVariable, setExpression")
@pytest.mark.parametrize(
    ("owner", "name", "value", "said"),
    [
        ("fixed", "[0]", "1", "a tuple does not let its items be replaced"),
        ("group", "[0]", "1", "a set does not let its items be replaced"),
        ("frozen", "x", "2", "FrozenInstanceError: cannot assign to field 'x'"),
        ("guarded", "level", "11", "ValueError: too high"),
        ("guarded", "fixed", "1", "AttributeError: property 'fixed' of 'Guarded' object has no setter"),
        ("raw", "[0]", "300", "ValueError: byte must be in range(0, 256)"),
        ("items", "[7]", "1", "there is no '[7]' here"),
        ("items", "[0]", "1 +", "SyntaxError"),
        ("items", "[0]", "nothing", "NameError: name 'nothing' is not defined"),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_reason(
    ended: EngineClient, owner: str, name: str, value: str, said: str
) -> None:
    peer = ended
    with pytest.raises(Refused) as refused:
        set_in(peer, peer.locals()[owner]["variablesReference"], name, value)
    assert said in str(refused.value)
    assert peer.value("n") == "1"


@pytest.mark.row("setVariable, setExpression")
def test_expressions_are_assigned_to(start: Start) -> None:
    peer = at_end(start)
    frame = peer.stack()[0]["id"]

    def assign(expression: str, value: str) -> str:
        answer = peer.ask("setExpression", expression=expression, value=value, frameId=frame)
        value_now: str = answer["value"]
        return value_now

    assert assign("n", "n + 1") == "2"
    assert assign("items[1][0]", "'x'") == "'x'"
    assert assign("items[:1]", "[8, 9]") == "[8, 9]"
    assert assign("slotted.a", "cell * 2") == "10"
    assert assign("table[1, 2]", "0") == "0"
    assert assign("shared", "11") == "11"
    assert peer.event("invalidated")["areas"] == ["variables"]
    for expression, said in (
        ("n + 1", "cannot be assigned to; a name, an attribute or an item can"),
        ("nothing", "there is no variable nothing"),
        ("n =", "SyntaxError"),
        ("fixed[0]", "TypeError: 'tuple' object does not support item assignment"),
        ("items[99]", "IndexError"),
    ):
        with pytest.raises(Refused) as refused:
            assign(expression, "1")
        assert said in str(refused.value)
    peer.go()
    assert peer.finish()[1] == ("(2, 5, [8, 9, ['x', 3]], {'k': 1, (1, 2): 0}, 10, 1, bytearray(b'abc')) 11\n")


@pytest.mark.row("scopes, variables")
def test_return_value_is_shown_after_a_step_over_a_return(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[29])
    peer.stopped("breakpoint")
    peer.step("next")
    assert [row["value"] for name, row in peer.locals().items() if name.startswith("(return) ")] == ["(5, 1)"]


@pytest.mark.row("launch")
def test_return_value_is_not_shown_if_the_launch_says_so(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[29], showReturnValue=False)
    peer.stopped("breakpoint")
    peer.step("next")
    scopes = peer.ask("scopes", frameId=peer.stack()[0]["id"])["scopes"]
    assert [one["name"] for one in scopes] == ["Locals", "Globals"]


@pytest.mark.row("scopes, variables")
def test_return_value_is_shown_after_a_step_out_of_a_function(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[29])
    peer.stopped("breakpoint")
    peer.step("stepOut")
    scopes = peer.ask("scopes", frameId=peer.stack()[0]["id"])["scopes"]
    assert [one["name"] for one in scopes] == ["Locals", "Globals"]
    first, *others = peer.rows(scopes[0]["variablesReference"])
    assert (first["name"], first["value"], first["indexedVariables"]) == ("(return) work.<locals>.inner", "(5, 1)", 2)
    assert first["presentationHint"] == {"attributes": ["readOnly"]}
    assert all("presentationHint" not in row for row in others if row["name"] == "shared")
    with pytest.raises(Refused, match="cannot be set: it is not a variable of the program"):
        peer.ask("setVariable", variablesReference=scopes[0]["variablesReference"], name=first["name"], value="1")
    peer.step()
    assert not [name for name in peer.locals() if name.startswith("(return)")]
