"""Texts that Markdown and pages share: times, counts, and the share of a transcript that fits."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import PurePath

from dapkit.diagnostics.transcript.content import ShownStop, Transcript

LANGUAGES = {
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp"), "cpp"),
    ".cs": "csharp",
    ".go": "go",
    ".js": "js",
    ".py": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".sh": "bash",
    ".ts": "ts",
}
"""The names of languages in Markdown, by the ending of a file."""


def language_of(stop: ShownStop) -> str:
    """Say in which language a source is, as Markdown has it."""
    return LANGUAGES.get(PurePath(stop.path).suffix.lower(), "text")


def duration(seconds: float) -> str:
    """Return how long something took.

    >>> duration(0.0071), duration(2.5), duration(75)
    ('7 ms', '2.5 s', '1 min 15 s')
    """
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def date_and_time(seconds: float) -> str:
    """Return a time with its date and its zone."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")


def time_of_day(seconds: float) -> str:
    """Return a time without its date."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%H:%M:%S")


def counted(count: int, noun: str) -> str:
    """Count something.

    >>> counted(1, "action"), counted(3, "action")
    ('1 action', '3 actions')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def more(count: int, noun: str) -> str:
    """Return how many are not shown; -1 for some, and nothing for 0."""
    return "" if not count else f"and more {noun}s" if count < 0 else f"and {counted(count, f'more {noun}')}"


def not_kept(transcript: Transcript) -> str:
    """Return how many actions are not kept; nothing if all are."""
    count = transcript.dropped
    were = "was" if count == 1 else "were"
    return f"{counted(count, 'action')} after the first {were} dropped: the latest are kept." if count else ""


def output_lost(transcript: Transcript) -> str:
    """Return how much of the output is not kept; nothing if all is."""
    count = transcript.output_lost
    return f"The first {counted(count, 'character')} of the output were dropped: the latest are kept." if count else ""


def wire_lost(transcript: Transcript) -> str:
    """Return how many messages are not kept; nothing if all are, or none were wanted."""
    total = transcript.wire_total
    if total is None or total == transcript.wire_kept:
        return ""
    return f"Of {counted(total, 'message')} on the wire, the latest {transcript.wire_kept} are kept."


def fitting(parts: Sequence[str], most: int, left_out: Callable[[int], str]) -> list[str]:
    """Choose the first part and the latest, as many as have so many bytes together.

    Args:
        parts: texts.
        most: bytes that there is room for.
        left_out: makes a text for so many parts that are left out, which stands in their place.

    """
    sizes = [len(part.encode(errors="replace")) for part in parts]
    if sum(sizes) <= most:
        return [*parts]
    room = most - len(left_out(len(parts)).encode())
    kept_first = sizes[0] <= room
    room -= sizes[0] if kept_first else 0
    begin = len(parts)
    while begin > 1 and sizes[begin - 1] <= room:
        begin -= 1
        room -= sizes[begin]
    head = [*parts[:1]] if kept_first else []
    return [*head, left_out(begin - len(head)), *parts[begin:]]
