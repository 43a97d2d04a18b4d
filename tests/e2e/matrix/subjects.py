"""The columns of the matrix: adapters, each with a program in one of its languages.

All programs do the same: `add` is called by `work` with 1, 2, 3 ... and adds to a total, and at last the program
breaks off by whatever its language has for that. Started with the words of `waiting` it repeats what is typed, and
then runs on. The lines that matter have a comment with their role: add, added, call, tick.
"""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An adapter with a program.

    Attributes:
        adapter: its name in the catalog.
        version: of the adapter that the page tells of, from the beginning; any, if it comes with this package.
        language: of the program.
        source: name of the source file.
        build: command that makes the program `app` of it; none where the source itself is run.
        total: what `add` changes.
        memory: an expression for something in memory.
        memory_reference: of that; it is in the answer of the adapter, if this is empty.
        filter: the exceptions that the program breaks off by, as the adapter calls them; empty if it has none.
        waiting: program and arguments that make it wait.
        interpreter: that runs the source, and whose process can be attached to.
        once_more: whether another subject shows the same with this adapter or language (`each_adapter`).
        recording: launch options by which it records the history of a program; none if it does not, or always does.
        listens: code that has the program listen for a debugger and returns the port; by its pid if there is none.

    """

    adapter: str
    language: str
    source: str
    version: str = ""
    build: tuple[str, ...] = ()
    total: str = "total"
    memory: str = "&total"
    memory_reference: str = ""
    filter: str = ""
    waiting: tuple[str, ...] = ("app", "wait")
    recording: Mapping[str, object] = field(default_factory=dict)
    listens: str = ""
    interpreter: str = ""
    once_more: bool = False

    @property
    def title(self) -> str:
        """What heads its column."""
        return f"{' '.join(filter(None, (self.adapter, self.version)))}: {self.language}"

    @property
    def program(self) -> str:
        """What is launched."""
        return "app" if self.build else self.source

    def make(self, folder: Path) -> None:
        """Put the program into a folder."""
        for file in PROGRAMS.glob(f"*{Path(self.source).suffix}"):
            shutil.copy(file, folder)
        if self.build:
            subprocess.run([*self.build, self.source], check=True, cwd=folder)

    def place(self, role: str) -> tuple[str, int]:
        """Return the file and the number of the line that has a role."""
        for file in sorted(PROGRAMS.glob(f"*{Path(self.source).suffix}")):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if f"({role})" in line:
                    return file.name, number
        raise LookupError(f"no program like {self.source} has a line ({role})")


_PYTHON = Subject(
    adapter="dapkit",
    language="Python",
    source="app.py",
    memory="data",
    filter="raised",
    waiting=("app.py", "wait"),
    recording={"timeTravel": True},
    listens="dapkit.listen(0, token=None)[1]",
)
_C = Subject(adapter="gdb", version="16", language="C", source="app.c", build=("cc", "-g", "-O0", "-o", "app"))
_CPP = replace(
    _C, language="C++", source="app.cpp", build=("c++", "-g", "-O0", "-pthread", "-o", "app"), filter="throw"
)
_RUST = replace(
    _C, language="Rust", source="app.rs", build=("rustc", "-g", "-o", "app"), total="TOTAL", memory="&TOTAL"
)
_GO = ("go", "build", "-gcflags=all=-N -l", "-o", "app")

SUBJECTS = (
    _PYTHON,
    replace(
        _PYTHON,
        adapter="debugpy",
        version="1.8",
        recording={},
        listens="debugpy.listen(('127.0.0.1', 0))[1]",
        once_more=True,
    ),
    replace(_C, adapter="lldb-dap", version="22"),
    replace(_CPP, adapter="lldb-dap", version="22", filter="cpp_throw", once_more=True),
    replace(_RUST, adapter="lldb-dap", version="22", once_more=True),
    _C,
    replace(_CPP, once_more=True),
    replace(_RUST, once_more=True),
    Subject(adapter="dlv", version="1.20", language="Go", source="app.go", build=_GO),
    Subject(
        adapter="js-debug-adapter",
        language="JavaScript",
        source="app.js",
        memory="new Uint8Array(4)",
        filter="all",
        waiting=("app.js", "wait"),
        interpreter="node",
    ),
    Subject(
        adapter="cmake",
        version="4",
        language="CMake",
        source="CMakeLists.txt",
        filter="FATAL_ERROR",
        waiting=("CMakeLists.txt", "-Dwait=1"),
    ),
    Subject(  # examples/mock_adapter, which can go back in time
        adapter="mock",
        language="Markdown",
        source="app.md",
        memory_reference="data",
        filter="raised",
        waiting=("waiting.md",),
    ),
)
