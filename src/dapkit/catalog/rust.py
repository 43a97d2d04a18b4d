"""Facts about programs of Rust that a debugger of native code needs."""

import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_STANDARD_LIBRARY: Final = b"rust_eh_personality"
"""A symbol of every program that has Rust's standard library."""

_PANIC_FUNCTIONS: Final = {b"7___rustc10rust_panic\0": "__rustc::rust_panic", b"\0rust_panic\0": "rust_panic"}
"""The function that each panic passes before it unwinds, by its symbol: since Rust 1.88, and before."""


def panic_function(program: Path) -> str | None:
    """Return the name of the function that each panic of a program passes; None if there is no such symbol."""
    return next((name for symbol, name in _PANIC_FUNCTIONS.items() if _contains(program, symbol)), None)


def lldb_formatters(program: Path, env: Mapping[str, str]) -> list[str]:
    """Return commands that load the toolchain's formatters for values of Rust, as `rust-lldb` does; none for C."""
    if not _contains(program, _STANDARD_LIBRARY):
        return []
    home = Path(env.get("RUSTUP_HOME") or Path(env.get("HOME", os.sep)) / ".rustup")
    folders = [Path("/usr/lib/rustlib/etc"), *sorted(home.glob("toolchains/*/lib/rustlib/etc"))]
    folders = [folder for folder in folders if (folder / "lldb_lookup.py").is_file() and "'" not in str(folder)]
    if not folders:
        return []
    here = folders[-1]
    return [f"?command script import '{here}/lldb_lookup.py'", f"?command source -s 1 '{here}/lldb_commands'"]


def _contains(file: Path, text: bytes) -> bool:
    try:
        if not file.is_file():
            return False
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(text) >= 0
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False
