"""The exception table of a code object: which handler is around which instructions."""

from types import CodeType


def handlers_of(code: CodeType) -> list[tuple[int, int, int]]:
    """Return (start, end, handler) of all ranges of a code object, in bytes (Objects/exception_handling_notes.txt)."""
    numbers: list[int] = []
    value = 0
    for byte in code.co_exceptiontable:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            numbers.append(value)
            value = 0
    handlers: list[tuple[int, int, int]] = []
    for at in range(0, len(numbers) - 3, 4):
        start, length, target = (2 * number for number in numbers[at : at + 3])
        handlers.append((start, start + length, target))
    return handlers
