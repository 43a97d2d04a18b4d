"""Data breakpoints: what can be watched, where the program stops, and what is said there."""

import shutil
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dapkit.python.debuggee.interpreter import native
from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, ENTRY, EngineClient, Message, Refused
from missing import missing

pytestmark = [pytest.mark.row("dataBreakpointInfo, setDataBreakpoints"), pytest.mark.each_python]

WITHOUT = "without the native part"
HERE = "# here"


class Watched:
    """A program that stands at the line marked with `# here`, and the names to watch from there."""

    def __init__(self, peer: EngineClient, text: str) -> None:
        self.peer = peer
        self.lines = text.splitlines()
        path = str(peer.folder / "prog.py")
        peer.configure(lines=[self.line_of(HERE)])
        peer.stopped("breakpoint")
        peer.ask("setBreakpoints", source={"path": path}, breakpoints=[])

    def line_of(self, mark: str) -> int:
        return next(number for number, line in enumerate(self.lines, 1) if line.endswith(mark))

    def info(self, name: str, **more: object) -> Message:
        body: Message = self.peer.ask("dataBreakpointInfo", name=name, frameId=self.peer.stack()[0]["id"], **more)
        return body

    def set(self, *names: str, **more: object) -> list[Message]:
        found = [self.info(name) for name in names]
        assert all(one["dataId"] for one in found), found
        return self.place(*({"dataId": one["dataId"], **more} for one in found))

    def place(self, *wishes: Message) -> list[Message]:
        answers: list[Message] = self.peer.ask("setDataBreakpoints", breakpoints=list(wishes))["breakpoints"]
        return answers

    def next(self) -> tuple[str, str, int]:
        """Continue to the next stop: the text, the function and the line."""
        self.peer.go()
        body = self.peer.stopped("data breakpoint")
        assert body["allThreadsStopped"]
        return (body["text"], *self.peer.at(body["threadId"]))

    def texts(self) -> list[str]:
        """Continue to the end, and return what was said at each stop on the way."""
        self.peer.go()
        told: list[str] = []
        while (message := self.peer.read(time.monotonic() + DEADLINE)) is not None:
            if message.get("event") == "stopped":
                told.append(message["body"]["text"])
                self.peer.send("continue", threadId=1)
        return told

    def changed(self) -> list[Message]:
        """Return what was told about breakpoints by events."""
        return [event["body"]["breakpoint"] for event in self.peer.events() if event["event"] == "breakpoint"]


type Watch = Callable[..., Watched]


@pytest.fixture(scope="session")
def entry_without_native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the start of an engine without its native part, which all tests share: it is compiled only once."""
    folder = tmp_path_factory.mktemp("installed") / "debuggee"
    shutil.copytree(ENTRY.parents[1], folder, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    return folder / "starting" / "entry.py"


@pytest.fixture(params=["", WITHOUT], ids=["native", "python"])
def watch(request: pytest.FixtureRequest, python: str, tmp_path: Path, entry_without_native: Path) -> Iterator[Watch]:
    """Return a function that starts a program, with and without the native part of the engine."""
    if request.param != WITHOUT and not native.AVAILABLE:
        missing(native.REASON)
    entry = entry_without_native if request.param == WITHOUT else ENTRY
    with ExitStack() as stack:

        def run(text: str) -> Watched:
            program = textwrap.dedent(text).lstrip("\n")
            (tmp_path / "prog.py").write_text(program)
            return Watched(
                stack.enter_context(EngineClient(python, tmp_path, "--program", "prog.py", entry=entry)), program
            )

        yield run


@pytest.fixture
def is_native(request: pytest.FixtureRequest) -> bool:
    return not request.node.callspec.params["watch"]


GLOBAL = """
    total = 0
    def add(n):
        global total
        total += n
        return n
    def main():
        pass  # here
        add(3)
        add(2)
        globals()["total"] = 9
        globals().update(total=10)
        del globals()["total"]
    main()
"""


@pytest.mark.thorough
def test_write_of_a_global_variable_stops_in_the_function_that_wrote(watch: Watch) -> None:
    watched = watch(GLOBAL)
    info = watched.info("total")
    assert (info["dataId"], info["canPersist"]) == ("global:__main__:total", True)
    assert info["description"] == "total in module __main__"
    assert info["accessTypes"] == ["write", "read", "readWrite"]
    [placed] = watched.set("total")
    assert placed["verified"]
    assert watched.next() == ("total changed from 0 to 3", "add", 5)
    assert watched.peer.value("total") == "3"
    assert watched.next() == ("total changed from 3 to 5", "add", 5)
    assert watched.next()[0] == "total changed from 5 to 9"
    assert watched.next()[0] == "total changed from 9 to 10"
    assert watched.next()[0] == "total was deleted; it was 10"
    watched.peer.go()
    assert watched.peer.finish()[0] == 0


@pytest.mark.thorough
def test_write_of_an_equal_value_is_no_change(watch: Watch) -> None:
    values = ["0.0", "0.0 * 2", "-0.0", "float('nan')", "float('nan')", "'a'", "'ab'[:1]", "b'a'", "bytes([97])", "1j"]
    values += ["10 ** 20", "10 ** 20 + n", "True", "1", "(1, ('x', 2.5))", "(1, ('xy'[:n + 1], 2.5))", "[]", "[]"]
    watched = watch(
        f"""
        total = None
        def main(n):
            global total
            pass  # here
            {(chr(10) + " " * 12).join(f"total = {value}" for value in values)}
        main(0)
        """
    )
    watched.set("total")
    assert watched.texts() == [
        "total changed from None to 0.0",
        "total changed from 0.0 to -0.0",
        "total changed from -0.0 to nan",
        "total changed from nan to 'a'",
        "total changed from 'a' to b'a'",
        "total changed from b'a' to 1j",
        "total changed from 1j to 100000000000000000000",
        "total changed from 100000000000000000000 to True",
        "total changed from True to 1",
        "total changed from 1 to (1, ('x', 2.5))",
        "total changed from (1, ('x', 2.5)) to []",
        "total was set to another object that looks the same: []",
    ]


def test_stop_names_the_breakpoint_and_steps_go_on_from_it(watch: Watch) -> None:
    watched = watch(GLOBAL)
    [placed] = watched.set("total")
    watched.peer.go()
    body = watched.peer.stopped("data breakpoint")
    assert body["hitBreakpointIds"] == [placed["id"]]
    assert body["description"] == "Paused on data breakpoint"
    assert [frame["name"] for frame in watched.peer.stack()] == ["add", "main", "<module>"]
    assert watched.peer.step() == ("main", 8)
    assert watched.peer.step() == ("main", 9)


OBJECT = """
    class Point:
        def __init__(self):
            self.x, self.y = 0, 0
    def move(point):
        point.y = 1
        point.x = 10
        setattr(point, "x", 11)
        point.__dict__["x"] = 12
        point.__dict__.update(y=3, x=13)
        object.__setattr__(point, "x", 14)
        del point.x
        point.x = 15
    point = Point()
    other = Point()
    def main():
        pass  # here
        move(other)
        move(point)
        point.__dict__ = {"x": 99}
        point.x = 100
    main()
"""


@pytest.mark.thorough
@pytest.mark.needs_gil("entries of dicts are polled without one")
def test_every_way_to_write_an_attribute_is_noticed_in_the_object_that_is_watched(watch: Watch) -> None:
    watched = watch(OBJECT)
    assert watched.info("point.x")["accessTypes"] == ["write"]
    [placed] = watched.set("point.x")
    assert placed["verified"]
    assert watched.next() == ("point.x changed from 0 to 10", "move", 7)
    assert watched.texts() == [
        "point.x changed from 10 to 11",
        "point.x changed from 11 to 12",
        "point.x changed from 12 to 13",
        "point.x changed from 13 to 14",
        "point.x was deleted; it was 14",
        "point.x was set to 15; it had no value",
        "point.x changed from 15 to 99",
        "point.x changed from 99 to 100",
    ]


def test_attribute_is_found_through_the_variables_of_an_object(watch: Watch) -> None:
    watched = watch(OBJECT)
    peer = watched.peer
    reference = peer.ask("evaluate", expression="point", context="watch", frameId=peer.stack()[0]["id"])[
        "variablesReference"
    ]
    info = peer.ask("dataBreakpointInfo", variablesReference=reference, name="x")
    assert info["description"] == "point.x"
    assert peer.ask("dataBreakpointInfo", variablesReference=reference, name="nothing") == {
        "dataId": None,
        "description": "there is no 'nothing' here",
    }
    watched.place({"dataId": info["dataId"]})
    assert watched.next() == ("point.x changed from 0 to 10", "move", 7)


@pytest.mark.thorough
def test_same_place_has_the_same_data_id_whoever_asks(watch: Watch) -> None:
    watched = watch(OBJECT)
    first = watched.info("point.x")["dataId"]
    assert watched.info("point.x")["dataId"] == watched.info("globals()['point'].x")["dataId"] == first
    assert watched.info("other.x")["dataId"] != first


def test_class_attribute_is_watched_in_its_class(watch: Watch) -> None:
    watched = watch("""
        class Base:
            count = 0
        class Derived(Base):
            pass
        def main():
            pass  # here
            Base.count += 1
            Derived.count = 5
            type.__setattr__(Base, "count", 7)
        main()
    """)
    info = watched.info("Base.count")
    assert (info["dataId"], info["canPersist"]) == ("class:__main__:Base:count", True)
    watched.set("Base.count")
    assert watched.next() == ("Base.count changed from 0 to 1", "main", 8)
    assert watched.texts() == ["Base.count changed from 1 to 7"]


def test_attribute_that_an_object_has_of_its_class_is_watched_in_both(watch: Watch) -> None:
    watched = watch("""
        class Counter:
            count = 0
        one = Counter()
        def main():
            pass  # here
            Counter.count = 1
            one.count = 2
            one.count = 3
        main()
    """)
    watched.set("one.count")
    assert watched.texts() == [
        "one.count changed from 0 to 1",
        "one.count was set to 2; it had no value",
        "one.count changed from 2 to 3",
    ]


@pytest.mark.thorough
def test_slot_is_watched_by_comparing_it_at_every_line(watch: Watch, is_native: bool) -> None:
    watched = watch("""
        class Node:
            __slots__ = ("value", "next")
        node = Node()
        def put(value):
            node.value = value
        def main():
            pass  # here
            put(1)
            node.next = None
            for i in range(3): node.value = i
            del node.value
        main()
    """)
    [placed] = watched.set("node.value")
    assert placed["verified"]
    said = "compared at every line of the program's own code, which slows it"
    assert placed["message"] == said + (
        "" if is_native else " several times, since the native part of dapkit is not there"
    )
    assert watched.next() == ("node.value was set to 1; it had no value", "put", 5)
    assert watched.texts() == [
        "node.value changed from 1 to 0",
        "node.value changed from 0 to 1",
        "node.value changed from 1 to 2",
        "node.value was deleted; it was 2",
    ]


@pytest.mark.thorough
def test_items_of_dicts_and_lists_are_watched(watch: Watch) -> None:
    watched = watch("""
        from collections import defaultdict
        table = defaultdict(int, k=1)
        items = [1, 2, 3]
        def main():
            pass  # here
            table["k"] += 1
            table["other"] += 1
            items[-1] = 30
            items.append(4)
            items.insert(0, 0)
            table.clear()
        main()
    """)
    assert all(one["verified"] for one in watched.set("table['k']", "items[2]"))
    assert watched.next() == ("table['k'] changed from 1 to 2", "main", 7)
    assert watched.next() == ("items[2] changed from 3 to 30", "main", 9)
    assert watched.texts() == ["items[2] changed from 30 to 2", "table['k'] was deleted; it was 2"]


@pytest.mark.thorough
def test_bytes_of_buffers_are_watched(watch: Watch) -> None:
    watched = watch("""
        from array import array
        data = bytearray(8)
        numbers = array("d", [0.5, 1.5])
        def main():
            pass  # here
            data[0] = 1
            data[5:7] = b"ab"
            numbers[1] = 2.5
            numbers[0] = 3.5
            del data[4:]
        main()
    """)
    peer = watched.peer
    frame = peer.stack()[0]["id"]
    part = peer.ask("dataBreakpointInfo", name="data[4]", bytes=4, frameId=frame)
    assert part["description"] == "data[4], bytes 4 to 7"
    whole = peer.ask("dataBreakpointInfo", name="data", bytes=9, frameId=frame)
    assert whole == {"dataId": None, "description": "data has 8 bytes; 9 bytes from 0 are more than that"}
    watched.place({"dataId": part["dataId"]}, {"dataId": watched.info("numbers[1]")["dataId"]})
    assert watched.texts() == [
        r"data[4], bytes 4 to 7 changed from b'\x00\x00\x00\x00' to b'\x00ab\x00'",
        "numbers[1] changed from 1.5 to 2.5",
        r"data[4], bytes 4 to 7 was deleted; it was b'\x00ab\x00'",
    ]


LOCAL = """
    def work(n, deeper):
        acc = 0
        if deeper:
            work(2, False)
            pass  # here
        for i in range(n):
            acc += i
        inner = [acc for acc in range(3)]
        del acc
        acc = inner
        return acc
    work(3, True)
    work(3, False)
"""


@pytest.mark.thorough
def test_bytes_are_found_by_their_address(watch: Watch) -> None:
    watched = watch("""
        data = bytearray(8)
        def main():
            pass  # here
            data[3] = 255
            data[4] = 254
        main()
    """)
    peer = watched.peer
    shown = peer.ask("evaluate", expression="data", context="watch", frameId=peer.stack()[0]["id"])
    address = int(shown["memoryReference"], 16)
    info = peer.ask("dataBreakpointInfo", name=hex(address + 4), asAddress=True, bytes=2)
    assert info["description"] == f"bytearray at {address:#x}, bytes 4 to 5"
    nowhere = peer.ask("dataBreakpointInfo", name="0x10", asAddress=True, bytes=2)
    assert nowhere["dataId"] is None
    assert "there is no memory at 0x10" in nowhere["description"]
    watched.place({"dataId": info["dataId"]})
    [text] = watched.texts()
    assert text.endswith(r"bytes 4 to 5 changed from b'\x00\x00' to b'\xfe\x00'")


@pytest.mark.thorough
def test_function_called_from_the_console_stops_when_it_writes(watch: Watch) -> None:
    watched = watch(OBJECT)
    peer = watched.peer
    watched.set("point.x")
    seq = peer.send("evaluate", expression="move(point)", context="repl", frameId=peer.stack()[0]["id"])
    body = peer.stopped("data breakpoint")
    assert body["text"] == "point.x changed from 0 to 10"
    assert peer.at() == ("move", 7)
    watched.place()
    peer.go()
    assert peer.answer(seq)["success"]


@pytest.mark.thorough
def test_local_variable_is_watched_in_one_call_until_that_ends(watch: Watch) -> None:
    watched = watch(LOCAL)
    info = watched.info("acc")
    assert info["description"] == "acc in this call of work"
    assert (info["accessTypes"], info["canPersist"]) == (["write", "read", "readWrite"], False)
    [placed] = watched.set("acc")
    assert watched.next() == ("acc changed from 0 to 1", "work", 7)
    assert watched.next() == ("acc changed from 1 to 3", "work", 7)
    assert watched.texts() == ["acc was deleted; it was 3", "acc was set to [0, 1, 2]; it had no value"]
    assert watched.changed() == [
        {
            "id": placed["id"],
            "verified": False,
            "message": "acc: the call of work has ended",
            "reason": "failed",
        }
    ]


PLACES = {
    "global": ("value", "value = 1"),
    "local": ("here", "here = 1"),
    "attribute": ("thing.x", "thing.x = 1"),
    "slot": ("slotted.x", "slotted.x = 1"),
    "item": ("items[0]", "items[0] = 1"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "write"), PLACES.values(), ids=list(PLACES))
def test_write_stops_before_the_step_over_it_and_before_the_breakpoint_after_it(
    watch: Watch, name: str, write: str
) -> None:
    watched = watch(f"""
        class Thing: pass
        class Slotted:
            __slots__ = ("x",)
        thing, slotted, items, value = Thing(), Slotted(), [0], 0
        thing.x = slotted.x = 0
        def main():
            global value
            here = 0
            pass  # here
            {write}
            print(end="")
            print(end="")
            {write.replace("1", "2")}
            print(end="")
        main()
    """)
    peer = watched.peer
    watched.set(name)
    assert peer.step() == ("main", 10)
    peer.ask("next", threadId=1)
    assert peer.stopped()["text"] == f"{name} changed from 0 to 1"
    assert peer.at() == ("main", 11)
    assert peer.step() == ("main", 12)
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[{"line": 14}])
    assert watched.next() == (f"{name} changed from 1 to 2", "main", 14)
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("main", 14)


def test_local_variable_stays_watched_while_its_function_is_stepped(watch: Watch) -> None:
    watched = watch(LOCAL)
    watched.set("acc")
    assert watched.next() == ("acc changed from 0 to 1", "work", 7)
    assert watched.peer.step() == ("work", 6)
    assert watched.next() == ("acc changed from 1 to 3", "work", 7)


@pytest.mark.thorough
def test_breakpoint_in_the_middle_of_a_line_still_stops_in_a_function_that_writes(watch: Watch) -> None:
    watched = watch("""
        total = 0
        def add(n):
            global total
            total = total + abs(n)
        def main():
            pass  # here
            add(3)
            add(2)
        main()
    """)
    watched.set("total")
    path = str(watched.peer.folder / "prog.py")
    wish = {"line": 4, "column": 21}
    [placed] = watched.peer.ask("setBreakpoints", source={"path": path}, breakpoints=[wish])["breakpoints"]
    assert placed["column"] == wish["column"]
    for text in ("total changed from 0 to 3", "total changed from 3 to 5"):
        watched.peer.go()
        assert watched.peer.stopped("breakpoint")["hitBreakpointIds"] == [placed["id"]]
        assert watched.next()[0] == text


def test_local_variable_of_a_call_that_an_exception_leaves_ends_too(watch: Watch) -> None:
    watched = watch("""
        def work():
            x = 1
            pass  # here
            x = 2 / 0
        try:
            work()
        except ZeroDivisionError:
            print("caught")
    """)
    watched.set("x")
    assert watched.texts() == []
    assert [one["message"] for one in watched.changed()] == ["x: the call of work has ended"]


@pytest.mark.thorough
def test_reads_of_a_local_variable_are_noticed_before_they_happen(watch: Watch) -> None:
    watched = watch("""
        def work():
            x = 1
            pass  # here
            y = x + 1
            x = y
            return x
        work()
    """)
    watched.set("x", accessType="read")
    assert watched.next() == ("x is about to be read: 1", "work", 4)
    assert watched.texts() == ["x is about to be read: 2"]


@pytest.mark.thorough
def test_reads_and_writes_of_a_global_variable_are_noticed(watch: Watch) -> None:
    watched = watch("""
        limit = 1
        def later():
            return limit
        class Body:
            limit = 5
            mine = limit
        def main():
            global limit
            pass  # here
            later()
            limit += 1
            return [limit for _ in range(1)]
        main()
    """)
    watched.set("limit", accessType="readWrite")
    assert watched.next() == ("limit is about to be read: 1", "later", 3)
    assert watched.texts() == [
        "limit is about to be read: 1",
        "limit changed from 1 to 2",
        "limit is about to be read: 2",
    ]


CELL = """
    def outer():
        n = 1
        def inner(step):
            nonlocal n
            n += step
            return n
        def reset():
            nonlocal n
            pass  # here
            n = 0
        inner(1)
        reset()
        n = 50
        return inner
    other = outer()
    first = outer()
    first(2)
    other(7)
"""


@pytest.mark.thorough
def test_cell_is_watched_wherever_it_is_written_and_outlives_the_call(watch: Watch) -> None:
    watched = watch(CELL)
    assert watched.info("n")["accessTypes"] == ["write"]
    watched.set("n")
    assert watched.next() == ("n changed from 2 to 0", "outer.<locals>.reset", 10)
    assert watched.next() == ("n changed from 0 to 50", "outer", 14)
    assert watched.texts() == ["n changed from 50 to 57"]


@pytest.mark.thorough
def test_every_statement_that_binds_a_name_writes_it(watch: Watch) -> None:
    watched = watch("""
        def work():
            e = 0
            pass  # here
            try:
                1 / 0
            except ZeroDivisionError as e:
                pass
            for e in (1, 2): pass
            if (e := 3): pass
            match 4:
                case e: pass
            (e, b) = 5, 6
            with memoryview(b"") as e: pass
            import sys as e
            def e(): pass
        work()
    """)
    watched.set("e")
    texts = watched.texts()
    assert [text.partition(" to ")[2] for text in texts[:2]] == ["ZeroDivisionError('division by zero')", "None"]
    assert texts[2:4] == ["e was deleted; it was None", "e was set to 1; it had no value"]
    assert texts[4:8] == [f"e changed from {n} to {n + 1}" for n in range(1, 5)]
    assert [text.rpartition(" to ")[2].split()[0] for text in texts[8:]] == ["<memory", "<module", "<function"]


@pytest.mark.thorough
def test_local_variable_of_a_generator_is_watched_over_its_yields(watch: Watch) -> None:
    watched = watch("""
        def count():
            n = 1
            pass  # here
            try:
                yield n
                n = 2
                yield n
            finally:
                n = 3
        numbers = count()
        next(numbers)
        next(numbers)
        numbers.close()
        print("end")
    """)
    watched.set("n")
    assert watched.texts() == ["n changed from 1 to 2", "n changed from 2 to 3"]
    assert [one["message"] for one in watched.changed()] == ["n: the call of count has ended"]


@pytest.mark.thorough
def test_cell_without_a_value_is_watched_too(watch: Watch) -> None:
    watched = watch("""
        def outer():
            def inner():
                return n
            pass  # here
            n = 7
            del n
            try:
                inner()
            except NameError as error:
                print(error)
        outer()
    """)
    watched.set("n")
    assert watched.texts() == ["n was set to 7; it had no value", "n was deleted; it was 7"]
    assert watched.peer.finish()[1].startswith("cannot access free variable 'n'")


@pytest.mark.thorough
def test_namespace_of_a_class_body_is_watched(watch: Watch) -> None:
    watched = watch("""
        class Body:
            size = 1
            pass  # here
            size = 2
    """)
    watched.set("size")
    assert watched.next()[0] == "size changed from 1 to 2"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nothing", "there is no variable nothing"),
        ("thing.nothing", "thing.nothing is not a stored attribute"),
        ("thing.area", "thing.area is computed when it is asked for, by property; watch its parts"),
        ("pair[0]", "a tuple does not change"),
        ("int.real", "the attributes of type int do not change"),
        ("1 + 1", "1 + 1 cannot be assigned to; a name, an attribute or an item can"),
        ("items[9]", "there is no item 9; the list has 1"),
        ("items[0:1]", "an item of a list at slice is not a single place"),
        ("odd[thing]", "a key of type __main__.Thing is compared by code of the program"),
        ("mapping['a']", "a __main__.Mapping is not a dict, list or buffer"),
        ("(lambda", "SyntaxError: '(' was never closed (line 1, column 1)"),
        ("fail()[0]", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_watched_has_no_data_id_but_a_reason(unwatchable: Watched, name: str, reason: str) -> None:
    info = unwatchable.info(name)
    assert info["dataId"] is None
    assert reason in info["description"]


def _with_text(start: Start, text: str) -> tuple[EngineClient, str]:
    program = textwrap.dedent(text).lstrip("\n")
    return start(program), program


@pytest.fixture(scope="module")
def with_global(start_shared: Start) -> Watched:
    """Return a program with a global variable; tests only ask."""
    return Watched(*_with_text(start_shared, GLOBAL))


@pytest.fixture(scope="module")
def unwatchable(start_shared: Start) -> Watched:
    """Return a program with values that cannot be watched; tests only ask."""
    program = """
        class Thing:
            def __hash__(self): return 1
            def __eq__(self, other): return self is other
            @property
            def area(self): return 1
        class Mapping:
            def __getitem__(self, key): return 1
        def fail(): return 1 / 0
        thing, pair, items, mapping = Thing(), (1, 2), [1], Mapping()
        odd = {thing: 1}
        pass  # here
    """
    return Watched(*_with_text(start_shared, program))


@pytest.mark.thorough
def test_conditions_see_the_writer_s_names_and_the_old_and_new_value(watch: Watch) -> None:
    watched = watch(GLOBAL)
    watched.set("total", condition="n == 2 and old == 3 and new == 5 and total == 5")
    assert watched.next() == ("total changed from 3 to 5", "add", 5)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("hits", "texts"), [("2", ["3 to 5"]), (">= 3", ["5 to 9", "9 to 10"]), ("% 2", ["3 to 5", "9 to 10"])]
)
def test_hit_conditions_count_the_changes(watch: Watch, hits: str, texts: list[str]) -> None:
    watched = watch(GLOBAL)
    watched.set("total", hitCondition=hits)
    assert [text for text in watched.texts() if "deleted" not in text] == [
        f"total changed from {text}" for text in texts
    ]


@pytest.mark.thorough
def test_breakpoint_of_mode_once_stops_once_and_is_removed(watch: Watch) -> None:
    watched = watch(GLOBAL)
    twice = watched.info("total")["dataId"]
    once = watched.info("total", mode="once")["dataId"]
    assert once == f"once:{twice}"
    placed, other = watched.place({"dataId": once, "condition": "new > 3"}, {"dataId": twice, "hitCondition": "3"})
    assert watched.texts() == ["total changed from 3 to 5", "total changed from 5 to 9"]
    told = [event["body"] for event in watched.peer.events() if event["event"] == "breakpoint"]
    assert told == [{"reason": "removed", "breakpoint": {**told[0]["breakpoint"], "id": placed["id"]}}]
    assert other["id"] != placed["id"]


def test_mode_that_is_unknown_is_refused(start: Start) -> None:
    watched = Watched(*_with_text(start, GLOBAL))
    with pytest.raises(Refused, match="mode 'sometimes' is unknown; there is once"):
        watched.info("total", mode="sometimes")


@pytest.mark.thorough
def test_condition_that_raises_counts_as_false_and_is_reported_once(watch: Watch) -> None:
    watched = watch(GLOBAL)
    watched.set("total", condition="missing > 1")
    watched.peer.go()
    watched.peer.finish()
    events = [event for event in watched.peer.events() if event["event"] in ("output", "stopped")]
    [said] = [event["body"]["output"] for event in events if event["event"] == "output"]
    assert said.startswith(
        "The condition of a data breakpoint raised NameError: name 'missing' is not defined, which counts as false, at "
    )
    assert said.endswith(": missing > 1\n")
    assert [event["event"] for event in events] == ["stopped", "output"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"dataId": "value:1:77"}, "dataId 'value:1:77' is no longer valid"),
        ({"dataId": 5}, "dataId is 5, expected a text"),
        ({}, "dataId is None, expected a text"),
        ({"condition": "1 +"}, "condition '1 +'"),
        ({"hitCondition": "often"}, "hit condition 'often'"),
        ({"accessType": "execute"}, "accessType is 'execute', expected read, write or readWrite"),
    ],
)
def test_mistake_in_a_data_breakpoint_is_told_on_it_and_the_others_work(start: Start, wish: Message, said: str) -> None:
    watched = Watched(*_with_text(start, GLOBAL))
    good = {"dataId": watched.info("total")["dataId"]}
    bad, fine = watched.place(good | wish if "dataId" in wish or wish else {}, good)
    assert not bad["verified"]
    assert said in bad["message"]
    assert fine["verified"]
    assert watched.next()[0] == "total changed from 0 to 3"


def test_read_access_that_cannot_be_noticed_is_told(start: Start) -> None:
    watched = Watched(*_with_text(start, OBJECT))
    [placed] = watched.set("point.x", accessType="readWrite")
    assert placed["message"] == "readWrite access of point.x cannot be noticed; only writes can"


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [{}, {"breakpoints": 5}, {"breakpoints": [1]}])
def test_set_data_breakpoints_without_a_list_is_refused(start: Start, arguments: dict[str, Any]) -> None:
    watched = Watched(*_with_text(start, GLOBAL))
    with pytest.raises(Refused, match="expected a list of objects"):
        watched.peer.ask("setDataBreakpoints", **arguments)


def test_breakpoint_is_set_while_the_program_runs(start: Start) -> None:
    watched = Watched(*_with_text(start, "count = 0  # here\nwhile True: count += 1\n"))
    peer = watched.peer
    peer.go()
    [placed] = peer.ask("setDataBreakpoints", breakpoints=[{"dataId": "global:__main__:count"}])["breakpoints"]
    assert placed["verified"]
    assert peer.stopped("data breakpoint")["hitBreakpointIds"] == [placed["id"]]
    assert peer.ask("setDataBreakpoints", breakpoints=[]) == {"breakpoints": []}
    peer.go()
    assert peer.silent("stopped", 0.1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": None},
        {"name": 5},
        {"name": "total", "bytes": -1},
        {"name": "total", "bytes": "four"},
        {"name": "total", "asAddress": "yes"},
        {"name": "total", "asAddress": True},
        {"name": "total", "variablesReference": 1_000_000},
        {"name": "total", "variablesReference": "1"},
        {"name": "total", "frameId": 1_000_000},
        {"name": "total", "frameId": [1]},
        {"name": "\0"},
        {"name": "", "bytes": 4},
        {"name": "(" * 500},
        {"name": "0x" + "f" * 40, "asAddress": True},
        {"name": "total", "bytes": 2**70},
    ],
    ids=repr,
)
def test_wrong_arguments_get_a_clear_answer_and_the_next_question_works(
    with_global: Watched, arguments: Message
) -> None:
    watched = with_global
    answer = watched.peer.answer(watched.peer.send("dataBreakpointInfo", **arguments))
    if answer["success"]:
        assert answer["body"]["dataId"] is None
        assert answer["body"]["description"]
    else:
        assert answer["message"]
    assert "internal" not in str(answer)
    assert watched.info("total")["dataId"] == "global:__main__:total"


def test_questions_are_refused_while_the_program_runs(start: Start) -> None:
    peer = start("while True: pass\n")
    peer.configure()
    with pytest.raises(Refused, match="is running"):
        peer.ask("dataBreakpointInfo", name="x")
    with pytest.raises(Refused, match="name is None"):
        peer.ask("dataBreakpointInfo")


@pytest.mark.thorough
def test_setting_another_list_replaces_the_breakpoints(watch: Watch) -> None:
    watched = watch(OBJECT)
    watched.set("point.x")
    assert watched.next()[0] == "point.x changed from 0 to 10"
    watched.set("other.y")
    watched.place()
    watched.peer.go()
    assert watched.peer.finish()[0] == 0


@pytest.mark.thorough
def test_data_id_of_a_stop_is_good_only_until_the_program_goes_on_unless_it_is_set(watch: Watch) -> None:
    watched = watch(OBJECT)
    kept, dropped = watched.info("point.x")["dataId"], watched.info("other.x")["dataId"]
    watched.place({"dataId": kept})
    watched.next()
    again, gone = watched.place({"dataId": kept}, {"dataId": dropped})
    assert (again["verified"], gone["verified"]) == (True, False)
    assert watched.next()[0] == "point.x changed from 10 to 11"


@pytest.mark.thorough
def test_changes_that_the_client_makes_do_not_stop_the_program(watch: Watch) -> None:
    watched = watch(OBJECT)
    peer = watched.peer
    watched.set("point.x", "point.y")
    frame = peer.stack()[0]["id"]
    peer.ask("setExpression", expression="point.x", value="5", frameId=frame)
    peer.ask("evaluate", expression="setattr(point, 'y', 7)", context="repl", frameId=frame)
    assert watched.next()[0] == "point.y changed from 7 to 1"
    assert watched.next()[0] == "point.x changed from 5 to 10"


def test_global_and_class_attribute_set_before_the_start_wait_for_their_module_and_class(
    start: Start,
) -> None:
    peer = start("""
        total = 0
        class Thing:
            size = 1
            def grow(self):
                Thing.size += 1
        def main():
            global total
            total = 5
            Thing().grow()
        main()
    """)
    peer.ask("initialize", adapterID="test")
    peer.ask("launch")
    answers = peer.ask(
        "setDataBreakpoints",
        breakpoints=[{"dataId": "global:__main__:total"}, {"dataId": "class:__main__:Thing:size"}],
    )["breakpoints"]
    assert [(one["verified"], one["reason"]) for one in answers] == [(False, "pending"), (False, "pending")]
    peer.ask("configurationDone")
    texts = []
    for _ in range(3):
        texts.append(peer.stopped("data breakpoint")["text"])
        peer.go()
    assert texts == [
        "total was set to 0; it had no value",
        "total changed from 0 to 5",
        "Thing.size changed from 1 to 2",
    ]
    peer.finish()
    verified = [event["body"]["breakpoint"] for event in peer.events() if event["event"] == "breakpoint"]
    assert [(one["id"], one["verified"]) for one in verified] == [(one["id"], True) for one in answers]


def test_attribute_of_a_class_is_watched_as_soon_as_the_class_has_its_name(start: Start) -> None:
    peer = start(
        """
        def same(kind): return kind
        @same
        class Outer:
            class Inner:
                size = 1
            size = 1
        Outer.size = 2
        Outer.Inner.size = 3
        """
    )
    peer.ask("initialize", adapterID="test")
    peer.ask("launch")
    wishes = [{"dataId": "class:__main__:Outer:size"}, {"dataId": "class:__main__:Outer.Inner:size"}]
    peer.ask("setDataBreakpoints", breakpoints=wishes)
    peer.ask("configurationDone")
    for text in ("Outer.size changed from 1 to 2", "Outer.Inner.size changed from 1 to 3"):
        assert peer.stopped("data breakpoint")["text"] == text
        peer.go()
    assert peer.finish() == (0, "", "")


def test_access_types_are_those_that_are_noticed(start: Start) -> None:
    watched = Watched(
        *_with_text(
            start,
            """
            import ctypes
            total = 1
            class Slotted:
                __slots__ = ("s",)
            class Thing:
                size = 1
            def main():
                cell = local = 1
                slotted, thing = Slotted(), Thing()
                slotted.s = thing.a = 1
                table, items, buffer, numbers = {"k": 1}, [1], bytearray(b"ab"), (ctypes.c_long * 2)(1, 2)
                def inner():
                    return cell
                print()  # here
                numbers[1] = 7
            main()
            """,
        )
    )
    everything = ["total", "local", "cell", "thing.a", "Thing.size", "slotted.s", "table['k']", "items[0]", "buffer[0]"]
    types = {name: watched.info(name)["accessTypes"] for name in everything}
    readable = {"total", "local"}
    assert types == {name: ["write", "read", "readWrite"] if name in readable else ["write"] for name in everything}
    for name in everything:
        for access in ("write", "read", "readWrite"):
            [placed] = watched.set(name, accessType=access)
            assert placed["verified"] == (access in types[name])
    watched.set("numbers[1]")
    assert watched.texts() == ["numbers[1] changed from 2 to 7"]


@pytest.mark.thorough
@pytest.mark.parametrize("access", ["write", "read", "readWrite"])
def test_global_that_is_not_there_yet_is_watched_from_the_entry_on(start: Start, access: str) -> None:
    peer = start("total = 1\nother = 5\ntotal = total + other\nprint(total)\n")
    peer.configure(stopOnEntry=True)
    peer.stopped("entry")
    [placed] = peer.ask("setDataBreakpoints", breakpoints=[{"dataId": "global:__main__:total", "accessType": access}])[
        "breakpoints"
    ]
    assert placed["verified"]
    writes = ["total was set to 1; it had no value", "total changed from 1 to 6"]
    reads = ["total is about to be read: 1", "total is about to be read: 6"]
    due = {"write": writes, "read": reads, "readWrite": [writes[0], reads[0], writes[1], reads[1]]}[access]
    for text in due:
        peer.go()
        assert peer.stopped("data breakpoint")["text"].startswith(text)
    peer.go()
    assert peer.finish() == (0, "6\n", "")


@pytest.mark.needs_gil("entries of dicts are polled without one")
@pytest.mark.thorough
def test_object_that_goes_away_ends_its_breakpoint(watch: Watch, is_native: bool) -> None:
    watched = watch("""
        class Thing:
            def __del__(self): print("gone")
        thing = Thing()
        thing.x = 1
        def main():
            global thing
            pass  # here
            thing = None
            print("after")
        main()
    """)
    watched.set("thing.x")
    assert watched.texts() == []
    if is_native:  # what is polled is kept alive
        assert [one["message"] for one in watched.changed()] == ["thing.x: the object is gone"]


@pytest.mark.thorough
@pytest.mark.needs_gil("entries of dicts are polled without one")
@pytest.mark.parametrize("step", ["pass", "pause()"])
def test_object_that_goes_away_ends_all_its_breakpoints(watch: Watch, is_native: bool, step: str) -> None:
    watched = watch(f"""
        class Thing: pass
        thing = Thing()
        thing.x = thing.y = thing.z = 1
        def pause(): pass
        def main():
            global thing
            pass  # here
            thing = None
            {step}
            print("after")
        main()
    """)
    watched.set("thing.x", "thing.y", "thing.z")
    watched.peer.ask("setFunctionBreakpoints", breakpoints=[{"name": "pause"}])
    if step == "pause()":  # a stop, with which what has been written is read as well
        watched.peer.go()
        watched.peer.stopped("function breakpoint")
    assert watched.texts() == []
    if is_native:  # what is polled is kept alive
        ended = [f"thing.{name}: the object is gone" for name in "xyz"]
        assert sorted(one["message"] for one in watched.changed() if "message" in one) == ended


@pytest.mark.thorough
def test_value_whose_repr_fails_or_does_not_end_is_told_within_its_time(watch: Watch) -> None:
    watched = watch("""
        class Bad:
            def __repr__(self): raise ValueError("no")
        class Endless:
            def __repr__(self):
                while True: pass
        value = Bad()
        def main():
            global value
            pass  # here
            value = Endless()
            value = list(range(1000))
        main()
    """)
    watched.set("value")
    assert watched.next()[0] == (
        "value changed from <repr of __main__.Bad raised ValueError: no> to "
        "<repr of __main__.Endless timed out after 0.25 s>"
    )
    assert len(watched.next()[0]) < 400


@pytest.mark.thorough
def test_write_in_an_expression_that_then_raises_is_not_missed(watch: Watch) -> None:
    watched = watch("""
        d = {"x": 0}
        def work():
            d.update([("x", 1), 5])
        def main():
            pass  # here
            try:
                work()
            except TypeError:
                print("caught")
        main()
    """)
    watched.set("d['x']")
    assert watched.next()[:2] == ("d['x'] changed from 0 to 1", "work")
    assert watched.peer.value("d") == "{'x': 1}"
    watched.peer.go()
    assert watched.peer.finish()[1] == "caught\n"


@pytest.mark.thorough
@pytest.mark.needs_gil("entries of dicts are polled without one")
def test_each_thread_stops_where_it_wrote_itself(start: Start) -> None:
    watched = Watched(
        *_with_text(
            start,
            """
        import threading
        class Shared:
            pass
        shared = Shared()
        shared.x = 0
        def write(start):
            for i in range(start, start + 3):
                shared.x = i
        def main():
            pass  # here
            threads = [threading.Thread(target=write, args=(1000 * n,)) for n in range(1, 5)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        main()
    """,
        )
    )
    watched.set("shared.x")
    seen = []
    for _ in range(12):
        watched.peer.go()
        body = watched.peer.stopped("data breakpoint")
        thread = body["threadId"]
        value = body["text"].rpartition(" ")[2]
        name, _line = watched.peer.at(thread)
        seen.append((thread, value))
        assert name == "write"
        assert watched.peer.locals(thread)["i"]["value"] == value
    assert sorted(int(value) for _, value in seen) == sorted(1000 * n + k for n in range(1, 5) for k in range(3))
    assert len({thread for thread, _ in seen}) == 4
    watched.peer.go()
    assert watched.peer.finish()[0] == 0


@pytest.mark.thorough
def test_thread_that_writes_stops_alone_where_threads_do(start: Start) -> None:
    peer = start("""
        import threading, time
        beats, total, done = 0, 0, False
        def beat():
            global beats
            while not done:
                beats += 1
                time.sleep(0.001)
        def main():
            global total, done
            shared = 0
            def write():
                nonlocal shared
                shared = 1
            pass  # here
            total = 1
            write()
            done = True
        threading.Thread(target=beat).start()
        main()
    """)
    peer.configure(lines=[15], stopAllThreads=False)
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    found = [peer.ask("dataBreakpointInfo", name=name, frameId=frame) for name in ("total", "shared")]
    peer.ask("setDataBreakpoints", breakpoints=[{"dataId": one["dataId"]} for one in found])
    for text, place in (("total changed from 0 to 1", "main"), ("shared changed from 0 to 1", "main.<locals>.write")):
        peer.ask("continue", threadId=1, singleThread=True)
        body = peer.stopped("data breakpoint")
        assert (body["text"], body["allThreadsStopped"]) == (text, False)
        assert peer.at()[0] == place
        before = peer.value("beats")
        deadline = time.monotonic() + DEADLINE
        while peer.value("beats") == before:
            assert time.monotonic() < deadline
    peer.ask("continue", threadId=1)
    assert peer.finish()[0] == 0


@pytest.mark.thorough
def test_threads_hammer_a_watched_value_without_harm(start: Start) -> None:
    watched = Watched(
        *_with_text(
            start,
            """
        import gc, threading
        class Shared:
            pass
        shared = Shared()
        shared.x = 0
        def write(start):
            for i in range(start, start + 5000):
                shared.x = [i]
                if i % 1000 == 0: gc.collect()
        def main():
            pass  # here
            threads = [threading.Thread(target=write, args=(10000 * n,)) for n in range(1, 5)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            shared.x = "end"
        main()
        print("done")
    """,
        )
    )
    watched.set("shared.x", condition="new == 'end' or new == [21234]")
    first, last = watched.texts()
    assert first.endswith("to [21234]")
    assert last.endswith("to 'end'")
    assert watched.peer.finish()[:2] == (0, "done\n")


@pytest.mark.thorough
def test_child_of_a_fork_is_not_watched(watch: Watch) -> None:
    watched = watch("""
        import os
        value = 0
        def main():
            global value
            pass  # here
            pid = os.fork()
            value = 1 if pid else 2
            if not pid:
                value = 3
                os._exit(value)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        main()
    """)
    watched.set("value")
    assert watched.next()[0] == "value changed from 0 to 1"
    watched.peer.go()
    assert watched.peer.finish()[:2] == (0, "3\n")


@pytest.mark.thorough
def test_program_that_was_released_runs_on_unwatched(watch: Watch) -> None:
    watched = watch(OBJECT)
    watched.set("point.x", "point.y")
    watched.next()
    watched.peer.ask("disconnect", terminateDebuggee=False)
    assert watched.peer.process.wait(timeout=20) == 0


@pytest.mark.thorough
def test_no_data_breakpoints_when_other_tools_took_all_places(start: Start) -> None:
    watched = Watched(
        *_with_text(
            start,
            """
        import sys
        total = 0
        pass  # here
        total = 1
    """,
        )
    )
    watched.peer.value("[sys.monitoring.use_tool_id(number, f'tool {number}') for number in (3, 5)]")
    [placed] = watched.set("total")
    assert not placed["verified"]
    assert "tool 5 and tool 3" in placed["message"]
    watched.peer.go()
    assert watched.peer.finish()[0] == 0
