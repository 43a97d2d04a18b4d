"""What is found out about programs of Rust from their bytes."""

from pathlib import Path

import pytest

from dapkit.catalog import rust


@pytest.mark.parametrize(
    ("symbols", "name"),
    [
        (b"\0_RNvCsfLfy6EI15iL_7___rustc10rust_panic\0", "__rustc::rust_panic"),
        (b"\0rust_panic\0", "rust_panic"),
        (b"\0my_rust_panic_hook\0", None),
        (b"", None),
    ],
)
def test_the_function_of_panics_is_named_as_the_program_has_it(
    tmp_path: Path, symbols: bytes, name: str | None
) -> None:
    program = tmp_path / "program"
    program.write_bytes(symbols)
    assert rust.panic_function(program) == name
    assert rust.panic_function(tmp_path) is None
    assert rust.panic_function(tmp_path / "missing") is None


def test_formatters_are_those_of_the_newest_toolchain_and_for_programs_of_rust_alone(tmp_path: Path) -> None:
    for version in ("1.80", "1.95"):
        folder = tmp_path / f"toolchains/{version}/lib/rustlib/etc"
        folder.mkdir(parents=True)
        (folder / "lldb_lookup.py").touch()
    program = tmp_path / "program"
    program.write_bytes(b"\0rust_eh_personality\0")
    env = {"RUSTUP_HOME": str(tmp_path)}
    folder = tmp_path / "toolchains/1.95/lib/rustlib/etc"
    assert rust.lldb_formatters(program, env) == [
        f"?command script import '{folder}/lldb_lookup.py'",
        f"?command source -s 1 '{folder}/lldb_commands'",
    ]
    program.write_bytes(b"\x7fELF of C")
    assert rust.lldb_formatters(program, env) == []
