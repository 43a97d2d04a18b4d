"""A project whose launches may take as long as they do on a busy machine."""

from pathlib import Path

import pytest


@pytest.fixture
def project(project: Path) -> Path:
    """Return the same folder, with settings of its own."""
    (project / ".dapkit.toml").write_text("[adapter]\nready_seconds = 30\n\n[session]\ninitial_stop_seconds = 30\n")
    return project
