"""Facts about programs of Rust that a debugger of native code needs."""

import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from dapkit.system.user_folders import HOME

_STANDARD_LIBRARY: Final = b"rust_eh_personality"
"""A symbol of every program that has Rust's standard library."""

_PANICS: Final = b"rust_panic\0"
_PANICS_SINCE_1_88: Final = b"7___rustc10"
"""The words before it in the name of the symbol."""


def panic_function(program: Path) -> str | None:
    """Return the function that each panic passes before it unwinds; None if there is no such symbol in the program."""
    with _content(program) as content:
        at = content.find(_PANICS)
        while at > 0:
            if content[max(0, at - len(_PANICS_SINCE_1_88)) : at] == _PANICS_SINCE_1_88:
                return "__rustc::rust_panic"
            if content[at - 1 : at] == b"\0":
                return "rust_panic"
            at = content.find(_PANICS, at + 1)
    return None


def lldb_formatters(program: Path, env: Mapping[str, str]) -> list[str]:
    """Return commands that load the toolchain's formatters for values of Rust, as `rust-lldb` does; none for C."""
    with _content(program) as content:
        if content.find(_STANDARD_LIBRARY) < 0:
            return []
    home = Path(env.get("RUSTUP_HOME") or Path(env.get(HOME, os.sep)) / ".rustup")
    folders = [Path("/usr/lib/rustlib/etc"), *sorted(home.glob("toolchains/*/lib/rustlib/etc"))]
    folders = [folder for folder in folders if (folder / "lldb_lookup.py").is_file() and "'" not in str(folder)]
    if not folders:
        return []
    here = folders[-1]
    return [f"?command script import '{here}/lldb_lookup.py'", f"?command source -s 1 '{here}/lldb_commands'"]


@contextmanager
def _content(file: Path) -> Iterator[mmap.mmap | bytes]:
    """Map a file; it counts as empty if it is not a regular file, or cannot be read."""
    with ExitStack() as stack:
        content: mmap.mmap | bytes = b""
        with suppress(OSError, ValueError):  # an empty file cannot be mapped
            if file.is_file():
                opened = stack.enter_context(file.open("rb"))
                content = stack.enter_context(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        yield content
