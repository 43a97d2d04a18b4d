"""Lines of sources beside the places of objects; the program chooses the names of its files."""

import os
from pathlib import Path

import pytest

from dapkit.diagnostics.memory.tables import with_source


def test_line_of_a_python_file_stands_beside_its_place(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("import json\nitems = json.loads('[1]')\n")
    place = f"{tmp_path}/shop.py:2"
    assert with_source(place) == f"{place}  items = json.loads('[1]')"
    assert with_source("native code") == "native code"
    assert with_source(f"{tmp_path}/shop.py:native code") == f"{tmp_path}/shop.py:native code"
    assert with_source(f"{tmp_path}/shop.py:3") == f"{tmp_path}/shop.py:3"


@pytest.mark.parametrize("name", ["none.py", "secret.txt", "pipe.py", "zero.py"])
def test_no_other_file_is_opened_or_shown(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("hunter2\n")
    os.mkfifo(tmp_path / "pipe.py")  # to open it would wait for a writer
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    place = f"{tmp_path}/{name}:1"
    assert with_source(place) == place
