"""Check the words of the code base, and exit with 1 if something is wrong.

* No two public classes have the same name.
* Docstrings, comments and pages name modules that exist.
* The page of terms has at most 60 of them, and each is where the page says.
* No sentence has one of the phrases that readers stumble over.
* No file has more words of the private dialect than `words/ceilings.json` allows; `--lower` lowers the ceilings.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from words.classes import duplicates
from words.counts import lowered, read_ceilings, too_many, write_ceilings
from words.members import missing_members
from words.modules import missing_in_page, missing_modules
from words.phrases import bad_phrases
from words.prose import python_files
from words.terms import wrong_terms

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src/dapkit"
TERMS = ROOT / "docs/explanation/words.md"


def main() -> int:
    """Run all checks, or lower the ceilings."""
    parser = argparse.ArgumentParser(description="Check the words of the code base.")
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to the present counts")
    if parser.parse_args().lower:
        return _lower()
    problems = [
        *duplicates(PACKAGE),
        *missing_modules(PACKAGE),
        *(wrong for page in _pages() for wrong in missing_in_page(page, PACKAGE)),
        *wrong_terms(TERMS.read_text(encoding="utf-8"), PACKAGE),
        *bad_phrases(_written(), ROOT),
        *missing_members([*_pages(), *python_files(PACKAGE)], PACKAGE),
        *too_many(_counted(), ROOT, read_ceilings()),
    ]
    print(*problems, sep="\n", end="\n" if problems else "")
    if problems:
        print(f"{len(problems)} words to change; docs/explanation/words.md has the terms", file=sys.stderr)
    return 1 if problems else 0


def _lower() -> int:
    ceilings, risen = lowered(_counted(), ROOT, read_ceilings())
    print(*risen, sep="\n", end="\n" if risen else "")
    write_ceilings(ceilings)
    return 1 if risen else 0


def _pages() -> Iterator[Path]:
    """Yield the pages about the project as it is; the changelog is about what it was."""
    yield from sorted(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md")
    yield from sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)


def _counted() -> Iterator[Path]:
    """Yield the files whose words are counted: all that users and maintainers read, but generated code."""
    yield from _pages()
    for suffix in ("py", "c", "h"):
        yield from sorted(path for path in PACKAGE.rglob(f"*.{suffix}") if "generated" not in path.parts)


def _written() -> Iterator[Path]:
    yield from _pages()
    for folder, suffixes in ((PACKAGE, {".py", ".c", ".h", ".toml"}), (ROOT / "tools", {".py"})):
        yield from sorted(
            path
            for path in folder.rglob("*")
            if path.suffix in suffixes and path.name not in {"phrases.py", "counts.py"}
        )


if __name__ == "__main__":
    sys.exit(main())
