"""Exceptions: chains, groups, notes, and the texts of their tracebacks with times and addresses in them."""

import random
import sys
import time
import traceback

s_texts = []
s_lines = []


class Failure(Exception):
    def __init__(self, what):
        super().__init__(what, time.time_ns())
        self.what = what


def deep(depth):
    if depth == 0:
        return 1 / (random.randrange(4) // 3)
    return deep(depth - 1)


def chained(depth):
    try:
        return deep(depth)
    except ZeroDivisionError as error:
        error.add_note(f"noted at {time.monotonic()}")
        raise Failure(object()) from error


def grouped():
    errors = []
    for depth in range(3):
        try:
            chained(depth)
        except Failure as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("several", errors)


begin = time.monotonic()
while time.monotonic() < begin + 0.3:
    try:
        grouped()
    except* Failure as group:
        s_texts.append("".join(traceback.format_exception(group))[-250:])
        s_lines.append(
            [
                (frame.name, frame.lineno)
                for each in group.exceptions
                for frame in traceback.extract_tb(each.__traceback__)
            ]
        )
    s_state = sys.exc_info()
s_last = s_texts[-1]
