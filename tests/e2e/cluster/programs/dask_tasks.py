"""Tasks of `dask_job`, which workers import: cloudpickle hides the file of those in the main module."""

import time


def part(number: int) -> int:
    result = number * number
    time.sleep(0.01)  # part
    return result


def slow(number: int) -> int:
    time.sleep(3600)  # slow
    return number


def total(*parts: int) -> int:
    return sum(parts)
