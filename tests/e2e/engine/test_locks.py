"""Locks that are taken: who has them, as the locks themselves say, and which calls know them."""

from typing import Any

import pytest

from e2e.engine.conftest import Start

PROGRAM = """
    import threading

    free = threading.Lock()
    wide = threading.Lock()

    class Box:
        def __init__(self):
            self.mine = threading.RLock()
            self.left = threading.RLock()
            self.changed = threading.Condition()

        @property
        def trap(self):
            raise SystemExit

        def waits(self, ready):
            with self.mine:
                with self.mine:
                    with free, self.changed:
                        pass
                    ready.set()
                    wide.acquire()

    class Strange:
        def __getattribute__(self, name):
            raise SystemExit

        __dict__ = property(lambda self: 1 / 0)

    def leaves(box):
        box.left.acquire()

    def main():
        box, strange, ready = Box(), Strange(), threading.Event()
        leaving = threading.Thread(target=leaves, args=(box,))
        leaving.start()
        leaving.join()
        wide.acquire()
        waiting = threading.Thread(target=box.waits, args=(ready,), name="waiting", daemon=True)
        waiting.start()
        ready.wait()
        here = wide  # stop
        wide.release()
        waiting.join()

    main()
"""

STOP = next(number for number, line in enumerate(PROGRAM.strip().splitlines(), 1) if "# stop" in line)


def _taken(peer: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - the peer of the engine's tests
    """Return the locks that are taken by the expression of their first place."""
    return {lock["places"][0]["expression"]: lock for lock in peer.ask("dapkit/locks")["locks"]}


@pytest.mark.each_python
def test_locks_say_who_has_them(start: Start) -> None:
    peer = start(PROGRAM)
    peer.configure(lines=[STOP])
    peer.stopped("breakpoint")
    names = {thread["name"]: thread["id"] for thread in peer.ask("threads")["threads"]}
    for locks in (_taken(peer), _taken(peer)):  # twice: nothing is kept, and nothing changed
        mine = next(lock for expression, lock in locks.items() if expression.endswith(".mine"))
        assert (mine["kind"], mine["count"], mine["ownerId"]) == ("RLock", 2, names["waiting"])
        assert ("Box.waits", "self.mine") in [(place["function"], place["expression"]) for place in mine["places"]]
        left = next(lock for expression, lock in locks.items() if expression.endswith(".left"))
        assert left["count"] == 1
        assert (
            "endedOwner" in left or left["ownerId"] == names["waiting"]
        )  # a thread may get the identity of an ended one
        plain = locks["wide"]
        assert (plain["kind"], "ownerId" in plain) == ("Lock", False)
        assert names["waiting"] in [place["threadId"] for place in plain["places"]]
        assert not [expression for expression in locks if expression in ("free", "box.changed", "self.changed")]
    peer.go()
    assert peer.finish()[0] == 0
