"""Source texts that are kept from stop to stop."""

import os
from pathlib import Path

import pytest

from dapkit.python.debuggee.bytecode.texts import ProgramText, ProgramTexts
from dapkit.python.debuggee.interpreter import limits
from dapkit.python.debuggee.sources.fileless_code import UnfiledTexts
from dapkit.python.debuggee.sources.files import Sources


class Files:
    """Some files, and their texts."""

    def __init__(self, folder: Path, count: int) -> None:
        self.texts = ProgramTexts(Sources(UnfiledTexts()))
        self.paths = [folder / f"m{number}.py" for number in range(count)]
        for path in self.paths:
            path.write_text(f"name = '{path.name}'\n")

    def read(self) -> list[ProgramText]:
        """Return the text of each."""
        return [self.texts.of(str(path)) for path in self.paths]


def same(some: list[ProgramText], others: list[ProgramText]) -> list[bool]:
    return [one is other for one, other in zip(some, others, strict=True)]


def test_texts_of_a_stack_through_many_files_are_read_once(tmp_path: Path) -> None:
    files = Files(tmp_path, 30)
    assert all(same(files.read(), files.read()))


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    files = Files(tmp_path, 3)
    before = files.read()
    files.paths[1].write_text("name = 'another'\n")
    os.utime(files.paths[1], ns=(1, 1))
    after = files.read()
    assert same(before, after) == [True, False, True]
    assert after[1].data == b"name = 'another'\n"


def test_texts_that_were_read_first_make_room_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files(tmp_path, 3)
    before = files.read()
    monkeypatch.setattr(limits, "TEXT_BYTES", len(before[1].data) + len(before[2].data))
    assert files.texts.of(str(files.paths[0])) is before[0]  # room is made only for what is read anew
    files.paths[2].write_text("name = 2\n")
    os.utime(files.paths[2], ns=(1, 1))
    newest = files.texts.of(str(files.paths[2]))
    assert files.texts.of(str(files.paths[1])) is before[1]
    assert files.texts.of(str(files.paths[2])) is newest
    assert files.texts.of(str(files.paths[0])) is not before[0]
