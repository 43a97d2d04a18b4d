"""The world of the engine: what the program does to its interpreter does not reach it, and what it uses is not seen."""

import re
import subprocess
import textwrap
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient
from e2e.own_world import SPOILING

pytestmark = pytest.mark.each_python

LOOKS = """
    def look(text, items):
        é, number = text, len
        return é
    run, unfiled = exec, compile("look('b', 2)", "<made>", "exec")
    with Spoiled():
        look("ä😀", {"one": [1, 2]})
        run(unfiled)
    print("whole again")
"""


def test_stop_shows_all_where_the_program_has_replaced_whatever_it_can(start: Start) -> None:
    peer = start(SPOILING + textwrap.dedent(LOOKS))
    first = 1 + (SPOILING + textwrap.dedent(LOOKS)).lstrip("\n").splitlines().index("def look(text, items):")
    peer.configure(lines=[first + 1])
    peer.stopped("breakpoint")
    assert [frame["name"] for frame in peer.stack()] == ["look", "<module>"]
    rows = peer.locals()
    assert (rows["text"]["value"], rows["items"]["value"]) == ("'ä😀'", "{'one': [1, 2]}")
    [item, *_] = peer.rows(rows["items"]["variablesReference"])
    assert (item["name"], item["value"]) == ("'one'", "[1, 2]")
    frame = peer.stack()[0]
    assert peer.value("text + '!'") == "'ä😀!'"
    assert peer.value("items['one'][1]", "hover") == "2"
    assert peer.value("text.upper()", "repl") == "'Ä😀'"
    assert peer.ask("completions", text="'😀', ite", column=9, frameId=frame["id"])["targets"][0]["label"] == "items"
    code = peer.ask("disassemble", memoryReference=frame["instructionPointerReference"], instructionCount=2)
    assert code["instructions"][0]["address"] == frame["instructionPointerReference"]
    scope = peer.ask("scopes", frameId=frame["id"])["scopes"][0]
    peer.ask("setVariable", variablesReference=scope["variablesReference"], name="items", value="'é'")
    [where] = peer.ask("breakpointLocations", source={"path": str(peer.folder / "prog.py")}, line=first + 2)[
        "breakpoints"
    ]
    assert where["line"] == first + 2
    assert peer.step() == ("look", first + 2)
    assert peer.locals()["é"]["value"] == "'ä😀'"
    peer.go()
    peer.stopped("breakpoint")
    assert [(frame["name"], frame["source"]["name"]) for frame in peer.stack()][1:] == [
        ("<module>", "<made>"),
        ("<module>", "prog.py"),
    ]
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go()
    assert peer.finish() == (0, "whole again\n", "")


STOPS = """
    class Box:
        def __init__(self):
            self.value = 1
    def inner(x):
        return x
    def look(text, box, data):
        number = inner(text)
        box.value = 2
        number = text
        try:
            raise error
        except:
            pass
        return number
    box, error = Box(), KeyError("é")
    with Spoiled():
        look("ä😀", box, b"abcdef")
    print("whole again")
"""


def test_whatever_stops_a_program_stops_one_that_has_replaced_whatever_it_can(start: Start) -> None:
    text = (SPOILING + textwrap.dedent(STOPS)).lstrip("\n")
    peer = start(text)
    first = text.splitlines().index("    number = inner(text)") + 1
    peer.configure(lines=[first], filters=["raised"])
    peer.stopped("breakpoint")
    rows = peer.locals()
    assert peer.ask("readMemory", memoryReference=rows["data"]["memoryReference"], count=3)["data"] == "YWJj"
    assert [module["name"] for module in peer.ask("modules")["modules"]] == ["linecache"]
    [target] = peer.ask("stepInTargets", frameId=peer.stack()[0]["id"])["targets"]
    box = rows["box"]["variablesReference"]
    data = peer.ask("dataBreakpointInfo", name="value", variablesReference=box)["dataId"]
    peer.ask("setDataBreakpoints", breakpoints=[{"dataId": data, "accessType": "write"}])
    conditional = {"line": first + 2, "condition": "text == 'ä😀'"}
    log = {"line": first + 4, "logMessage": "{text} {error!r}"}
    peer.ask(
        "setBreakpoints",
        source={"path": str(peer.folder / "prog.py")},
        breakpoints=[conditional, log, {"line": first + 7}],
    )
    peer.ask("stepIn", threadId=1, targetId=target["id"])
    peer.stopped("step")
    assert peer.at()[0] == "inner"
    peer.ask("stepOut", threadId=1)
    peer.stopped("step")
    for reason, line in ("data breakpoint", 2), ("breakpoint", 2), ("exception", 4), ("breakpoint", 7):
        peer.go()
        peer.stopped(reason)
        assert peer.at() == ("look", first + line), reason
        if reason == "exception":
            assert peer.ask("exceptionInfo", threadId=1)["exceptionId"] == "KeyError"
    peer.go()
    assert peer.finish() == (0, "whole again\n", "")
    assert [event["body"]["output"] for event in peer.events() if event["event"] == "output"] == ["ä😀 KeyError('é')\n"]


TWICE = """
    import abc, collections, contextlib, enum, functools, gc, io, json, numbers, operator, os, socket, struct
    import sys, typing
    import collections.abc as c

    def described(kind):
        return sorted(below.__module__ + "." + below.__qualname__ for below in type.__subclasses__(kind))

    gc.collect()  # of classes in Python that a module in C has replaced
    kinds = [getattr(c, name) for name in c.__all__] + [numbers.Number, os.PathLike, io.IOBase, enum.Enum]
    kinds += [tuple, dict, int, str, list, OSError, ValueError, ImportError, LookupError, type(sys)]
    for kind in kinds:
        registry = abc._get_dump(kind)[0] if isinstance(kind, abc.ABCMeta) else ()
        print(kind.__name__, described(kind), sorted(repr(reference()) for reference in registry))
    print(sorted(sys.modules))
"""


@pytest.mark.needs_gil("3.13t makes functions and classes immortal, and lists none, once a thread was started")
def test_no_class_of_the_standard_library_exists_twice(start: Start, python: str) -> None:
    peer = start(TWICE)
    peer.configure(lines=[6])
    plain = subprocess.run([python, "prog.py"], cwd=peer.folder, capture_output=True, text=True, check=True)
    peer.stopped("breakpoint")
    peer.value("1 + 1")
    peer.ask("disassemble", memoryReference=peer.stack()[0]["instructionPointerReference"], instructionCount=1)
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go()
    code, output, errors = peer.finish()
    assert (code, errors) == (0, "")
    # With them go classes of modules in C that the debugger alone has: of `_ctypes` (3.12), and of `resource`.
    name = r"'(?:_dapkit_debuggee\.[\w.]+|builtins\.StgDict|resource\.struct_rusage)'"
    ours = re.compile(rf"{name}(, )?|(?<=[\w.]'), {name}")
    assert ours.sub("", output).splitlines() == plain.stdout.splitlines()


NAMES = "_json _socket ast bisect collections dis functools inspect io json opcode os queue select types typing zlib"


def test_files_of_the_program_with_names_of_modules_that_the_debugger_uses_are_left_alone(start: Start) -> None:
    peer = start("def f(x):\n    return x\nf({'a': 1})\nprint('end')\n")
    for name in NAMES.split():
        (peer.folder / f"{name}.py").write_text("raise SystemExit('executed: ' + __name__)\n")
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    assert peer.locals()["x"]["value"] == "{'a': 1}"
    assert peer.value("x['a']", "repl") == "1"
    peer.ask("disassemble", memoryReference=peer.stack()[0]["instructionPointerReference"], instructionCount=1)
    peer.go()
    assert peer.finish() == (0, "end\n", "")


IMPORTING = """
    import sys
    class Slow:
        def find_spec(self, name, path=None, target=None):
            if name == "wanted":
                for one in (1, 2):
                    held = one
    sys.meta_path.insert(0, Slow())
    try:
        import wanted
    except ImportError:
        print("not found")
"""


def test_program_that_stands_in_an_import_is_shown(start: Start) -> None:
    peer = start(IMPORTING)
    peer.configure(lines=[6])
    for _ in range(2):
        peer.stopped("breakpoint")
        assert peer.at() == ("Slow.find_spec", 6)
        assert peer.locals()["name"]["value"] == "'wanted'"
        assert peer.value("name + 'é'") == "'wantedé'"
        peer.go()
    assert peer.finish() == (0, "not found\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize("options", [["-S"], ["-X", "frozen_modules=off"], ["-I", "-OO", "-W", "error"]], ids=" ".join)
def test_engine_starts_whatever_the_interpreter_leaves_out(python: str, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "prog.py").write_text("x = {'a': 1}\ny = 2\nprint(x)\n")
    with EngineClient(python, tmp_path, "--program", "prog.py", options=options) as peer:
        peer.configure(lines=[2])
        peer.stopped("breakpoint")
        assert peer.value("x['a'] + 1", "repl") == "2"
        peer.go()
        assert peer.finish() == (0, "{'a': 1}\n", "")
