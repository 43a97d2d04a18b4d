"""What an adapter has loaded while a program is debugged: each library takes memory, and time at the start."""

import sys
from pathlib import Path

import pytest

from e2e.python.adapter_client import AdapterClient

SELDOM_USED = ("_bz2", "_ctypes", "_hashlib", "_lzma", "_ssl", "_zstd", "libcrypto", "libssl")
"""Libraries of what a session needs only for TLS, tokens, recordings and the end of a conversation."""


def libraries_of(pid: int) -> set[str]:
    """Return what a process has loaded, by names without endings."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {Path(line.split(maxsplit=5)[5]).name.partition(".")[0] for line in lines if "/" in line}


@pytest.mark.parametrize("launch", [{}, {"python": sys.executable}], ids=["our Python", "a Python by its path"])
async def test_adapter_of_a_launched_program_has_no_library_loaded_that_sessions_seldom_use(
    driver: AdapterClient, launch: dict[str, str]
) -> None:
    await driver.start("x = 1\n", 1, **launch)
    await driver.session.next_stop()
    assert driver.session.adapter_pid is not None
    loaded = libraries_of(driver.session.adapter_pid)
    assert "_core" in loaded  # of msgspec
    assert not loaded.intersection(SELDOM_USED)


@pytest.mark.skipif(sys.version_info < (3, 15), reason="imports can be lazy since Python 3.15")
async def test_adapter_imports_a_module_when_it_uses_it(driver: AdapterClient) -> None:
    await driver.start("x = 1\n", 1)
    await driver.session.next_stop()
    assert driver.session.adapter_pid is not None
    assert "_native" not in libraries_of(driver.session.adapter_pid)  # for output that comes before a stop
