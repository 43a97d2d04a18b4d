"""A text of ten megabytes, and a list of a million numbers."""


def measure(text, numbers):
    small = len(text) // 1000
    return small + len(numbers)


print(measure("x" * 10_000_000, list(range(1_000_000))))
