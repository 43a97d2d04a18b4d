"""Columns as the protocol counts them: in UTF-16 code units, of which characters beyond U+FFFF take two.

(DAP overview, "Columns"; `CompletionsArguments.column`, `CompletionItem.start` and `length`.) A Python index counts
characters. Columns here start at 1, as everywhere in dapkit, whatever the client counts from.
"""


def utf16_length(text: str) -> int:
    """Count the units of a text.

    >>> utf16_length("a😀")
    3
    """
    return len(text) if text.isascii() else len(text) + sum(letter > "\uffff" for letter in text)


def column_of(line: str, index: int) -> int:
    """Return the column of the character at an index of a line; one past the end is the column behind it.

    >>> column_of("😀 = 1", 2)
    4
    """
    return 1 + utf16_length(line[:index])


def index_of(line: str, column: int) -> int:
    """Return the index of the character at a column of a line.

    A column in the middle of a character is taken for its beginning, one behind the line for its end.

    >>> "😀 = 1"[index_of("😀 = 1", 4)]
    '='
    """
    rest = max(1, column) - 1
    if line.isascii():
        return min(rest, len(line))
    for index, letter in enumerate(line):
        rest -= 1 + (letter > "\uffff")
        if rest < 0:
            return index
    return len(line)
