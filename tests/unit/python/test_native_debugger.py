"""Which native debugger gets into a program."""

from pathlib import Path

import pytest

from dapkit.python.adapter.injection.native_debugger import damages_programs, installed


def debugger(folder: Path, version: str) -> Path:
    """Write a gdb that says only its version."""
    folder.mkdir()
    program = folder / "gdb"
    program.write_text(f"#!/bin/sh\necho 'GNU gdb (Debian {version}-3) {version}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("version", "flags", "damages"),
    [
        ("13.1", "fpu amx_bf16 avx512_fp16 amx_tile", True),
        ("12.1.90.20220801", "fpu amx_tile", True),
        ("16.3", "fpu amx_bf16 amx_tile", False),
        ("13.1", "fpu avx512f", False),
    ],
)
def test_old_gdb_is_not_used_on_a_processor_whose_registers_it_cannot_write(
    tmp_path: Path, version: str, flags: str, *, damages: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"flags\t\t: {flags}\n")
    assert damages_programs(str(debugger(tmp_path / "bin", version)), cpuinfo) is damages


def test_processor_or_version_that_cannot_be_read_is_no_reason_to_refuse(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    assert not damages_programs(str(debugger(tmp_path / "bin", "13.1")), cpuinfo)
    cpuinfo.write_text("flags\t\t: amx_tile\n")
    assert not damages_programs(str(tmp_path / "bin" / "nothing"), cpuinfo)


def test_every_gdb_in_path_is_considered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = debugger(tmp_path / "old", "13.1"), debugger(tmp_path / "new", "16.3")
    monkeypatch.setenv("PATH", f"{old.parent}:{new.parent}")
    monkeypatch.setattr("dapkit.python.adapter.injection.native_debugger.damages_programs", lambda gdb: gdb == str(old))
    chosen = installed(("gdb",))
    assert chosen is not None
    assert chosen.path == str(new)
