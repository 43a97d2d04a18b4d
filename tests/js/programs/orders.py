import sys


def price(count: int, each: int) -> int:
    total = count * each
    return total  # noqa: RET504 - where the tests stop


def main() -> None:
    total = 0

    # one order after the other
    for number in range(5):
        total += price(number, 10)
        print("order", number)
    print("to stderr", file=sys.stderr)
    if "--fail" in sys.argv:
        total = total // 0
    sys.exit(total // 25)


main()
