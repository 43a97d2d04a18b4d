"""Check the words of the code base, and exit with 1 if something is wrong.

* No two public classes have the same name.
* Docstrings, comments and pages name modules that exist.
* The page of terms has at most 60 of them, and each is where the page says.
* No sentence has one of the phrases that readers stumble over.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from words.classes import duplicates
from words.modules import missing_in_page, missing_modules
from words.phrases import bad_phrases
from words.terms import wrong_terms

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src/dapkit"
TERMS = ROOT / "docs/explanation/words.md"


def main() -> int:
    """Run all checks."""
    found = [
        *duplicates(PACKAGE),
        *missing_modules(PACKAGE),
        *(wrong for page in _pages() for wrong in missing_in_page(page, PACKAGE)),
        *wrong_terms(TERMS.read_text(encoding="utf-8"), PACKAGE),
        *bad_phrases(_written(), ROOT),
    ]
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        print(f"{len(found)} words to change; docs/explanation/words.md has the terms", file=sys.stderr)
    return 1 if found else 0


def _pages() -> Iterator[Path]:
    """Yield the pages about the project as it is; the changelog is about what it was."""
    yield from sorted(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md")
    yield from sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)


def _written() -> Iterator[Path]:
    yield from _pages()
    for folder, suffixes in ((PACKAGE, {".py", ".c", ".h", ".toml"}), (ROOT / "tools", {".py"})):
        yield from sorted(path for path in folder.rglob("*") if path.suffix in suffixes and path.name != "phrases.py")


if __name__ == "__main__":
    sys.exit(main())
