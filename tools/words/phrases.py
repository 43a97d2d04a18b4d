"""Phrases that a technical writer would not use, in the sources, their texts and the documentation."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from words.prose import Passage, comments_of, of_page, texts_of

INSTEAD = {
    r"\b(?:is|are|was|were|be|been|being) told\b(?! (?:apart|to)\b)": "is reported (or: is shown, is passed)",
    r"(?<!there )\b(?:is|are|was|were) no (?!(?:longer|more|less|doubt)\b)": "is not a",
    r"\bwhoever\b": "the client, the caller, the user (or whoever it is)",
    r"\btells? no\b": "does not report a",
}
"""What to write instead of each phrase."""

_PHRASES = [(re.compile(phrase, re.IGNORECASE), better) for phrase, better in INSTEAD.items()]


def bad_phrases(files: Iterable[Path], root: Path) -> Iterator[str]:
    """Yield a sentence for each phrase that is found; of Python files in comments and texts."""
    for file in files:
        text = file.read_text(encoding="utf-8")
        passages = (*texts_of(text), *comments_of(text)) if file.suffix == ".py" else of_page(text)
        for passage in passages:
            yield from (f"{file.relative_to(root)}:{line}: {found}" for line, found in phrases_in(passage))


def phrases_in(passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield the line of each phrase in a passage, and what to write instead."""
    flat = re.sub(r"\s", " ", passage.text)
    for phrase, better in _PHRASES:
        for found in phrase.finditer(flat):
            line = passage.line + passage.text.count("\n", 0, found.start())
            yield line, f'"{found[0].strip()}": {better}'
