"""Stacks: deep ones, names as the client wants them, and what each frame tells of its code."""

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.each_python


@pytest.mark.thorough
@pytest.mark.row("stackTrace")
def test_pages_of_a_very_deep_stack(start: Start) -> None:
    peer = start(
        """
        import sys
        sys.setrecursionlimit(200_000)
        def down(n):
            if n:
                return down(n - 1)
            return 0
        down(100_000)
        """
    )
    peer.configure(lines=[6])
    peer.stopped("breakpoint")
    body = peer.ask("stackTrace", threadId=1, startFrame=0, levels=20)
    assert body["totalFrames"] == 100_002
    assert len(body["stackFrames"]) == 20
    body = peer.ask("stackTrace", threadId=1, startFrame=99_990, levels=50)
    assert [frame["name"] for frame in body["stackFrames"]] == ["down"] * 11 + ["<module>"]
    assert peer.ask("stackTrace", threadId=1, startFrame=200_000, levels=5)["stackFrames"] == []


CALLED = """
    class Odd:
        def __repr__(self): return "odd"
    class K:
        def method(self, a, /, b, *rest, c=3, **more):
            local = 1
            return a
    K().method(Odd(), "two", 3, 4, d=5)
"""


def names(peer: EngineClient, **form: bool) -> list[str]:
    return [frame["name"] for frame in peer.ask("stackTrace", threadId=1, format=form)["stackFrames"]]


@pytest.mark.row("stackTrace")
def test_format_makes_the_names_of_frames(start: Start) -> None:
    peer = start(CALLED)
    peer.configure(lines=[6])
    peer.stopped("breakpoint")
    assert names(peer) == ["K.method", "<module>"]
    assert names(peer, line=True, module=True) == ["__main__.K.method:6", "__main__.<module>:7"]
    assert names(peer, parameters=True) == ["K.method(self, a, b, c, *rest, **more)", "<module>()"]
    assert names(peer, parameters=True, parameterNames=True, parameterValues=True)[0].endswith(
        ", a=odd, b='two', c=3, *rest=(3, 4), **more={'d': 5})"
    )
    assert names(peer, parameters=True, parameterTypes=True)[0] == (
        "K.method(__main__.K, __main__.Odd, str, int, tuple, dict)"
    )
    assert ", b: str = 'two', c: int = 3, " in names(
        peer, parameters=True, parameterNames=True, parameterTypes=True, parameterValues=True
    )[0]  # fmt: skip
    with pytest.raises(Refused, match="format is 7, expected an object"):
        peer.ask("stackTrace", threadId=1, format=7)
    for wrong in ({"startFrame": -1}, {"levels": "all"}):
        with pytest.raises(Refused, match="expected a number from 0 on"):
            peer.ask("stackTrace", threadId=1, **wrong)


@pytest.mark.row("stackTrace")
def test_names_of_running_frames_show_no_values(start: Start) -> None:
    peer = start("def work(n):\n    print('on', flush=True)\n    while True: n += 1\nwork(1)\n")
    peer.configure()
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    assert names(peer, parameters=True, parameterValues=True, parameterNames=True)[0] == "work(n)"


@pytest.mark.row("stackTrace")
def test_import_machinery_is_shown_only_when_all_is_wanted(start: Start) -> None:
    peer = start("import other\n")
    (peer.folder / "other.py").write_text("x = 1\n")
    peer.configure(lines=[1], path=peer.folder / "other.py")
    peer.stopped("breakpoint")
    assert names(peer) == ["<module>", "<module>"]
    every = names(peer, includeAll=True)
    assert "_find_and_load" in every
    assert len(every) > 5
    assert "includeAll" not in str(peer.stack())


@pytest.mark.row("stackTrace")
def test_library_frames_are_subtle_and_frames_name_their_module(start: Start) -> None:
    peer = start(
        "import json\nclass D(json.JSONEncoder):\n    def default(self, o):\n        return 1\njson.dumps(D, cls=D)\n"
    )
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    frames = peer.stack()
    assert [frame.get("presentationHint") for frame in frames] == [None, *["subtle"] * (len(frames) - 2), None]
    told: dict[int, Message] = {
        event["body"]["module"]["id"]: event["body"]["module"] for event in peer.events() if event["event"] == "module"
    }
    by_name = {told[frame["moduleId"]]["name"]: told[frame["moduleId"]] for frame in frames}
    assert by_name.keys() == {"__main__", "json", "json.encoder"}
    assert (by_name["__main__"]["isUserCode"], by_name["json"]["isUserCode"]) == (True, False)


@pytest.mark.row("stackTrace")
def test_deadlock_shows_where_each_thread_waits(start: Start) -> None:
    peer = start(
        """
        import threading
        a, b, met = threading.Lock(), threading.Lock(), threading.Barrier(2)
        def one():
            with a:
                met.wait()
                with b: pass
        def two():
            with b:
                met.wait()
                with a: pass
        for f in (one, two):
            threading.Thread(target=f, daemon=True).start()
        print("on", flush=True)
        threading.Event().wait()
        """
    )
    peer.configure()
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    peer.wait_until_at(("one", 6), 2)
    peer.wait_until_at(("two", 10), 3)
    peer.wait_until_inside("Event.wait")
    assert "<module>" in {frame["name"] for frame in peer.stack(1)}


@pytest.mark.thorough
@pytest.mark.parametrize("again", ["pass", "try: raise ValueError\n    except ValueError: raise"])
def test_exception_that_leaves_a_task_is_shown_with_those_that_await_the_task(start: Start, again: str) -> None:
    program = """
import asyncio
async def leaf():
    await asyncio.sleep(0)
    AGAIN
    raise ValueError
async def main():
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(leaf(), name="leaf")
    except* ValueError: pass
asyncio.run(main())
"""
    peer = start(program.replace("AGAIN", again))
    peer.configure(filters=["userUnhandled"])
    peer.stopped("exception")
    names = [frame["name"] for frame in peer.stack()]
    assert names[:2] == ["leaf", "[leaf, awaited by Task-1]"]
    assert "main" in names
