"""Which process has started this one.

Whoever asks the system is told of the parent of now: where the one who started this process was killed, that is
the one who adopted it, be it process 1 or any other above, and nothing tells it from a parent. So the answer is noted
when dapkit is imported, which is the earliest that code of ours runs.
"""

import os

_process, _parent = os.getpid(), os.getppid()


def first_parent() -> int:
    """Return the process that has started this one, living or not; 0 if it is outside of our container."""
    return _parent if os.getpid() == _process else os.getppid()  # this one was forked after the import
