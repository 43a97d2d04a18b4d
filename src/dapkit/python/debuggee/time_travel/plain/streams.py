"""The standard streams of the program, made once more on files that are noted, and `input`."""

import _io
import builtins
import os
import sys
from typing import Any

from ...interpreter.hidden_frames import unseen
from .calls import ReplacedCalls, Replacement
from .notes import NotedCalls

_kept: list[object] = []
"""The streams that the interpreter has made: nobody else may still have them."""


def replace(raw_type: Any) -> None:  # noqa: ANN401 - a class
    """Have the program find streams that are noted; those that are not as the interpreter makes them are left."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before: Any = getattr(sys, name, None)
        if type(before) is not _io.TextIOWrapper or getattr(sys, f"__{name}__") is not before:
            continue
        made = _made(raw_type, before, number, name)
        if made is not None:
            _kept.append(before)
            setattr(sys, name, made)
            setattr(sys, f"__{name}__", made)


def _made(raw_type: Any, before: Any, number: int, name: str) -> Any:  # noqa: ANN401 - streams
    buffer = before.buffer
    raw: Any = getattr(buffer, "raw", buffer)
    if type(raw) is not _io.FileIO or raw.fileno() != number:
        return None
    if number:
        before.flush()
    made: Any = raw_type(number, "r" if not number else "w", False)  # noqa: FBT003 - as in C
    made.name = f"<{name}>"
    result: Any = made
    if raw is not buffer:
        size = made._blksize
        usual: int = _io.DEFAULT_BUFFER_SIZE
        size = max(min(size, 8 << 20), usual) if sys.version_info >= (3, 14) else size if size > 1 else usual
        result = (_io.BufferedReader if not number else _io.BufferedWriter)(made, size)
    text: Any = _io.TextIOWrapper(
        result,
        encoding=before.encoding,
        errors=before.errors,
        newline="\n" if number else None,
        line_buffering=before.line_buffering,
        write_through=before.write_through,
    )
    text.mode = before.mode
    return text


def replace_input(notes: NotedCalls, calls: ReplacedCalls) -> None:
    """Have what is typed in noted: the interpreter reads lines of a terminal by itself."""
    if os.isatty(0) and os.isatty(1):
        calls.replace(builtins, "input", _typing(notes))


def _typing(notes: NotedCalls) -> Replacement:
    @unseen
    def typing(real: Any, /, *prompt: object) -> Any:  # noqa: ANN401 - as in C
        return notes.call("input", lambda: real(*prompt), ())

    return typing
