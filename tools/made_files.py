"""Files that tools make: written, or with `--check` compared with what there is.

    python tools/NAME.py            write the files
    python tools/NAME.py --check    show what differs, and exit with 1

A tool makes whole files, or tables of a page: each stands between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

import argparse
import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

type Row = tuple[str, ...]


def run(description: str, make: Callable[[], Mapping[Path, str]]) -> int:
    """Run the command of a tool that makes these files; return its exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="show what differs from what is there, and exit with 1")
    asked = parser.parse_args()
    return (check if asked.check else write)(make())


def write(files: Mapping[Path, str]) -> int:
    """Write files; return the exit code."""
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        print(f"{text.count('\n')} lines in {path.relative_to(ROOT)}")
    return 0


def check(files: Mapping[Path, str]) -> int:
    """Show in what files differ from these, where "" means that there is to be none; return the exit code."""
    different = 0
    for path, text in files.items():
        name = path.relative_to(ROOT)
        present = path.read_text(encoding="utf-8") if path.exists() else ""
        marks = (f"{name} as it is", f"{name} as it has to be")
        lines = list(difflib.unified_diff(present.splitlines(), text.splitlines(), *marks, lineterm=""))
        different += bool(lines)
        print(*lines, sep="\n", end="\n" if lines else "")
    if different:
        print(f"out of date: {different} of {len(files)}; run {sys.argv[0]} without --check", file=sys.stderr)
    return int(bool(different))


def with_tables(page: Path, tables: Mapping[str, Callable[[], Iterable[str]]]) -> str:
    """Return the text of a page with its tables as they have to be, by their names in the marks.

    Raises:
        SystemExit: the page has no place for one.

    """
    text = page.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, begun, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not (begun and ended):
            raise SystemExit(f"{page.relative_to(ROOT)} lacks the marks {begin.strip()} and {end.strip()}")
        text = f"{before}{begin}\n{'\n'.join(lines())}\n\n{end}{after}"
    return text


def table(head: Row, rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a table."""
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"
