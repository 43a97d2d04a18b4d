"""Write the table of adapters in docs/reference/catalog.md, from their definitions.

python tools/catalog_table.py            write it
python tools/catalog_table.py --check    fail if the page says anything else
"""

import argparse
import dataclasses
import sys
from pathlib import Path

from dapkit.catalog.definition import AdapterDefinition, Traits
from dapkit.catalog.files import built_in

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/catalog.md"
BEGIN, END = "<!-- adapters -->\n", "<!-- end of adapters -->\n"

LONGEST_WORD = 100
"""A word of a command that is longer, such as a script, is left out."""


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description="Write the table of adapters.")
    parser.add_argument("--check", action="store_true", help="fail if the page says anything else")
    asked = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = with_table(page)
    if asked.check:
        if page != wanted:
            print(f"{PAGE} does not say what the definitions do: run python tools/catalog_table.py", file=sys.stderr)
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


def with_table(page: str) -> str:
    """Return the page with the table as it has to be."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} lacks the marks {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}\n{table()}\n{END}{after}"


def table() -> str:
    """Return the adapters as a table, and what is peculiar about each."""
    rows = ["| name | | programs | starts with | how to get it |", "| --- | --- | --- | --- | --- |"]
    ordered = sorted(built_in().values(), key=lambda adapter: adapter.name)
    rows += [row(adapter) for adapter in ordered]
    notes = [f"* `{adapter.name}`: {adapter.notes}{traits(adapter)}" for adapter in ordered]
    return "\n".join([*rows, "", *notes, ""])


def row(adapter: AdapterDefinition) -> str:
    """Return the row of an adapter."""
    kinds = [f"`{kind}`" for kind in adapter.file_types]
    kinds += ["executables"] if adapter.native else []
    kinds += ["folders"] if adapter.directories else []
    command = " ".join(word if len(word) < LONGEST_WORD else "..." for word in adapter.command[0])
    started = f"`{command}` ({adapter.transport})"
    return f"| `{adapter.name}` | {adapter.title} | {', '.join(kinds)} | {started} | {adapter.install} |"


def traits(adapter: AdapterDefinition) -> str:
    """Return the names of an adapter's traits as a sentence; nothing if it has none."""
    usual = Traits()
    names = [
        f"`{field.name}`"
        for field in dataclasses.fields(adapter.traits)
        if getattr(adapter.traits, field.name) != getattr(usual, field.name)
    ]
    return f" Traits: {', '.join(names)}." if names else ""


if __name__ == "__main__":
    sys.exit(main())
