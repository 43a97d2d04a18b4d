"""Values of the standard library: how they read, and that their pages are pages."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = [pytest.mark.row("scopes, variables"), pytest.mark.each_python]

STANDARD = """
    import array, collections, dataclasses, datetime, decimal, enum, fractions, functools, pathlib, types, warnings
    warned = []
    warnings.simplefilter("always")
    warnings.showwarning = lambda *given: warned.append(given)
    @dataclasses.dataclass(slots=True)
    class Point:
        x: int
        y: int = 2
    class Colour(enum.Enum):
        RED = 1
    Pair = collections.namedtuple("Pair", "left right")
    class Keyed:
        def __getitem__(self, key): raise RuntimeError
        def __getattribute__(self, name): raise RuntimeError
        def __init__(self): object.__setattr__(self, "inside", 1)
    class Odd(dict):
        def __getitem__(self, key): return "wrong"
    class Shadowed:
        @property
        def name(self): return "property"
    class Holder:
        class Inner: pass
        def method(self): pass
        attribute = 1
        static = staticmethod(len)
    class Cached:
        @functools.cached_property
        def slow(self): return object()
    def produce(): yield 1
    async def later(): pass
    def scene():
        point, colour, pair, keyed = Point(1), Colour.RED, Pair(1, [2]), Keyed()
        odd = Odd(k=[1])
        shadowed = Shadowed(); shadowed.__dict__["name"] = "stored"
        shadowed.__dict__["not a name"] = [1]; shadowed.__dict__["class"] = [2]
        cached = Cached(); cached.slow
        when = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC)
        path = pathlib.PurePosixPath("/a/b.txt")
        generator, coroutine = produce(), later()
        counter = collections.Counter("abca")
        default = collections.defaultdict(list, a=[1])
        chain = collections.ChainMap({"a": 1})
        mapping = types.MappingProxyType({"a": [1]})
        spread = types.SimpleNamespace(a=1)
        amount = decimal.Decimal("1.5")
        numbers = array.array("i", range(5))
        try: raise ValueError("outer") from KeyError("inner")
        except ValueError as caught: error = caught
        keys = {1: "a", "1": "b", None: "c", (1, "x"): "d", 2.5: "e", float("nan"): "f", frozenset({1}): "g"}
        views = keys.keys()
        holder = Holder
        module = datetime
        code = produce.__code__
        coroutine.close()
        return point
    scene()
"""
PATHS = (
    *("point", "colour", "pair", "keyed", "odd", "shadowed", "cached", "mapping"),
    *("counter", "default", "spread", "numbers", "error", "keys", "holder"),
)


def line_of(program: str, text: str) -> int:
    return next(n for n, line in enumerate(program.strip().splitlines(), 1) if text in line)


def at_scene(start: Start) -> EngineClient:
    peer = start(STANDARD)
    peer.configure(lines=[line_of(STANDARD, "return point")])
    peer.stopped("breakpoint")
    return peer


def inside(peer: EngineClient, row: Message) -> dict[str, str]:
    return {one["name"]: one["value"] for one in peer.rows(row["variablesReference"])}


def test_values_of_the_standard_library_read_well(start: Start) -> None:
    peer = at_scene(start)
    rows = peer.locals()
    assert inside(peer, rows["point"]) == {"x": "1", "y": "2"}
    colour = inside(peer, rows["colour"])
    assert (colour["name"], colour["value"]) == ("'RED'", "1")
    assert inside(peer, rows["pair"]) == {"left": "1", "right": "[2]", "[0]": "1", "[1]": "[2]"}
    when = inside(peer, rows["when"])
    assert (when["year"], when["month"], when["hour"], when["tzinfo"]) == ("2024", "2", "12", "datetime.timezone.utc")
    assert rows["path"]["value"] == "PurePosixPath('/a/b.txt')"
    assert {"suffix", "parent", "name"} <= set(inside(peer, rows["path"]))
    assert inside(peer, rows["generator"])["gi_running"] == "False"
    assert inside(peer, rows["coroutine"])["cr_await"] == "None"
    assert inside(peer, rows["counter"]) == {"'a'": "2", "'b'": "1", "'c'": "1"}
    assert inside(peer, rows["default"])["'a'"] == "[1]"
    assert inside(peer, rows["spread"]) == {"a": "1"}
    assert inside(peer, rows["numbers"])["[4]"] == "4"
    assert inside(peer, rows["error"])["__cause__"] == "KeyError('inner')"
    assert inside(peer, rows["keys"]) == {
        "1": "'a'",
        "'1'": "'b'",
        "None": "'c'",
        "(1, 'x')": "'d'",
        "2.5": "'e'",
        "nan": "'f'",
        "frozenset({1})": "'g'",
    }
    assert inside(peer, rows["mapping"]) == {"'a'": "[1]"}
    with pytest.raises(Refused, match="does not let its items be replaced"):
        peer.ask("setVariable", variablesReference=rows["mapping"]["variablesReference"], name="'a'", value="2")
    assert peer.value("mapping['a']", context="hover") == "[1]"
    assert inside(peer, rows["code"])["co_names"] == "()"
    assert peer.value("len(warned)") == "0"
    holder = inside(peer, rows["holder"])
    assert holder == {
        "attribute": "1",
        "special variables": "",
        "function variables": "",
        "class variables": "",
    }
    assert {"datetime_CAPI", "MAXYEAR"} & set(inside(peer, rows["module"]))


@pytest.fixture(scope="module")
def scene(start_shared: Start) -> EngineClient:
    """Return a program that stands among values of the standard library; tests only look."""
    return at_scene(start_shared)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PATHS)
def test_evaluate_name_gives_the_very_same_object(scene: EngineClient, name: str) -> None:
    peer = scene
    frame = peer.stack()[0]["id"]
    todo = [peer.locals()[name]]
    seen = 0
    for row in todo:
        if row.get("presentationHint", {}).get("lazy"):
            continue
        if path := row.get("evaluateName"):
            again = peer.ask("evaluate", expression=path, frameId=frame)
            assert (again["result"], again["type"]) == (row["value"], row["type"]), path
            seen += 1
        if row["variablesReference"] and len(todo) < 60:
            todo += peer.rows(row["variablesReference"])
    assert seen > 0


CONTAINERS = """
    import array, collections
    N = 1_000_000
    a_list = list(range(N))
    a_tuple = tuple(a_list)
    a_deque = collections.deque(a_list)
    a_dict = dict.fromkeys(a_list)
    a_set = set(a_list)
    a_str = "x" * N
    a_bytes = bytes(N)
    a_range = range(N)
    an_array = array.array("q", a_list)
    stop = 1
"""
NUMBERS = (("[500000]", "500000"), ("[500099]", "500099"))
PAGES = [
    *((name, *NUMBERS) for name in ("a_list", "a_tuple", "a_deque", "a_set", "a_range", "an_array")),
    ("a_dict", ("500000", "None"), ("500099", "None")),
    ("a_str", ("[500000]", "'x'"), ("[500099]", "'x'")),
    ("a_bytes", ("[500000]", "0"), ("[500099]", "0")),
]


@pytest.mark.thorough
def test_page_from_the_middle_of_a_million_in_every_container(start: Start) -> None:
    peer = start(CONTAINERS)
    peer.configure(lines=[line_of(CONTAINERS, "stop = 1")])
    peer.stopped("breakpoint")
    rows = peer.locals()
    for name, first, last in PAGES:
        assert rows[name]["indexedVariables"] == 1_000_000
        page = peer.rows(rows[name]["variablesReference"], filter="indexed", start=500_000, count=100)
        assert len(page) == 100
        assert [(row["name"], row["value"]) for row in (page[0], page[-1])] == [first, last], name
