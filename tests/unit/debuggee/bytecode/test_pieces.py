"""Long texts are looked at in pieces, and what is found is what the whole would show."""

import ast
import asyncio.base_events
import dataclasses
import enum
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from dapkit.python.debuggee.bytecode import texts as texts_module
from dapkit.python.debuggee.bytecode.positions import look_up_spots, spots
from dapkit.python.debuggee.bytecode.texts import ProgramText
from dapkit.python.debuggee.bytecode.tree_places import Spot
from dapkit.python.debuggee.interpreter import limits
from dapkit.python.debuggee.interpreter.errors import RequestRefused
from dapkit.python.debuggee.sources.files import compile_quietly

WHOLE = 1_000_000
MODULES = (asyncio.base_events, dataclasses, enum)


def looked_at(data: bytes, monkeypatch: pytest.MonkeyPatch, lines: int) -> ProgramText:
    """Return a text that has been looked at in pieces of about so many lines."""
    monkeypatch.setattr(limits, "PIECE_LINES", lines)
    text = ProgramText(data)
    text.lines_with_code("the text")
    return text


def all_spots(text: ProgramText) -> list[Spot]:
    return [spot for part in spots(text, 1, WHOLE, "the text") for spot in part]


@pytest.mark.thorough
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_pieces_show_what_the_whole_shows(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(str(module.__file__)).read_bytes()
    whole = looked_at(data, monkeypatch, WHOLE)
    cut = looked_at(data, monkeypatch, 50)
    numbers = range(1, data.count(b"\n") + 1)
    assert len(whole.pieces(1, WHOLE, "the text")) == 1
    assert len(cut.pieces(1, WHOLE, "the text")) > 4
    assert cut.lines_with_code("the text") == whole.lines_with_code("the text")
    assert all_spots(cut) == all_spots(whole)
    assert [cut.statement_around(line) for line in numbers] == [whole.statement_around(line) for line in numbers]
    assert [cut.statements(line) for line in numbers] == [whole.statements(line) for line in numbers]


STRANGE = '''
    """A module."""
    from __future__ import annotations
    first = """
    second = 2
    """
    third = (1,
    first)
    "a string that documents nothing"
    fourth = 1 + \\
    first.count("s")
    if first:
        fifth = 5
    elif third:
        fifth = 6
    else:
        fifth = 7
    try:
        pass
    except ValueError:
        pass
    finally:
        pass
    @staticmethod
    @str
    def sixth(a: not_there(1)) -> None: return None
    last: not_there(2) = 1; more = 2
'''


def test_no_piece_ends_within_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    data = textwrap.dedent(STRANGE).lstrip().encode()
    cut = looked_at(data, monkeypatch, 1)
    whole = looked_at(data, monkeypatch, WHOLE)
    statements = ast.parse(data).body
    begins = {min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))]) for node in statements}
    found = {piece.first for piece in cut.pieces(1, WHOLE, "the text")}
    assert found <= begins
    assert len(found) > 4
    assert cut.lines_with_code("the text") == whole.lines_with_code("the text")
    assert all_spots(cut) == all_spots(whole)


def test_an_invalid_text_is_refused_as_a_whole_is(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"x = 1\n" * 100 + b"y = (\n" + b"x = 1\n" * 100
    refusals = []
    for lines in (WHOLE, 10):
        with pytest.raises(RequestRefused) as refused:
            looked_at(data, monkeypatch, lines)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
    assert "line 101" in refusals[0]


def test_a_piece_is_compiled_as_often_for_many_columns_as_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counting(text: str, where: str, *, as_tree: bool, flags: int = 0) -> object:
        compiled.append(text)
        return compile_quietly(text, where, as_tree=as_tree, flags=flags)

    monkeypatch.setattr(texts_module, "compile_quietly", counting)
    text = looked_at(b"x = max(1, min(2, 3))\n" * 1_000, monkeypatch, 100)
    assert len(compiled) == 10
    for _ in look_up_spots(text, set(range(1, 1_001)), "the text"):
        pass
    assert len(compiled) == 10 + 2 * 10
    assert [len(text.spots[line]) for line in (1, 500, 1_000)] == [2, 2, 2]
    for _ in look_up_spots(text, {7, 700}, "the text"):
        pass
    assert len(compiled) == 10 + 2 * 10
