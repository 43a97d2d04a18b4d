"""Generate what is known of the actions without importing them, from their registry.

    python tools/generate_actions.py            write the files
    python tools/generate_actions.py --check    compare; exit 1 on a difference

`__init__.pyi` has their signatures as functions, which `api.py` makes, `table.py` lets the command line and the MCP
server offer them without loading what carries them out, `schemas.json` has the JSON
schemas of arguments and results, and `docs/reference/actions.md` is for readers.
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dapkit.agent.actions import in_order
from dapkit.agent.calls.registry import vocabulary
from generate_agent.reference import reference
from generate_agent.schemas import schemas
from generate_agent.stub import stub
from generate_agent.table import table
from made_files import ROOT, run

AGENT = ROOT / "src/dapkit/agent"


def main() -> int:
    """Run the command."""
    return run("Generate the table, the schemas and the reference of the actions.", _files)


def _files() -> Mapping[Path, str]:
    actions = in_order()
    words = vocabulary(actions.values())
    return {
        AGENT / "table.py": _formatted(table(actions, words)),
        AGENT / "__init__.pyi": _formatted(stub(actions), "stub.pyi"),
        AGENT / "schemas.json": schemas(actions),
        ROOT / "docs/reference/actions.md": reference(actions, words),
    }


def _formatted(code: str, name: str = "code.py") -> str:
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--quiet", "--config", str(ROOT / "pyproject.toml")]
    return subprocess.run(
        [*ruff, "--stdin-filename", name, "-"], input=code, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
