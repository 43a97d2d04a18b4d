"""Generate `dapkit.protocol.generated`, and the bases of adapter and client, from the JSON schema of the protocol.

Given the schema, write the modules; with --check, only compare and write nothing.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from generate.adapter_base import adapter_modules
from generate.client_requests import client_modules
from generate.modules import generate
from generate.origin import COMMIT, SHA256, VERSION
from generate.schema import SchemaError, read_schema
from made_files import ROOT, check

PACKAGE = ROOT / "src/dapkit"
PROTOCOL = "protocol/generated"
ADAPTER = "adapter"
CLIENT = "client"


def main() -> int:
    """Run the command; 1 if the schema is not understood, or if `--check` finds a difference."""
    parser = argparse.ArgumentParser(description="Generate the protocol, and the bases of adapter and client.")
    parser.add_argument("schema", type=Path, help="the protocol's JSON schema")
    parser.add_argument("--check", action="store_true", help="compare with what is there; exit 1 on a difference")
    options = parser.parse_args()
    try:
        modules = _modules(options.schema)
    except SchemaError as error:
        print(f"generate_protocol: {error}", file=sys.stderr)
        return 1
    return _check(modules) if options.check else _write(modules)


def _modules(schema: Path) -> Mapping[str, str]:
    """Make all modules: path below the package -> source text."""
    protocol = read_schema(json.loads(_read(schema)))
    made = {PROTOCOL: generate(protocol), ADAPTER: adapter_modules(protocol), CLIENT: client_modules(protocol)}
    return {f"{folder}/{name}": text for folder, texts in made.items() for name, text in texts.items()}


def _read(schema: Path) -> bytes:
    content = schema.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SchemaError(
            f"{schema} is not the schema of DAP {VERSION} at commit {COMMIT}; "
            "for a new version, change tools/generate/origin.py first"
        )
    return content


def _write(modules: Mapping[str, str]) -> int:
    (PACKAGE / PROTOCOL).mkdir(exist_ok=True)
    for stale in _present() - set(modules):
        (PACKAGE / stale).unlink()
    for name, text in modules.items():
        (PACKAGE / name).write_text(text, encoding="utf-8")
    print(f"{len(modules)} modules, {sum(text.count('\n') for text in modules.values())} lines in {PACKAGE}")
    return 0


def _check(modules: Mapping[str, str]) -> int:
    return check({PACKAGE / name: modules.get(name, "") for name in sorted(_present() | set(modules))})


def _present() -> set[str]:
    """Find the modules in the one folder that holds nothing else."""
    return {f"{PROTOCOL}/{path.name}" for path in (PACKAGE / PROTOCOL).glob("*.py")}


if __name__ == "__main__":
    sys.exit(main())
