"""Memory of buffers, and where things are defined."""

import base64

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

PROGRAM = """
    import array, mmap, ctypes
    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int32), ("y", ctypes.c_int32)]
    class Thing:
        def method(self): return 1
        @property
        def computed(self): return 2
    def function(): yield 1
    frozen = b"frozen"
    raw = bytearray(range(16))
    numbers = array.array("i", [1, 2, 3])
    view = memoryview(raw)[4:8]
    readonly = memoryview(frozen)
    mapped = mmap.mmap(-1, 64)
    point = Point(1, 2)
    integer = ctypes.c_uint16(258)
    thing = Thing()
    method = thing.method
    generator = function()
    stop = 1
    print(raw, numbers, point.y, integer.value, mapped[:3])
"""


def at_stop(start: Start) -> tuple[EngineClient, dict[str, Message]]:
    peer = start(PROGRAM)
    peer.configure(lines=[20])
    peer.stopped("breakpoint")
    return peer, peer.locals()


def read(peer: EngineClient, reference: str, count: int, offset: int = 0) -> tuple[bytes, int]:
    body = peer.ask("readMemory", memoryReference=reference, offset=offset, count=count)
    assert int(body["address"], 16) >= 0
    return base64.b64decode(body.get("data", "")), body.get("unreadableBytes", 0)


def write(peer: EngineClient, reference: str, data: bytes, offset: int = 0, **more: object) -> Message:
    encoded = base64.b64encode(data).decode()
    body: Message = peer.ask("writeMemory", memoryReference=reference, offset=offset, data=encoded, **more)
    return body


@pytest.mark.row("readMemory, writeMemory")
def test_memory_of_buffers_of_every_kind_is_read(start: Start) -> None:
    peer, rows = at_stop(start)
    for name, count, expected in (
        ("frozen", 6, b"frozen"),
        ("raw", 4, bytes(range(4))),
        ("numbers", 8, b"\1\0\0\0\2\0\0\0"),
        ("view", 4, bytes(range(4, 8))),
        ("mapped", 3, b"\0\0\0"),
        ("point", 8, b"\1\0\0\0\2\0\0\0"),
        ("integer", 2, b"\2\1"),
    ):
        assert read(peer, rows[name]["memoryReference"], count) == (expected, 0), name
    assert "memoryReference" not in rows["thing"]
    body = peer.ask("evaluate", expression="raw[2:5]", frameId=peer.stack()[0]["id"])
    assert read(peer, body["memoryReference"], 3) == (b"\2\3\4", 0)


@pytest.mark.row("readMemory, writeMemory")
def test_what_lies_outside_of_a_buffer_is_unreadable(start: Start) -> None:
    peer, rows = at_stop(start)
    raw = rows["raw"]["memoryReference"]
    assert read(peer, raw, 8, offset=12) == (bytes(range(12, 16)), 4)
    assert read(peer, raw, 8, offset=16) == (b"", 8)
    assert read(peer, raw, 8, offset=-4) == (b"", 4)
    assert read(peer, raw, 0) == (b"", 0)
    for arguments, said in (
        ({"memoryReference": "0x1", "count": 1}, "there is no memory '0x1'"),
        ({"memoryReference": raw}, "count is None, expected a number"),
        ({"memoryReference": raw, "count": -1}, "count is -1, expected a number from 0 on"),
        ({"memoryReference": raw, "count": 1, "offset": "x"}, "offset is 'x', expected a number"),
        ({"memoryReference": raw, "count": 10**9}, "bytes can be read at once"),
    ):
        with pytest.raises(Refused) as refused:
            peer.ask("readMemory", **arguments)
        assert said in str(refused.value)


@pytest.mark.row("readMemory, writeMemory")
def test_writes_change_the_program_and_are_told_of(start: Start) -> None:
    peer, rows = at_stop(start)
    read(peer, rows["view"]["memoryReference"], 4)
    assert write(peer, rows["raw"]["memoryReference"], b"AB", offset=4) == {"bytesWritten": 2}
    assert peer.event("memory") == {"memoryReference": rows["raw"]["memoryReference"], "offset": 4, "count": 2}
    assert peer.event("invalidated") == {"areas": ["variables"]}
    assert peer.event("memory") == {"memoryReference": rows["view"]["memoryReference"], "offset": 0, "count": 4}
    write(peer, rows["numbers"]["memoryReference"], b"\7", offset=8)
    write(peer, rows["point"]["memoryReference"], b"\5", offset=4)
    write(peer, rows["integer"]["memoryReference"], b"\0\1")
    write(peer, rows["mapped"]["memoryReference"], b"map")
    peer.go()
    assert peer.finish()[1] == (
        "bytearray(b'\\x00\\x01\\x02\\x03AB\\x06\\x07\\x08\\t\\n\\x0b\\x0c\\r\\x0e\\x0f') "
        "array('i', [1, 2, 7]) 5 256 b'map'\n"
    )


@pytest.mark.row("readMemory, writeMemory")
def test_partial_writes_are_made_only_if_allowed(start: Start) -> None:
    peer, rows = at_stop(start)
    raw = rows["raw"]["memoryReference"]
    with pytest.raises(Refused, match="4 bytes at 14 do not fit into 16; allowPartial writes the part that does"):
        write(peer, raw, b"wxyz", offset=14)
    assert write(peer, raw, b"wxyz", offset=14, allowPartial=True) == {"bytesWritten": 2}
    assert write(peer, raw, b"wxyz", offset=-2, allowPartial=True) == {"bytesWritten": 2, "offset": 0}
    assert read(peer, raw, 16)[0] == b"yz" + bytes(range(2, 14)) + b"wx"


@pytest.mark.row("readMemory, writeMemory")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("frozen", "the memory of a bytes cannot be changed: it is read-only"),
        ("readonly", "the memory of a memoryview cannot be changed: it is read-only"),
    ],
)
def test_immutable_memory_is_not_written(start: Start, name: str, said: str) -> None:
    peer, rows = at_stop(start)
    with pytest.raises(Refused, match=said):
        write(peer, rows[name]["memoryReference"], b"x")
    with pytest.raises(Refused, match="data is not base64"):
        peer.ask("writeMemory", memoryReference=rows["raw"]["memoryReference"], data="?")


@pytest.mark.row("readMemory, writeMemory")
def test_assignments_tell_of_memory_that_was_read(start: Start) -> None:
    peer, rows = at_stop(start)
    raw = rows["raw"]["memoryReference"]
    read(peer, raw, 8)
    frame = peer.stack()[0]["id"]
    peer.ask("setExpression", expression="raw[0]", value="255", frameId=frame)
    assert peer.event("memory") == {"memoryReference": raw, "offset": 0, "count": 8}
    peer.ask("evaluate", expression="raw[9] = 1", context="repl", frameId=frame)
    assert peer.silent("memory", 0.05)
    peer.step()
    assert read(peer, raw, 1)[0] == b"\xff"


@pytest.mark.thorough
@pytest.mark.row("source, loadedSources, modules, locations")
@pytest.mark.parametrize(
    ("name", "line"),
    [("function", 8), ("Thing", 4), ("Point", 2), ("method", 5), ("generator", 8)],
)
def test_values_lead_to_where_they_are_defined(start: Start, name: str, line: int) -> None:
    peer, _ = at_stop(start)
    body = peer.ask("evaluate", expression=name, frameId=peer.stack()[0]["id"])
    place = peer.ask("locations", locationReference=body["valueLocationReference"])
    assert place["source"]["path"] == str(peer.folder / "prog.py")
    assert place["line"] == line


@pytest.mark.row("source, loadedSources, modules, locations")
def test_modules_properties_and_library_classes_have_locations(start: Start) -> None:
    peer, rows = at_stop(start)
    frame = peer.stack()[0]["id"]

    def place(reference: int) -> tuple[str, int]:
        body = peer.ask("locations", locationReference=reference)
        return body["source"]["name"], body["line"]

    module = peer.ask("evaluate", expression="__import__('os')", frameId=frame)
    assert place(module["valueLocationReference"]) == ("os.py", 1)
    library = peer.ask("evaluate", expression="__import__('threading').Thread", frameId=frame)
    assert place(library["valueLocationReference"])[0] == "threading.py"
    (computed,) = peer.rows(rows["thing"]["variablesReference"])
    assert place(computed["declarationLocationReference"]) == ("prog.py", 6)
    assert "valueLocationReference" not in rows["raw"]
    with pytest.raises(Refused, match="there is no reference 99999"):
        peer.ask("locations", locationReference=99999)
