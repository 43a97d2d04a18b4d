"""What importing the protocol layer brings along: it stands at the start of every adapter."""

import subprocess
import sys

SLOW = {"asyncio", "anyio", "argparse", "dataclasses", "importlib.metadata", "json", "logging", "ssl", "subprocess"}


def test_importing_the_protocol_brings_in_nothing_slow() -> None:
    code = "import sys, dapkit.protocol; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert SLOW & set(loaded) == set()


def test_every_public_name_is_there() -> None:
    import dapkit.protocol

    assert [name for name in dapkit.protocol.__all__ if not hasattr(dapkit.protocol, name)] == []
    assert len(set(dapkit.protocol.__all__)) == len(dapkit.protocol.__all__)
