"""Write the table of adapters in docs/reference/catalog.md, from their definitions.

python tools/catalog_table.py            write it
python tools/catalog_table.py --check    fail if the page says anything else
"""

import argparse
import dataclasses
import sys
from pathlib import Path

from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.files import built_in

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/catalog.md"
BEGIN, END = "<!-- adapters -->\n", "<!-- end of adapters -->\n"


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
    ordered = sorted(built_in().values(), key=lambda one: one.name)
    rows += [row(one) for one in ordered]
    notes = [f"* `{one.name}`: {one.notes}{traits(one)}" for one in ordered]
    return "\n".join([*rows, "", *notes, ""])


def row(one: AdapterDefinition) -> str:
    """Return the row of an adapter."""
    kinds = [f"`{kind}`" for kind in one.file_types]
    kinds += ["executables"] if one.native else []
    kinds += ["folders"] if one.directories else []
    command = " ".join(one.command[0])
    return f"| `{one.name}` | {one.title} | {', '.join(kinds)} | `{command}` ({one.transport}) | {one.install} |"


def traits(one: AdapterDefinition) -> str:
    """Return the names of an adapter's traits as a sentence; nothing if it has none."""
    names = [f"`{field.name}`" for field in dataclasses.fields(one.traits) if getattr(one.traits, field.name)]
    return f" Traits: {', '.join(names)}." if names else ""


if __name__ == "__main__":
    sys.exit(main())
