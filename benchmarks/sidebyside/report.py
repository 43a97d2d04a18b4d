"""The page of the documentation that shows the figures."""

import os
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path

from sidebyside.table import Row, as_markdown, as_markdown_beside

_HEAD = """\
# Figures

<!-- Written by benchmarks/debuggers.py; do not edit. -->

The cost of debugging: dapkit's debugger for Python and debugpy {debugpy}, side by side, measured on {day}.

    make bench                                   # all benchmarks
    .venv/bin/python benchmarks/debuggers.py     # these; --quick, --case NAME, --python 3.12, --write FILE

How to read them:

* Both adapters and the program run on the same interpreter, driven by dapkit's own client. Runs of the two and of
  the program alone alternate, {rounds} rounds of each.
* "x" figures are ratios to the program without a debugger, in processor time of its thread: the best repetition of all
  rounds with the debugger, over the best without.
* Times in s, ms and us are wall-clock times as the client sees them. Waiting for a busy machine only adds to
  them, so the best round counts, of medians within a round.
* The machine had two cores and was shared with other work (load {load:.0f} at the end), so ratios of about 1
  scatter by several percent in either direction, and times of the clock are longer than on a quiet one.
* Python 3.12 runs some pairs of instructions as one, and does not join them again in code where events were on once.
  Each code object is looked at when it first runs, so that loops of such pairs take up to 6 % longer there.
* debugpy gets fewer events where it takes 10 us or more for each; its figures are per event.
* Memory is the sum for the adapter, helper processes and the program, less the program's own without a debugger.
"""

_BESIDE = """\
Ours, with debugpy's figure in parentheses. A figure over its goal is bold; the goals are in the tables below.
"""


JOBS = "## Jobs of many processes"
WINDOWS = "## Windows"
"""Headings of the parts of the page that other benchmarks write."""


def other_parts(page: Path) -> str:
    """Return the parts of a page that other benchmarks have written, with their headings."""
    text = page.read_text() if page.exists() else ""
    start = min((text.index(heading) for heading in (JOBS, WINDOWS) if heading in text), default=len(text))
    return f"\n{text[start:]}" if start < len(text) else ""


def write_part(page: Path, heading: str, part: str) -> None:
    """Put a part of a page in the place of the earlier one, which ends at the next heading of that level."""
    text = page.read_text()
    before, _, rest = text.partition(heading)
    _, mark, after = rest.partition("\n## ")
    page.write_text(f"{before.rstrip()}\n\n{heading}\n\n{part.strip()}\n{mark}{after}")


def document(tables: Mapping[str, list[Row]], *, day: date, rounds: int) -> str:
    """Write the page."""
    parts = [_HEAD.format(debugpy=version("debugpy"), day=day.isoformat(), rounds=rounds, load=os.getloadavg()[1])]
    if len(tables) > 1:
        parts.append(f"\n## All versions\n\n{_BESIDE}\n{as_markdown_beside(tables)}\n")
    parts += [f"\n## Python {version}\n\n{as_markdown(rows)}\n" for version, rows in tables.items()]
    return "".join(parts)
