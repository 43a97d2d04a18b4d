"""Write the table of adapters in docs/reference/catalog.md, from their definitions.

python tools/catalog_table.py            write it
python tools/catalog_table.py --check    fail if the page says anything else
"""

import dataclasses
import sys
from collections.abc import Iterator

from dapkit.catalog.definition import AdapterDefinition, Traits
from dapkit.catalog.files import built_in
from made_files import ROOT, run, with_tables

PAGE = ROOT / "docs/reference/catalog.md"

LONGEST_WORD = 100
"""A word of a command that is longer, such as a script, is left out."""


def main() -> int:
    """Write or check the page."""
    return run("Write the table of adapters.", lambda: {PAGE: page()})


def page() -> str:
    """Return the page with the table as it has to be."""
    return with_tables(PAGE, {"adapters": lines})


def lines() -> Iterator[str]:
    """Yield the adapters as a table, and what is peculiar about each."""
    yield from ("| name | | programs | starts with | how to get it |", "| --- | --- | --- | --- | --- |")
    ordered = sorted(built_in().values(), key=lambda adapter: adapter.name)
    yield from (row(adapter) for adapter in ordered)
    yield ""
    yield from (f"* `{adapter.name}`: {adapter.notes}{traits(adapter)}" for adapter in ordered)


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
