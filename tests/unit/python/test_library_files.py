"""Notes are packed without the data that `library_files` finds in them, and unpacked with room for these."""

import mmap
import random
import tempfile
from pathlib import Path

import pytest

from dapkit.python.recording.library_files import LibraryFile, gaps_of, modules_read, without_gaps, write_with_gaps

MOST = 1 << 20


def library(size: int, *places: int) -> dict[str, LibraryFile]:
    return {"/lib/a.py": LibraryFile("", size, list(places))}


def packed(content: bytes, gaps: list[tuple[int, int]], most: int) -> list[bytes]:
    with mmap.mmap(-1, len(content) + 5000) as notes:  # there is room behind their end
        notes[: len(content)] = content
        return list(without_gaps(notes, len(content), gaps, most))


def unpacked(parts: list[bytes], gaps: list[tuple[int, int]], most: int = MOST) -> bytes:
    with tempfile.TemporaryFile() as file:
        write_with_gaps(file, parts, gaps, most)
        file.seek(0)
        return file.read()


@pytest.mark.parametrize("seed", range(40))
def test_notes_come_back_with_zeros_in_their_gaps(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    content = chance.randbytes(chance.randrange(1, 6000))
    edges = sorted(chance.choices(range(len(content) + 1), k=2 * chance.randrange(6)))  # also beside each other
    gaps = [(begin, end - begin) for begin, end in zip(edges[::2], edges[1::2], strict=True)]
    expected = bytearray(content)
    for place, size in gaps:
        expected[place : place + size] = bytes(size)
    most = chance.choice([1, 7, 100, 5000, 10_000])
    parts = packed(content, gaps, most)
    assert sum(map(len, parts)) == len(content) - sum(size for _, size in gaps)
    assert all(len(part) == most for part in parts[:-1])
    assert unpacked(parts, gaps) == expected


def test_gaps_are_those_of_libraries_and_repeats_in_order() -> None:
    assert gaps_of(library(10, 70, 20), [(40, 5, 3)], MOST) == [(20, 10), (40, 5), (70, 10)]


@pytest.mark.parametrize(
    ("files", "repeats"),
    [
        (library(10, 20, 25), []),
        (library(10, 20), [(29, 1, 0)]),
        (library(10, MOST - 9), []),
        (library(-1, 20), []),
        ({}, [(-8, 4, 0)]),
        ({}, [(0, 1 << 70, 0)]),
    ],
)
def test_gaps_that_overlap_or_lie_outside_are_refused(
    files: dict[str, LibraryFile], repeats: list[tuple[int, int, int]]
) -> None:
    with pytest.raises(ValueError, match="outside of the notes, or there twice"):
        gaps_of(files, repeats, MOST)


def test_gap_behind_the_end_of_the_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="5 bytes at 12 would be outside of the notes"):
        unpacked([b"0123456789"], [(2, 1), (12, 5)])


def test_more_notes_than_there_may_be_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 15 bytes"):
        unpacked([b"0123456789"] * 2, [], most=15)


def test_a_process_that_was_killed_before_it_has_noted_anything_has_read_no_modules(tmp_path: Path) -> None:
    assert modules_read(tmp_path, [str(tmp_path)]) == {}
