"""Who waits for which lock, by the answer of the adapter and by the sources."""

from collections.abc import Mapping
from pathlib import Path

from dapkit.agent.reading.lock_waits import circle, lock_waits
from dapkit.agent.results.stacks import LockWait
from dapkit.protocol.locks import LockPlace, TakenLock

SOURCE = """\
def ab(self):
    with self.a:
        with self.b:
            pass

def ba(self):
    with self.b:
        self.a.acquire()

def tries(self):
    if not self.a.acquire(False):
        wait()
    if not self.a.acquire(blocking=False):
        wait()
""".splitlines()

NAMES = {1: "one", 2: "two", 3: "three"}


def _place(thread: int, line: int, expression: str, path: str = "/app.py") -> LockPlace:
    return LockPlace(thread_id=thread, function="f", path=path, line=line, expression=expression)


def _waits(*locks: TakenLock, files: Mapping[str, list[str]] = {"/app.py": SOURCE}) -> list[LockWait]:
    return lock_waits(locks, NAMES, lambda path: files.get(str(path)), is_own=lambda path: not path.startswith("/usr"))


def test_holder_of_a_plain_lock_is_known_by_the_block_it_stands_in() -> None:
    a = TakenLock(kind="Lock", count=1, places=[_place(1, 3, "self.a"), _place(2, 8, "self.a")])
    b = TakenLock(kind="Lock", count=1, places=[_place(1, 3, "self.b"), _place(2, 8, "self.b")])
    waits = _waits(a, b)
    assert [(wait.lock, wait.holder, wait.waiting) for wait in waits] == [
        ("self.a", "one", ["two at /app.py:8"]),
        ("self.b", "two", ["one at /app.py:3"]),
    ]
    assert circle(waits) == ["two", "one"]
    assert circle(waits[:1]) is None


def test_owner_of_an_rlock_is_the_one_it_names() -> None:
    owned = TakenLock(kind="RLock", count=1, owner_id=3, places=[_place(2, 8, "self.a"), _place(3, 1, "self.a")])
    [wait] = _waits(owned)
    assert (wait.holder, wait.waiting, wait.is_strange) == ("three", ["two at /app.py:8"], False)


def test_owner_that_has_ended_or_knows_nothing_of_the_lock_is_named() -> None:
    ended = TakenLock(kind="RLock", count=1, ended_owner=77, places=[_place(1, 11, "self.a")])
    strange = TakenLock(kind="RLock", count=1, owner_id=2, places=[_place(1, 13, "self.a")])
    assert [(wait.holder, wait.ended_owner, wait.waiting, wait.is_strange) for wait in _waits(ended, strange)] == [
        (None, 77, [], False),
        ("two", None, [], True),
    ]


def test_call_that_does_not_wait_is_no_wait_and_a_lock_of_a_library_needs_a_holder() -> None:
    tried = TakenLock(kind="Lock", count=1, places=[_place(1, 11, "self.a"), _place(2, 13, "self.a")])
    library = ["waiter = lock()", "waiter.acquire()"]
    inside = TakenLock(kind="Lock", count=1, places=[_place(1, 2, "waiter", "/usr/lib/threading.py")])
    unread = TakenLock(kind="Lock", count=1, places=[_place(1, 2, "x", "/gone.py")])
    assert _waits(tried, inside, unread, files={"/app.py": SOURCE, "/usr/lib/threading.py": library}) == []
    assert (
        Path("/app.py").name in _waits(TakenLock(kind="Lock", count=1, places=[_place(1, 8, "self.a")]))[0].waiting[0]
    )
