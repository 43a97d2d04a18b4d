import doctest
import json
from pathlib import Path

import pytest
from msgspec import Struct

from dapkit import protocol as dap
from dapkit.adapter import (
    Adapter,
    DefinitionError,
    NoAttach,
    NoLaunch,
    contribution,
    debugger_contribution,
    write_contribution,
)


class Item(dap.ProtocolObject, frozen=True, kw_only=True):
    """Something to buy."""

    name: str
    """What it is called."""
    amount: int = 1


class ListLaunch(dap.LaunchRequestArguments, frozen=True, kw_only=True):
    """What a launch configuration may say."""

    program: str
    """Path of the list."""
    stop_on_entry: bool = False
    title: str | None = None
    """Shown above the list."""
    items: tuple[Item, ...] = ()
    first: Item | None = None
    sizes: tuple[int | None, ...] | None = None


class ListAttach(dap.AttachRequestArguments, frozen=True, kw_only=True):
    """What an attach configuration may say."""

    port: int | str


class ListAdapter(Adapter[ListLaunch, ListAttach]):
    """Debugs lists."""

    async def launch(self, args: ListLaunch) -> None:
        """Begin."""

    async def attach(self, args: ListAttach) -> None:
        """Join."""


CONTRIBUTION = debugger_contribution(
    ListAdapter,
    kind="list",
    label="Lists",
    command=["python3", "-m", "lists"],
    languages=["markdown"],
    configurations=[{"request": "launch", "program": "${file}"}],
)


def test_examples_in_docstrings_are_true() -> None:
    assert doctest.testmod(contribution).attempted
    assert doctest.testmod(contribution).failed == 0


def test_debugger_is_described_in_the_words_of_a_package_json() -> None:
    assert {name: value for name, value in CONTRIBUTION.items() if name != "configurationAttributes"} == {
        "type": "list",
        "label": "Lists",
        "languages": ["markdown"],
        "runtime": "python3",
        "args": ["-m", "lists"],
        "initialConfigurations": [{"type": "list", "name": "Lists: launch", "request": "launch", "program": "${file}"}],
    }


def test_schemas_follow_from_the_types_and_have_the_descriptions_of_fields() -> None:
    item = {
        "type": "object",
        "description": "Something to buy.",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "amount": {"type": "integer", "default": 1},
        },
    }
    assert CONTRIBUTION["configurationAttributes"] == {
        "launch": {
            "required": ["program"],
            "properties": {
                "program": {"type": "string", "description": "Path of the list."},
                "stopOnEntry": {"type": "boolean", "default": False},
                "title": {"type": "string", "description": "Shown above the list."},
                "items": {"type": "array", "items": item, "default": []},
                "first": item,
                "sizes": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            },
        },
        "attach": {
            "required": ["port"],
            "properties": {"port": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        },
    }


def test_refused_request_has_no_schema() -> None:
    class AttachOnly(Adapter[NoLaunch, ListAttach]):
        async def attach(self, args: ListAttach) -> None:
            """Join."""

    made = debugger_contribution(AttachOnly, kind="list", label="Lists", command=["./lists"])
    assert list(made["configurationAttributes"]) == ["attach"]  # type: ignore[call-overload]  # a JSON value
    assert made["program"] == "./lists"


class Folder(Struct):
    inner: "list[Folder]"


class FolderLaunch(dap.LaunchRequestArguments, frozen=True, kw_only=True):
    folder: Folder


def test_type_that_contains_itself_is_refused() -> None:
    class FolderAdapter(Adapter[FolderLaunch, NoAttach]):
        async def launch(self, args: FolderLaunch) -> None:
            """Begin."""

    with pytest.raises(DefinitionError, match="Folder contains itself"):
        debugger_contribution(FolderAdapter, kind="x", label="X", command=["x"])


def test_debugger_takes_the_place_of_the_one_of_its_type_in_the_file(tmp_path: Path) -> None:
    package = tmp_path / "package.json"
    other = {"type": "other", "label": "Other"}
    before = {
        "name": "lists",
        "contributes": {
            "commands": [{"command": "é"}],
            "debuggers": [{"type": "list"}, other],
            "breakpoints": [{"language": "markdown"}],
        },
        "main": "x.js",
    }
    package.write_text(json.dumps(before, indent="\t", ensure_ascii=False), encoding="utf-8")
    write_contribution(package, CONTRIBUTION)
    text = package.read_text(encoding="utf-8")
    after = json.loads(text)
    assert after.pop("contributes") == {
        "commands": [{"command": "é"}],
        "debuggers": [other, CONTRIBUTION],
        "breakpoints": [{"language": "markdown"}],
    }
    assert after == {"name": "lists", "main": "x.js"}
    assert '\n\t"name"' in text
    assert "é" in text


def test_new_file_of_an_extension_gets_what_it_lacks(tmp_path: Path) -> None:
    package = tmp_path / "package.json"
    package.write_text("{}")
    write_contribution(package, CONTRIBUTION)
    assert json.loads(package.read_text()) == {
        "contributes": {"debuggers": [CONTRIBUTION], "breakpoints": [{"language": "markdown"}]}
    }


@pytest.mark.parametrize("text", ["[]", "{", '{"contributes": []}', '{"contributes": {"debuggers": [1]}}'])
def test_file_of_another_kind_is_refused_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    package = tmp_path / "package.json"
    package.write_text(text)
    with pytest.raises(DefinitionError, match=r"is not the package\.json of an extension"):
        write_contribution(package, CONTRIBUTION)
    assert package.read_text() == text
