"""Breakpoints by the name of a function."""

from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message

pytestmark = pytest.mark.each_python

MANY = """
import asyncio, functools

def plain(n):
    total = n
    return total

def outer():
    def inner(x):
        return x
    return inner(1)

class K:
    def method(self, a):
        return a

    @staticmethod
    def static():
        return 1

    @property
    def prop(self):
        return 2

def deco(f):
    @functools.wraps(f)
    def wrapper(*a):
        return f(*a)
    return wrapper

@deco
def decorated(z):
    return z

@functools.lru_cache
def cached(z):
    return z

def gen():
    yield 1
    yield 2

async def co():
    await asyncio.sleep(0)
    return 1

double = lambda v: v * 2

def spin():
    while True:
        return

def main():
    for n in range(3):
        plain(n)
    outer()
    K().method(1), K.static(), K().prop
    decorated(1), cached(1), list(gen()), asyncio.run(co()), double(3), spin()

main()
"""


def ready(peer: EngineClient, *wishes: Message) -> list[Message]:
    peer.ask("initialize", adapterID="test")
    peer.ask("launch")
    placed: list[Message] = peer.ask("setFunctionBreakpoints", breakpoints=list(wishes))["breakpoints"]
    peer.ask("configurationDone")
    return placed


@pytest.mark.thorough
@pytest.mark.row("setFunctionBreakpoints")
@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("outer", ("outer", 8)),
        ("outer.inner", ("outer.<locals>.inner", 9)),
        ("outer.<locals>.inner", ("outer.<locals>.inner", 9)),
        ("K.method", ("K.method", 14)),
        ("prog:K.static", ("K.static", 18)),
        ("__main__.K.prop", ("K.prop", 22)),
        ("decorated", ("decorated", 32)),
        ("cached()", ("cached", 36)),
        ("gen", ("gen", 39)),
        ("co", ("co", 43)),
        ("double", ("<lambda>", 46)),
        ("spin", ("spin", 49)),
    ],
)
def test_names_of_functions_of_many_kinds_are_found_and_stop_at_their_first_line(
    start: Start, name: str, at: tuple[str, int]
) -> None:
    peer = start(MANY)
    [placed] = ready(peer, {"name": name})
    assert (placed["verified"], placed["reason"]) == (False, "pending")
    changed = peer.event("breakpoint")["breakpoint"]
    assert (changed["id"], changed["verified"]) == (placed["id"], True)
    assert changed["source"]["path"] == str(peer.folder / "prog.py")
    assert peer.stopped("function breakpoint")["hitBreakpointIds"] == [placed["id"]]
    assert peer.at() == at
    peer.go()
    assert peer.finish()[0] == 0


def test_condition_and_hit_condition_choose_the_calls(start: Start) -> None:
    peer = start(MANY)
    ready(peer, {"name": "plain", "condition": "n > 0", "hitCondition": "2"})
    peer.stopped("function breakpoint")
    assert (peer.at(), peer.value("n")) == (("plain", 4), "2")
    assert peer.step() == ("plain", 5)
    peer.go()
    assert peer.finish()[0] == 0


def test_mistake_in_a_function_breakpoint_is_told_on_it(start: Start) -> None:
    peer = start(MANY)
    wishes: list[Message] = [{"name": "a b"}, {"name": "plain", "condition": "n ="}, {"name": "m:"}, {}]
    placed = ready(peer, *wishes)
    assert [one["verified"] for one in placed] == [False] * 4
    assert "is not a name of a function" in placed[0]["message"]
    assert "invalid syntax" in placed[1]["message"]
    assert peer.finish()[0] == 0


def test_function_of_a_library_is_named_with_its_module_and_found_when_loaded(start: Start, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("class C:\n    def m(self):\n        return 1\n\ndef dumps(): pass\n")
    peer = start("import json\njson.dumps(1)\nimport other\nother.C().m()\nother.dumps()\n")
    placed = ready(peer, {"name": "json.dumps"}, {"name": "other:C.m"}, {"name": "dumps"})
    seen = []
    for _ in range(3):
        seen.append((peer.stopped("function breakpoint")["hitBreakpointIds"], peer.at()[0]))
        peer.go()
    ids = [[one["id"]] for one in placed]
    assert seen == [(ids[0], "dumps"), (ids[1], "C.m"), (ids[2], "dumps")]
    assert peer.finish()[0] == 0


def test_function_that_is_loaded_already_is_verified_at_once_and_can_be_taken_away(start: Start) -> None:
    peer = start(MANY)
    peer.configure(lines=[53])
    peer.stopped("breakpoint")
    names = ("plain", "K.method", "double", "len", "json.loads", "K")
    placed = peer.ask("setFunctionBreakpoints", breakpoints=[{"name": name} for name in names])["breakpoints"]
    assert [one["verified"] for one in placed] == [True, True, True, False, False, False]
    assert placed[0]["line"] == 4
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go()
    peer.stopped("function breakpoint")
    assert peer.at() == ("plain", 4)
    peer.ask("setFunctionBreakpoints", breakpoints=[])
    peer.go()
    assert peer.finish()[0] == 0
