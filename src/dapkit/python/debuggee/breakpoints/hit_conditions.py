"""The grammar of hit conditions: at which of its hits, counted from 1, a breakpoint acts.

    5   = 5   == 5     at the fifth
    != 5               at all but the fifth
    > 5   >= 5         after the fifth; from the fifth on
    < 5   <= 5         before the fifth; up to the fifth
    % 5                at every fifth

Blanks around and between do not matter. This is the only reader of hit conditions:
debug sessions use it, too, where they count hits for an adapter that does not.
"""

_SIGNS = {">=": ">=", "<=": "<=", "==": "==", "!=": "!=", "=": "==", ">": ">", "<": "<", "%": "%", "": "=="}
"""Operators that may precede the number; a longer one comes before its beginnings."""


def parse_hit_condition(text: str) -> tuple[str, int]:
    """Read a hit condition as a comparison of the number of hits: `("==", 5)`, `("%", 3)`, ...

    Raises:
        ValueError: with the text, and the expected form.

    """
    condition = text.strip()
    sign = next(sign for sign in _SIGNS if condition.startswith(sign))
    number = condition[len(sign) :].strip()
    if not number.isascii() or not number.isdigit() or (sign == "%" and int(number) == 0):
        raise ValueError(f"hit condition {text!r}: expected a number, as in 5, == 5, != 5, >= 5, > 5, <= 5, < 5 or % 3")
    return _SIGNS[sign], int(number)


def hits_expression(hits: tuple[str, int], count: str) -> str:
    """Write the comparison in Python, of the variable that holds the number of hits."""
    sign, number = hits
    return f"{count} % {number} == 0" if sign == "%" else f"{count} {sign} {number}"
