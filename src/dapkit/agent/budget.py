"""Texts cut to a budget, always with a notice of the omitted part."""

from dapkit.redaction.redaction import CUT


def cut(text: str, most: int) -> str:
    r"""Cut a text to about so many bytes of UTF-8: its beginning stays, and a little of its end.

    >>> cut("a" * 50 + "z" * 50, 20)
    'aaaaaaaaaaaaaaa\n(80 characters left out)\nzzzzz'
    """
    if len(text.encode(errors="replace")) <= most:
        return text
    per_character = len(text.encode(errors="replace")) / len(text)
    fits = max(int(most / per_character), 4)
    head, tail = text[: fits * 3 // 4], text[len(text) - fits // 4 :]
    return f"{head}\n({len(text) - len(head) - len(tail)} characters left out)\n{tail}"


def shortened(value: str, most: int) -> tuple[str, int | None]:
    """Cut a value to so many characters; the second is its whole length if it was cut."""
    if len(value) <= most:
        return value, None
    return f"{value[:most]}{CUT}", len(value)
