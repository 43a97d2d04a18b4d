"""State that leaks from one test into the next."""

CACHE = {}


def convert(amount, rate):
    key = amount
    if key not in CACHE:
        CACHE[key] = amount * rate
    return CACHE[key]


def test_at_two():
    assert convert(10, 2) == 20


def test_at_three():
    assert convert(10, 3) == 30
