"""The reference shows every public name of the SDK, once, with what it is."""

import ast
import importlib
from collections import Counter

import pytest

from dapkit.protocol.schemas import field_descriptions
from public_names import PACKAGES, REFERENCE, public_names, shown_on


def test_every_public_name_is_on_one_page_of_the_reference() -> None:
    shown = Counter(name for page in REFERENCE.rglob("*.md") for name in shown_on(page.read_text(encoding="utf-8")))
    assert shown == Counter(f"{package}.{name}" for package in PACKAGES for name in public_names(package))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_described(package: str) -> None:
    assert [name for name, definition in public_names(package).items() if not definition.description] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_field_of_a_public_class_is_described(package: str) -> None:
    undescribed = [
        f"{name}.{field.target.id}"
        for name, definition in public_names(package).items()
        if isinstance(definition.statement, ast.ClassDef)
        for field in definition.statement.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id[0] != "_"
        if field.target.id not in field_descriptions(getattr(importlib.import_module(package), name))
    ]
    assert undescribed == []


def test_a_directive_shows_the_names_of_some_modules_or_all_others() -> None:
    some = "```{public-names} dapkit.endpoint\n:within: dapkit.endpoint.lifecycle\n```\n"
    others = some.replace("within", "except")
    assert "dapkit.endpoint.Phase" in set(shown_on(some))
    assert "dapkit.endpoint.Endpoint" in set(shown_on(others))
    assert sorted(shown_on(f"{some}\n{others}")) == sorted(
        f"dapkit.endpoint.{name}" for name in public_names("dapkit.endpoint")
    )
