"""Counts of the words of a private dialect, file by file, with a ceiling for each file that only falls.

One such word is not a fault. Many are: a sentence with "what" for a noun is read twice, and so is a local variable that
bears a participle instead of the noun of its thing. `ceilings.json` has the counts that are left; they
are 0 for other files. `python tools/check_words.py --lower` writes it anew; it refuses to raise a count.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from words.prose import Passage, comments_of, docs_of, of_page, texts_of

CEILINGS = Path(__file__).with_name("ceilings.json")

PATTERNS: Mapping[str, re.Pattern[str]] = {
    "what": re.compile(r"\bwhat\b", re.IGNORECASE),
    "that of": re.compile(r"\b(?:that|those) of\b", re.IGNORECASE),
    "nobody": re.compile(r"\b(?:nobody|somebody|whom|whoever)\b", re.IGNORECASE),
    "is none": re.compile(r"\b(?:is|are|has|have) none\b", re.IGNORECASE),
}
"""Words of prose, by the name of their count."""

HAVE = re.compile(r"\s*(?:Have|Be the)\s")
"""The beginning of a docstring without a verb of its own."""

# fmt: off
PARTICIPLES = frozenset({
    "asked", "begun", "chosen", "done", "found", "given", "gone", "heard", "held", "kept", "known", "left", "lost",
    "made", "meant", "missed", "named", "needed", "noted", "put", "read", "said", "seen", "sent", "shown", "taken",
    "told", "used", "wanted", "written",
})
# fmt: on
"""Names of variables and parameters that say what was done to a thing, and not which thing it is."""

type Counts = dict[str, int]
"""How often each word is in a file; a word that is not in it is missing here."""


def counts_of(file: Path) -> Counts:
    """Count the words of one file: of Python in its docstrings, comments, texts and names, of others in every line."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return _in_prose(of_page(text if file.suffix == ".md" else _comments_of_c(text)))
    counts = Counter(_in_prose((*_sentences(texts_of(text)), *comments_of(text))))
    counts["Have"] = sum(HAVE.match(passage.text) is not None for passage in docs_of(text))
    counts["participle"] = sum(name in PARTICIPLES for name in _bindings(text))
    return dict(+counts)


def too_many(files: Iterable[Path], root: Path, ceilings: Mapping[str, Counts]) -> Iterator[str]:
    """Yield a sentence for each count of a file that differs from its ceiling."""
    for file in files:
        name = str(file.relative_to(root))
        counts, ceiling = counts_of(file), ceilings.get(name, {})
        for word in sorted(counts.keys() | ceiling.keys()):
            count, most = counts.get(word, 0), ceiling.get(word, 0)
            if count > most:
                yield f'{name}: "{word}" {count} times, at most {most}'
            elif count < most:
                yield f'{name}: "{word}" {count} times, {most} allowed: python tools/check_words.py --lower'


def lowered(files: Iterable[Path], root: Path, ceilings: Mapping[str, Counts]) -> tuple[dict[str, Counts], list[str]]:
    """Return the ceilings as low as the files are, and a sentence for each count that would have to rise."""
    lower: dict[str, Counts] = {}
    risen: list[str] = []
    for file in files:
        name = str(file.relative_to(root))
        for word, count in counts_of(file).items():
            most = ceilings.get(name, {}).get(word, 0)
            if count > most:
                risen.append(f'{name}: "{word}" {count} times, at most {most}')
            if least := min(count, most):
                lower.setdefault(name, {})[word] = least
    return lower, risen


def read_ceilings(file: Path = CEILINGS) -> dict[str, Counts]:
    """Return the ceilings that are kept."""
    ceilings: dict[str, Counts] = json.loads(file.read_text(encoding="utf-8"))
    return ceilings


def write_ceilings(ceilings: Mapping[str, Counts], file: Path = CEILINGS) -> None:
    """Keep ceilings, a file on a line."""
    rows = (f" {json.dumps(name)}: {json.dumps(dict(sorted(ceilings[name].items())))}" for name in sorted(ceilings))
    file.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _in_prose(passages: Iterable[Passage]) -> Counts:
    counts = Counter[str]()
    for passage in passages:
        for word, pattern in PATTERNS.items():
            counts[word] += len(pattern.findall(passage.text))
    return dict(+counts)


def _sentences(texts: Iterable[Passage]) -> Iterator[Passage]:
    """Yield texts that are prose: the others are names, patterns and data."""
    yield from (passage for passage in texts if passage.text.count(" ") >= 2)


def _comments_of_c(text: str) -> str:
    """Return the comments of C code; of another file, all of it."""
    return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL)) if "#include" in text else text


def _bindings(code: str) -> Iterator[str]:
    """Yield each name that a function, an assignment or a loop binds."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
