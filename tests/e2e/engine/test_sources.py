"""Modules, sources and their content, wherever the program's code comes from."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused


def told(peer: EngineClient, name: str) -> list[Message]:
    return [event["body"] for event in peer.events() if event["event"] == name]


def text_of(peer: EngineClient, source: Message) -> str:
    body = peer.ask("source", source=source, sourceReference=source.get("sourceReference", 0))
    assert body["mimeType"] == "text/x-python"
    content: str = body["content"]
    return content


@pytest.mark.row("source")
def test_executed_text_is_found_and_served_by_reference(start: Start) -> None:
    peer = start(
        """
        def stop(): pass
        def run():
            first = "x = 1\\ndef f():\\n    stop()\\nf()\\n"
            second = "stop()"
            exec(first)
            exec(second)
            eval("[stop() for _ in (1, )]")
        run()
        """
    )
    peer.configure(lines=[1])
    seen: list[tuple[int, str]] = []
    peer.stopped("breakpoint")
    peer.go()
    for _ in range(3):
        peer.stopped("breakpoint")
        frame = peer.stack()[1]
        assert frame["source"]["name"] == "<string>"
        assert frame["source"]["origin"] == "text that was executed"
        seen.append((frame["line"], text_of(peer, frame["source"])))
        peer.go()
    assert seen == [
        (3, "x = 1\ndef f():\n    stop()\nf()\n"),
        (1, "stop()"),
        (1, "[stop() for _ in (1, )]"),
    ]
    assert [body["reason"] for body in told(peer, "loadedSource")] == ["new"] * 4


@pytest.mark.row("source")
def test_text_that_cannot_be_found_is_stood_in_for_line_by_line(start: Start) -> None:
    peer = start("def stop(): pass\nexec(compile('\\n'.join(['x = 1', '', 'stop()']), '<made>', 'exec'))\n")
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    peer.go()
    peer.stopped("breakpoint")
    frame = peer.stack()[1]
    assert (frame["name"], frame["line"], frame["source"]["name"]) == ("<module>", 3, "<made>")
    lines = text_of(peer, frame["source"]).splitlines()
    assert "STORE_NAME" in lines[0]
    assert "CALL" in lines[2]
    assert "is not known" in lines[-1]


@pytest.mark.row("source")
def test_code_in_a_zip_archive_is_served_by_reference(start: Start, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("inside.py", "# -*- coding: latin-1 -*-\ndef call(f):\n    f()  # \xe9\n".encode("latin-1"))
    peer = start("import sys\nsys.path.append('lib.zip')\nimport inside\ndef f(): pass\ninside.call(f)\n")
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    peer.go()
    peer.stopped("breakpoint")
    source = peer.stack()[1]["source"]
    assert (source["name"], source["origin"]) == ("inside.py", "zip archive")
    assert source["path"] == str(tmp_path / "lib.zip" / "inside.py")
    assert text_of(peer, source).splitlines()[2] == "    f()  # \xe9"
    [placed] = peer.ask("setBreakpoints", source={"path": source["path"]}, breakpoints=[{"line": 3}])["breakpoints"]
    assert placed["verified"] is True


@pytest.mark.row("source")
def test_cells_of_notebooks_are_the_programs_own_and_served_by_reference(start: Start) -> None:
    peer = start(
        """
        import linecache
        def f(): pass
        text = "def cell():\\n    f()\\ncell()\\n"
        name = "<ipython-input-1-abc>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"))
        """
    )
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    peer.go()
    peer.stopped("breakpoint")
    frames = peer.stack()
    assert [frame["name"] for frame in frames] == ["f", "cell", "<module>", "<module>"]
    assert "presentationHint" not in frames[1]
    assert frames[1]["source"]["sourceReference"] == frames[2]["source"]["sourceReference"]
    source = frames[1]["source"]
    assert text_of(peer, source).splitlines()[1] == "    f()"
    [placed] = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 3}])["breakpoints"]
    assert (placed["verified"], placed["line"]) == (True, 3)
    assert placed["source"]["sourceReference"] == source["sourceReference"]


@pytest.mark.each_python
@pytest.mark.row("source")
def test_frozen_modules_and_the_text_of_the_command_line_are_served(python: str, tmp_path: Path) -> None:
    code = (
        "import os\nclass P:\n    def __fspath__(self):\n        return 'x'\nos.path.join(P(), 'y')\nos.fspath(P())\n"
    )
    with EngineClient(python, tmp_path, "--code", code) as peer:
        peer.configure(stopOnEntry=True)
        peer.stopped("entry")
        [frame] = peer.stack()
        assert text_of(peer, frame["source"]) == code
        for _ in range(2):
            peer.step()
        peer.step("stepIn")
        assert peer.at() == ("P.__fspath__", 4)
        sources = [frame["source"] for frame in peer.stack()]
        [frozen] = [source for source in sources if source["name"] == "<frozen posixpath>"]
        assert frozen["presentationHint"] == "deemphasize"
        assert "def join(" in text_of(peer, frozen)


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.row("source, loadedSources, modules, locations")
@pytest.mark.parametrize(
    ("expression", "text", "line"),
    [
        ("importlib._bootstrap._find_spec", "def _find_spec(name", None),
        ("zmod.function", "def function", 1),
        ("zmod.Thing.method", "def method", 4),
        ("zmod.Thing", "", None),  # 3.12 does not know the line of a class
        ("zmod", "def function", 1),
        ("typed", "def typed", 1),
    ],
)
def test_what_is_defined_in_code_without_a_file_leads_to_its_text(
    start: Start, expression: str, text: str, line: int | None
) -> None:
    peer = start(
        """
        import importlib, sys, zipfile
        text = "def function():\\n    pass\\nclass Thing:\\n    def method(self):\\n        pass\\n"
        zipfile.ZipFile("lib.zip", "w").writestr("zmod.py", text)
        sys.path.insert(0, "lib.zip")
        import zmod
        exec(compile("def typed():\\n    return 1\\n", "<string>", "exec"))
        typed()
        print("end")
        """
    )
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    peer.step("stepIn")  # shows the text around it
    found = peer.ask("evaluate", expression=expression, frameId=peer.stack()[1]["id"])
    place = peer.ask("locations", locationReference=found["valueLocationReference"])
    lines = text_of(peer, place["source"]).splitlines()
    assert text in lines[place["line"] - 1]
    assert line is None or place["line"] == line


@pytest.mark.row("source")
def test_only_sources_that_were_told_of_are_served(start: Start, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    peer = start("x = 1\n")
    peer.configure(lines=[1])
    peer.stopped("breakpoint")
    prog = str(tmp_path / "prog.py")
    with pytest.raises(Refused, match=r"prog\.py is not a source that the program has reported"):
        peer.ask("source", source={"path": prog}, sourceReference=0)
    source = peer.stack()[0]["source"]
    assert text_of(peer, source) == "x = 1\n"
    for arguments, said in (
        (
            {"source": {"path": str(tmp_path / "secret.txt")}, "sourceReference": 0},
            "is not a source that the program has reported",
        ),
        (
            {"source": {"path": prog + "/../secret.txt"}, "sourceReference": 0},
            "is not a source that the program has reported",
        ),
        ({"sourceReference": 7}, "there is no source 7; there are 0"),
        ({"sourceReference": "x"}, "there is no source 'x'"),
        ({}, "source needs a sourceReference or a path; source is None"),
        ({"source": 3, "sourceReference": 0}, "source needs a sourceReference or a path; source is 3"),
    ):
        with pytest.raises(Refused, match=said):
            peer.ask("source", **arguments)


@pytest.mark.row("loadedSources")
def test_loaded_sources_carry_checksums_and_later_ones_are_told(start: Start, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("y = 2\n")
    peer = start("import json\nx = 1\nimport late\nz = 3\n")
    peer.configure(lines=[2, 4])
    peer.stopped("breakpoint")
    sources = {source["path"]: source for source in peer.ask("loadedSources")["sources"]}
    mine = sources[str(tmp_path / "prog.py")]
    content = (tmp_path / "prog.py").read_bytes()
    assert mine["checksums"] == [
        {"algorithm": "SHA256", "checksum": hashlib.sha256(content).hexdigest()},
        {"algorithm": "MD5", "checksum": hashlib.md5(content).hexdigest()},  # noqa: S324 - the protocol's
        {"algorithm": "timestamp", "checksum": str(int((tmp_path / "prog.py").stat().st_mtime))},
    ]
    assert any(path.endswith("json/decoder.py") for path in sources)
    assert not any("dapkit/python/debuggee" in path for path in sources)
    assert text_of(peer, mine) == content.decode()
    peer.go()
    peer.stopped("breakpoint")
    peer.stack()
    assert [body["source"]["name"] for body in told(peer, "loadedSource")] == ["late.py"]


@pytest.mark.row("modules")
def test_modules_are_paged_and_what_becomes_of_them_is_told(start: Start, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("__version__ = '1.5'\n")
    peer = start(
        """
        import sys, types
        class Lazy(types.ModuleType):
            def __getattribute__(self, name): raise RuntimeError("no")
        sys.modules["lazy"], sys.modules["none"], sys.modules["odd"] = Lazy("lazy"), None, object()
        x = 1
        import late, importlib
        x = 2
        del sys.modules["late"]
        import late
        x = 3
        del sys.modules["late"]
        x = 4
        """
    )
    peer.configure(lines=[5, 7, 10, 12])
    peer.stopped("breakpoint")
    every = peer.ask("modules")
    total = every["totalModules"]
    assert len(every["modules"]) == total > 30
    assert peer.ask("modules", startModule=10, moduleCount=5) == {
        "modules": every["modules"][10:15],
        "totalModules": total,
    }
    assert peer.ask("modules", startModule=total, moduleCount=5)["modules"] == []
    by_name = {module["name"]: module for module in every["modules"]}
    assert (by_name["sys"]["symbolStatus"], by_name["sys"]["isUserCode"]) == ("built in", False)
    main = by_name["__main__"]
    assert (main["path"], main["isUserCode"], main["loader"]) == (str(tmp_path / "prog.py"), True, "SourceFileLoader")
    assert {"lazy", "odd"} <= by_name.keys()
    assert not any(name.startswith("_dapkit") for name in by_name)
    for _ in range(3):
        peer.go()
        peer.stopped("breakpoint")
        peer.stack()
    events = [(body["reason"], body["module"]) for body in told(peer, "module")]
    of_late = [(reason, module.get("version")) for reason, module in events if module["name"] == "late"]
    assert of_late == [("new", "1.5"), ("changed", "1.5"), ("removed", None)]
    with pytest.raises(Refused, match="startModule is -1, expected a number from 0 on"):
        peer.ask("modules", startModule=-1)
