"""A small program with one big list, which waits for its input to end, or with `spin` in a loop for ever."""

import sys


def main():
    items = list(range(1_000_000)) if sys.argv[1:] == ["big"] else []
    print(len(items))  # STOP
    sys.stdout.flush()
    while sys.argv[1:] == ["spin"]:
        pass
    sys.stdin.read()


main()
