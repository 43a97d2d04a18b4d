"""`autoReload`: saved files, taken into the running program."""

import os
import textwrap
import time
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Refused

pytestmark = [pytest.mark.row("launch"), pytest.mark.each_python]

RELOADING = {"enable": True, "pollingInterval": 0.05}

BEFORE = """
    import functools
    LIMIT = 1
    def plain(n, step=1, seen=[]):
        seen.append(n)
        return ("old", n, step)
    @functools.cache
    def cached(n):
        return ("old", n)
    def make(n):
        def inner():
            return ("old", n)
        return inner
    kept = make(5)
    class Shop:
        def price(self):
            return "old"
        @property
        def name(self):
            return "old"
        @name.setter
        def name(self, value):
            self.stored = ("old", value)
        @staticmethod
        def still():
            return "still"
"""

AFTER = """
    import functools
    # a line more
    LIMIT = 2
    ADDED = 3
    def plain(n, step=2, *, more="x", seen=[]):
        seen.append(n)
        return ("new", n, step, more)
    @functools.cache
    def cached(n):
        return ("new", n)
    def make(n):
        def inner():
            return ("new", n)
        return inner
    kept = make(5)
    class Shop:
        def price(self):
            return self.__tax() + super().__class__.__name__
        def __tax(self):
            return "new"
        @property
        def name(self):
            return "new"
        @name.setter
        def name(self, value):
            self.stored = ("new", value)
        @staticmethod
        def still():
            return "still"
        @staticmethod
        def decorated():
            return 1
    def extra(n=1):
        return n
    def computed(n=LIMIT):
        return n
"""

LOOP = """
    import lib, time
    from pathlib import Path
    def turn():
        return lib.plain(1)
    lib.cached(1)
    shop = lib.Shop()
    Path("ready").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    x = turn()
"""


def written(folder: Path, name: str, text: str) -> None:
    """Write a file in one go, as an editor does, with a time of its own."""
    path, new = folder / name, folder / "new"
    new.write_text(textwrap.dedent(text).lstrip("\n"))
    if path.exists():
        later = path.stat().st_mtime_ns + 10**9
        os.utime(new, ns=(later, later))
    new.replace(path)


def looping(start: Start, **options: object) -> EngineClient:
    peer = start(LOOP)
    written(peer.folder, "lib.py", BEFORE)
    peer.configure(lines=[10], autoReload={**RELOADING, **options})
    deadline = time.monotonic() + DEADLINE
    while not (peer.folder / "ready").exists():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return peer


def said(peer: EngineClient) -> str:
    """Return the next line in the console."""
    while (body := peer.event("output"))["category"] != "console":
        pass
    text: str = body["output"]
    return text


@pytest.mark.needs_gil("3.13t makes functions and classes immortal, and lists none, once a thread was started")
def test_saved_functions_and_methods_do_what_they_say_now(start: Start) -> None:
    peer = looping(start)
    written(peer.folder, "lib.py", AFTER)
    text = said(peer)
    assert text == (
        "lib.py was saved: changed Shop.price, plain, cached, make, make.<locals>.inner, Shop.name; "
        "new Shop.__tax, extra; not taken over Shop.decorated (its decorators were not run), "
        "computed (the default value of n has to be computed), "
        "ADDED (it is made by code that was not run again)\n"
    ), text
    changed = peer.event("loadedSource")
    while changed["reason"] != "changed":
        changed = peer.event("loadedSource")
    assert changed["source"] == {"name": "lib.py", "path": str(peer.folder / "lib.py")}
    (peer.folder / "go").touch()
    peer.stopped("breakpoint")
    for expression, value in {
        "lib.plain(7)": "('new', 7, 2, 'x')",
        "lib.plain.__defaults__[0]": "2",
        "lib.cached(2)": "('new', 2)",
        "lib.cached(1)": "('old', 1)",
        "lib.kept()": "('new', 5)",
        "shop.price()": "'newsuper'",
        "shop.name": "'new'",
        "setattr(shop, 'name', 1) or shop.stored": "('new', 1)",
        "lib.extra()": "1",
        "lib.LIMIT": "1",
        "lib.plain.__code__.co_firstlineno": "5",
    }.items():
        assert peer.value(expression) == value, expression


@pytest.mark.needs_gil("3.13t makes functions and classes immortal, and lists none, once a thread was started")
def test_breakpoints_stop_in_the_new_code(start: Start) -> None:
    peer = looping(start)
    lines = [{"line": 4}]
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "lib.py")}, breakpoints=lines)
    written(peer.folder, "lib.py", "def plain(n):\n    a = 1\n    b = 2\n    c = 3\n    return c\n")
    assert said(peer).startswith("lib.py was saved: changed plain")
    [placed] = peer.ask("setBreakpoints", source={"path": str(peer.folder / "lib.py")}, breakpoints=lines)[
        "breakpoints"
    ]
    assert (placed["verified"], placed.get("message", "")) == (True, "")
    (peer.folder / "go").touch()
    peer.stopped("breakpoint")
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("plain", 4)
    assert peer.value("b") == "2"


def test_text_that_is_no_python_is_told_and_loaded_once_it_is(start: Start) -> None:
    peer = looping(start)
    written(peer.folder, "lib.py", "def plain(n:\n")
    assert said(peer) == "lib.py was saved, but is not valid Python in line 1: '(' was never closed\n"
    written(peer.folder, "lib.py", BEFORE)
    assert said(peer) == "lib.py was saved: no function does anything else\n"


def test_files_that_are_excluded_are_left_alone(start: Start) -> None:
    peer = looping(start, exclude=["**/lib.py"])
    written(peer.folder, "lib.py", AFTER)
    written(peer.folder, "prog.py", LOOP.replace("lib.plain(1)", "'new turn'"))
    assert said(peer) == "prog.py was saved: changed turn\n"
    (peer.folder / "go").touch()
    peer.stopped("breakpoint")
    assert peer.value("turn()") == "'new turn'"
    assert peer.value("lib.plain(1)") == "('old', 1, 1)"


def test_interval_that_cannot_be_is_refused(start: Start) -> None:
    peer = start("x = 1\n")
    peer.ask("initialize", adapterID="test")
    with pytest.raises(Refused, match=r"autoReload.pollingInterval is 0, expected seconds, more than 0"):
        peer.ask("launch", autoReload={"enable": True, "pollingInterval": 0})
