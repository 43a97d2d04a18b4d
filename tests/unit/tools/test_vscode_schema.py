import json
from typing import Any

import pytest

import vscode_schema
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.adapter.configuration.keys import KNOWN, NOT_NEEDED, REMARKS


@pytest.fixture(scope="module")
def attributes() -> dict[str, Any]:
    return vscode_schema.attributes()


@pytest.mark.parametrize(("request_", "kind"), [("launch", PythonLaunch), ("attach", PythonAttach)])
def test_each_argument_of_the_adapter_is_a_key_with_a_description(
    attributes: dict[str, Any], request_: str, kind: type[PythonLaunch | PythonAttach]
) -> None:
    properties = attributes[request_]["properties"]
    expected = set(kind.__struct_encode_fields__) - {"extra", "noDebug", "__restart"}
    assert expected <= properties.keys()
    assert [key for key in expected if not {"description", "deprecationMessage"} & properties[key].keys()] == []


def test_keys_that_do_nothing_are_known_to_the_editor_and_say_so(attributes: dict[str, Any]) -> None:
    properties = attributes["launch"]["properties"]
    assert (NOT_NEEDED | REMARKS.keys()) <= properties.keys()
    assert properties["vmType"] == {"deprecationMessage": vscode_schema.NO_EFFECT}
    assert properties["logToFile"]["deprecationMessage"] == "Start the adapter with --log FILE instead."


def test_the_adapter_knows_the_keys_that_the_extension_reads() -> None:
    assert vscode_schema.OWN_KEYS.keys() <= KNOWN


def test_descriptions_name_keys_and_not_fields(attributes: dict[str, Any]) -> None:
    properties = attributes["launch"]["properties"]
    assert properties["envFile"]["description"] == "A file of such variables, relative to cwd; env has precedence."
    assert "_" not in "".join(schema.get("description", "") for schema in properties.values())


def test_all_else_of_the_package_stays() -> None:
    text = vscode_schema.PACKAGE.read_text(encoding="utf-8")
    package = json.loads(text)
    del package["contributes"]["debuggers"][0]["configurationAttributes"]
    made = json.loads(vscode_schema.with_schema(json.dumps(package)))
    del made["contributes"]["debuggers"][0]["configurationAttributes"]
    assert made == package
