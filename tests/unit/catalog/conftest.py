"""A world of its own for each test."""

from pathlib import Path

import pytest

from catalog_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    home, project, path = tmp_path / "home", tmp_path / "project", tmp_path / "path"
    for folder in (home, project, path):
        folder.mkdir()
    return World(home, project, path)
