"""IPython without a notebook: what is typed in has no file, and is a source by reference."""

from pathlib import Path

import pytest

from e2e.frameworks.conftest import Start

PROGRAM = """\
import os
os.environ["IPYTHONDIR"] = os.getcwd()
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("def double(n):\\n    m = 2 * n\\n    return m")
shell.run_cell("breakpoint()\\nx = double(3)\\nprint(x)")
shell.run_cell("import asyncio\\nawait asyncio.sleep(0)\\ny = double(5)\\nprint(y)")
shell.run_cell("1 / 0")
"""


@pytest.mark.each_python
@pytest.mark.works_with("IPython", "breakpoints and steps in what was typed in, User Unhandled at its errors")
def test_inputs_are_sources_that_have_breakpoints(start: Start, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM)
    peer = start("--program", "prog.py")
    peer.configure(filters=["userUnhandled"])
    peer.stopped("breakpoint")
    assert peer.at() == ("<module>", 1)
    assert [peer.step(), peer.step("stepIn")] == [("<module>", 2), ("double", 2)]
    source = peer.stack()[0]["source"]
    assert source["name"].startswith("<ipython-input-")
    text = peer.ask("source", source=source, sourceReference=source["sourceReference"])["content"]
    assert text.splitlines() == ["def double(n):", "    m = 2 * n", "    return m"]
    [point] = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 3}])["breakpoints"]
    assert (point["verified"], point["line"]) == (True, 3)
    for value, after in (("6", [("<module>", 2), ("<module>", 3)]), ("10", [("<module>", 3), ("<module>", 4)])):
        peer.go()
        peer.stopped("breakpoint")
        assert (peer.at(), peer.value("m")) == (("double", 3), value)
        assert [peer.step("stepOut"), peer.step()] == after
    peer.go()
    assert peer.stopped("exception")["text"] == "ZeroDivisionError"
    assert peer.at() == ("<module>", 1)
    peer.go()
    assert peer.finish()[1].splitlines()[:2] == ["6", "10"]
