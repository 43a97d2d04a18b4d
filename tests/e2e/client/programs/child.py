"""What `parent.py` runs."""


def double(number: int) -> int:
    result = number * 2
    return result  # noqa: RET504 - a line to stop on


print("child", double(21), flush=True)
