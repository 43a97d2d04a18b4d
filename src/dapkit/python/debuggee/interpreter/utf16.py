"""Columns in UTF-16 units, which the protocol counts in, without the codec: a look-up of that may import."""


def units(text: str) -> int:
    """Return how many units a text has."""
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def upto(text: str, count: int) -> str:
    """Return the part of a text before a column, without a character that the column is in the middle of."""
    if text.isascii():
        return text[: max(0, count)]
    for at, letter in enumerate(text):
        count -= 1 + (letter > "\uffff")
        if count < 0:
            return text[:at]
    return text
