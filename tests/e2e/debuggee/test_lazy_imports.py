"""Lazy imports of CPython 3.15 (PEP 810): who looks at a program imports nothing that the program has not."""

from pathlib import Path

from e2e.debuggee.peer import Peer
from interpreters import interpreter


def test_engine_is_loaded_where_all_imports_are_lazy(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("import json\nlist(map(str, range(3)))\nprint('done')\n")
    arguments = ("--program", "prog.py", "--")
    with Peer(str(interpreter("3.15")), tmp_path, *arguments, env={"PYTHON_LAZY_IMPORTS": "all"}) as peer:
        peer.configure(breakpoints=[{"line": 3, "condition": "len('abc') == 3"}])
        peer.stopped("breakpoint")
        peer.go()
        assert peer.finish() == (0, "done\n", "")
