"""A project whose launches may take as long as they do on a busy machine."""

from pathlib import Path

import pytest


@pytest.fixture
def project(project: Path) -> Path:
    """Return the same folder, with settings of its own."""
    settings = ("[request]", "timeout_seconds = 120", "[adapter]", "ready_seconds = 60", "[session]")
    (project / ".dapkit.toml").write_text("\n".join([*settings, "initial_stop_seconds = 60", ""]))
    return project
