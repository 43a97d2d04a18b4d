"""The files in C of time travel are in layers: none uses a file that uses it."""

import re
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import dapkit.python.debuggee

FOLDER = Path(str(dapkit.python.debuggee.__file__)).parent / "native" / "time_travel"

_NOT_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_DEFINITION = re.compile(
    r"^(?!static|extern|typedef|return|else|struct|union|enum|#)"  # at the beginning of a line: for other files, too
    r"(?:__attribute__\(\(\w+\)\) )?(?:const )?[A-Za-z_]\w*(?: \w+)*[ *]+"
    r"(\w+(?:, \w+)*)(?:\[[^\]]*\])?(?:\([^;{}]*\)\s*\{| __attribute__[^;]*;| = |;)",
    re.MULTILINE,
)

_POINTER = re.compile(r"^(?!static|extern|typedef)[A-Za-z_][\w *]*\(\*(\w+)\)\(", re.MULTILINE)  # to a function


def code_of(file: Path) -> str:
    """Return the text of a file without comments, texts, and calls through the table of higher parts."""
    return re.sub(r"\babove\.\w+|\bAbove above\b", "", _NOT_CODE.sub("", file.read_text(encoding="utf-8")))


def test_no_file_uses_a_file_that_uses_it() -> None:
    texts = {file.name: code_of(file) for file in sorted(FOLDER.glob("*.c"))}
    owners = {
        name: file for file, text in texts.items() for names in _DEFINITION.findall(text) for name in names.split(", ")
    }
    assert (owners["mode"], owners["record_call"], owners["time_hooks"]) == ("state.c", "log.c", "calls_time.c")
    assert (owners["checkpoint"], owners["ticks"], owners["on_line"]) == ("checkpoints.c", "state.c", "clock.c")
    uses: dict[str, set[str]] = defaultdict(set)
    for file, text in texts.items():
        own = set(re.findall(r"(?:static|\.)\s*[^;(){}]*?\b(\w+)", text))
        for word in set(re.findall(r"\b\w+\b", text)) - own:
            if owners.get(word, file) != file:
                uses[file].add(owners[word])
    order = list(TopologicalSorter(uses).static_order())  # raises CycleError, which names the files
    assert order[0] == "state.c"
    assert order[-1] == "module.c"
