"""Write the schema of configurations into editors/vscode/package.json, from what the Python adapter takes.

python tools/vscode_schema.py            write it
python tools/vscode_schema.py --check    fail if the file says anything else

Descriptions come from the attributes in `python.adapter.configuration.arguments`, and keys that do nothing from
`python.adapter.configuration.keys`. The version of the extension is that of dapkit.
"""

import inspect
import itertools
import json
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

import msgspec

import dapkit
from dapkit.adapter import debugger_contribution
from dapkit.cluster.adapter import JobAdapter, JobAttach
from dapkit.python.adapter import PythonAdapter
from dapkit.python.adapter.configuration.arguments import ProgramAddress, PythonAttach, PythonLaunch, TimeTravelSettings
from dapkit.python.adapter.configuration.keys import NOT_NEEDED, REMARKS
from made_files import ROOT, run

PACKAGE = ROOT / "editors/vscode/package.json"

type Schema = dict[str, Any]

OWN_KEYS: Final[Mapping[str, Schema]] = {
    "adapterSocket": {
        "type": "string",
        "description": "Path of the unix socket of an adapter that is running (python -m dapkit.python --socket PATH).",
    },
    "debugAdapterPython": {
        "type": "string",
        "description": "The interpreter that runs the adapter. Missing: that of the program.",
    },
    "trace": {
        "type": ["boolean", "string"],
        "default": False,
        "description": "Write all messages of the session to this file, or to a new one in the folder for logs.",
    },
}
"""Keys that the extension reads."""

DEFAULTS: Final[Mapping[str, object]] = {"console": "integratedTerminal", "justMyCode": True}
"""What the extension sends where a configuration says nothing, and defaults that the type of a field does not say."""

OLDER_KEYS: Final[Mapping[str, str]] = {
    "consoleName": "consoleTitle",
    "debugOptions": "a key for each",
    "debugStdLib": "justMyCode",
    "host": "connect",
    "port": "connect",
    "pythonPath": "python",
    "pythonpath": "python",
    "stopAllThreadsOnSuspend": "stopAllThreads",
}
"""Keys that others have replaced, and which."""

WIRE_NAMES: Final[Mapping[str, str]] = {
    name: wire
    for kind in (PythonAttach, PythonLaunch, JobAttach, ProgramAddress, TimeTravelSettings)
    for name, wire in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
}

NO_EFFECT: Final = "It has no effect: dapkit does by itself what it is for, or has no need of it."


def main() -> int:
    """Write or check the file."""
    description = "Write the schema of the extension for VS Code."
    return run(description, lambda: {PACKAGE: with_schema(PACKAGE.read_text(encoding="utf-8"))})


def with_schema(text: str) -> str:
    """Return the text of a package.json with the schema as it has to be."""
    package = json.loads(text)
    package["version"] = package["dapkit"]["oldest"] = dapkit.__version__
    (debugger,) = package["contributes"]["debuggers"]
    debugger["configurationAttributes"] = attributes()
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def attributes() -> Schema:
    """Return the schemas of launch and attach."""
    made: Any = debugger_contribution(PythonAdapter, kind="dapkit", label="dapkit", command=["dapkit"])
    schemas: Schema = made["configurationAttributes"]
    usual = descriptions(PythonLaunch)
    kinds = {"launch": usual, "attach": usual | descriptions(PythonAttach)}
    made_of_jobs: Any = debugger_contribution(JobAdapter, kind="dapkit", label="dapkit", command=["dapkit"])
    of_jobs = made_of_jobs["configurationAttributes"]["attach"]["properties"]
    attributes = {
        request: {**schemas[request], "properties": _properties(schemas[request]["properties"], described)}
        for request, described in kinds.items()
    }
    for name, text in descriptions(JobAttach).items():
        attributes["attach"]["properties"][name] = of_jobs[name] | {"description": _sentence(text)}
    return attributes


def descriptions(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Read what the docstring of a class says of its attributes, by their names on the wire."""
    return _of_attributes(inspect.getdoc(kind) or "")


def _of_attributes(docstring: str) -> dict[str, str]:
    _, _, below = docstring.partition("Attributes:\n")
    section = "\n".join(itertools.takewhile(lambda line: line[:1] in {"", " "}, below.splitlines()))
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE)
    return {_as_keys(f"`{name}`"): _as_keys(" ".join(text.split())) for name, text in found}


def _inner(schema: Schema) -> Schema:
    """Return the schema of an object with what its docstring says of each of its properties where that is."""
    made = {**schema}
    if "anyOf" in made:
        made["anyOf"] = [_inner(choice) for choice in made["anyOf"]]
    about, _, _ = made.get("description", "").partition("\n\n")
    described = _of_attributes(made.get("description", ""))
    if described:
        made["description"] = about
        made["properties"] = {
            key: {**value, "description": _sentence(described[key])} for key, value in made["properties"].items()
        }
    return made


def _properties(given: Schema, described: Mapping[str, str]) -> Schema:
    """Complete the properties of one kind of configuration."""
    properties: Schema = {}
    for key, schema in given.items():
        properties[key] = _inner(schema)
        if key in OLDER_KEYS:
            properties[key]["deprecationMessage"] = f"An older key: use {OLDER_KEYS[key]}."
        elif key in described:
            properties[key]["description"] = _sentence(described[key])
        if key in DEFAULTS:
            properties[key]["default"] = DEFAULTS[key]
    properties |= OWN_KEYS
    unused = {**dict.fromkeys(sorted(NOT_NEEDED), NO_EFFECT), **{key: REMARKS[key] for key in sorted(REMARKS)}}
    deprecated = {key: {"deprecationMessage": _sentence(text)} for key, text in unused.items() if key not in properties}
    return properties | deprecated


def _as_keys(text: str) -> str:
    """Name fields as the keys that they are."""
    return re.sub(r"`([^`]*)`", lambda found: WIRE_NAMES.get(found[1], found[1]), text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].removesuffix(".") + "."


if __name__ == "__main__":
    sys.exit(main())
