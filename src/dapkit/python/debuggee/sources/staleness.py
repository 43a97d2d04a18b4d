"""Whether a file was edited after the program loaded it.

The interpreter keeps no text. The loaded version is known from the file of bytecode that it wrote or read, which names
the size and time of its source, or from a look at the file when its module started.
"""

import os
import sys
from types import ModuleType
from typing import Any

from ..interpreter.safe_types import is_a

_EDITED = "the file was changed after the program loaded it: the lines are the file's, the running code is older"


type Stamp = tuple[int, int]
"""Time of modification in nanoseconds, and size."""


class Stamps:
    """The state of files when their modules started, by key."""

    def __init__(self) -> None:
        self._at_start: dict[str, Stamp] = {}
        self.reloaded: set[str] = set()
        """Keys of files that changed while the program ran, and were loaded again: older code may still run."""

    def note(self, key: str) -> None:
        """Remember the present state of a file: its module starts."""
        stamp = stamp_of(key)
        if stamp is not None:
            self._at_start[key] = stamp

    def at_start(self, key: str) -> Stamp | None:
        """Return the state of a file when its module started, None if that was not seen."""
        return self._at_start.get(key)

    def note_about(self, key: str) -> str:
        """Return a message about breakpoints in a file, empty if it is up to date."""
        now = stamp_of(key)
        if now is None:
            return ""
        if key in self._at_start:
            return _EDITED if now != self._at_start[key] else ""
        cached = _in_cache(key)
        seconds_and_size = now[0] // 1_000_000_000 & 0xFFFFFFFF, now[1] & 0xFFFFFFFF
        return _EDITED if cached is not None and cached != seconds_and_size else ""


def stamp_of(path: str) -> Stamp | None:
    """Return the present state of a file, None if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def loaded_namespaces() -> list[dict[str, object]]:
    """Return the variables of every module that is loaded, without waking those that load lazily."""
    own_dict: Any = vars(ModuleType)["__dict__"]
    return [own_dict.__get__(module) for module in list(sys.modules.values()) if is_a(module, ModuleType)]


def _in_cache(key: str) -> tuple[int, int] | None:
    """Return the stamp in the bytecode that a module was loaded from."""
    for names in loaded_namespaces():
        cached, file = names.get("__cached__"), names.get("__file__")
        if type(cached) is str and type(file) is str and os.path.realpath(file) == key:
            try:
                with open(cached, "rb") as bytecode:
                    head = bytecode.read(16)
            except OSError:
                return None
            if len(head) == 16 and head[4:8] == bytes(4):  # PEP 552: not checked by hash
                return int.from_bytes(head[8:12], "little"), int.from_bytes(head[12:16], "little")
    return None
