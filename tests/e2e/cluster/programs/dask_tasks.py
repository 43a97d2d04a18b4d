"""Tasks of `dask_job`, which workers import: cloudpickle hides the file of those in the main module."""

import ctypes
import time
from pathlib import Path


def part(number: int) -> int:
    result = number * number
    time.sleep(0.01)  # part
    return result


def parts(worker: int) -> None:
    """Compute parts without end, whatever other workers do."""
    for number in range(10_000_000):
        part(10 * number + worker)
        with Path(f"results-{worker}").open("a") as file:
            file.write(".")


def slow(number: int) -> int:
    time.sleep(3600)  # slow
    return number


def keep_gil(number: int) -> int:
    ctypes.PyDLL(None).sleep(3600)  # native
    return number


def total(*parts: int) -> int:
    return sum(parts)
