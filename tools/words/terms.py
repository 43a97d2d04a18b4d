"""The page of terms: how many there are, and whether they are where it says."""

import re
from collections.abc import Iterator
from pathlib import Path

from words.modules import exists

MOST = 60
"""Terms that a newcomer can be asked to learn."""

_ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+) \| (.+) \|$", re.MULTILINE)
_NAME = re.compile(r"`([\w.]+)`")


def wrong_terms(page: str, package: Path) -> Iterator[str]:
    """Yield a sentence for each thing that is wrong with the table of terms of a page."""
    rows = _ROW.findall(page)
    if not 0 < len(rows) <= MOST:
        yield f"the page has {len(rows)} terms, expected 1 to {MOST}"
    terms = [term for term, _, _ in rows]
    yield from (f"{term} is explained twice" for term in sorted({term for term in terms if terms.count(term) > 1}))
    for term, _, where in rows:
        names = _NAME.findall(where)
        if not names:
            yield f"{term}: no module is named"
        yield from (f"{term}: there is no {name}" for name in names if not exists(f"dapkit.{name}", package))
