"""Adds a few numbers, and fails on purpose with exit code 3."""


def add(left: int, right: int) -> int:
    total = left + right
    return total  # noqa: RET504 - a line to stop on


def main() -> None:
    values = [add(number, 10) for number in range(3)]
    print("sum", sum(values))
    raise SystemExit(3)


main()
