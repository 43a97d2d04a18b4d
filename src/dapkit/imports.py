"""What a process imports before it begins its work."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def for_good() -> Iterator[None]:
    """Leave what is imported meanwhile out of garbage collection: it stays until the process ends.

    The interpreter would look through it while it is imported, and again several times at the end.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()
