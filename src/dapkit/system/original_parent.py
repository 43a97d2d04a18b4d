"""Which process has started this one.

The system reports the present parent: where the process that started this one was killed, that is
the one that adopted it, process 1 or another above, and nothing distinguishes it from a parent. So the answer is noted
when dapkit is imported, which is the earliest that code of dapkit runs.
"""

import os

_process, _parent = os.getpid(), os.getppid()


def original_parent() -> int:
    """Return the process that has started this one, living or not; 0 if it is outside of our container."""
    return _parent if os.getpid() == _process else os.getppid()  # this one was forked after the import
