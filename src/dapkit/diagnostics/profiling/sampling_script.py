"""Samples the stacks of a process of Python 3.15 until it is interrupted, then writes them as JSON; run as a script.

An interpreter of 3.15 runs it, with the module that its own profiler (`profiling.sampling`) is made of. The answer has
`samples`: number of a thread, its calls from the newest, how often it ran with them, and how often it waited; or
`error`. A thread runs if it has the lock of the interpreter or a processor.

Usage: `python -I -S sampling_script.py PID RATE`.
"""

import json
import random
import sys
import time
from collections import Counter
from typing import Any

_TESTED = frozenset({(3, 15)})
_BOTH_STATES = 3
"""Mode in which the status of a thread has both the lock of the interpreter and the processor (PROFILING_MODE_ALL)."""
_FAILURES = 100
"""Samples that may fail one after another, of a process whose stacks change while they are read."""


def sample(pid: int, rate: float) -> dict[str, Any]:
    """Sample a process until SIGINT, or its end."""
    if sys.version_info[:2] not in _TESTED:
        return {"error": f"the _remote_debugging of Python {sys.version.split()[0]} was not tested"}
    counts: Counter[tuple[int, tuple[tuple[str, int, str], ...], bool]] = Counter()
    error = ""
    try:
        import _remote_debugging as remote  # type: ignore[import-not-found] # not in all versions

        unwinder = remote.RemoteUnwinder(pid, all_threads=True, mode=_BOTH_STATES, skip_non_matching_threads=False)
        runs = remote.THREAD_STATUS_HAS_GIL | remote.THREAD_STATUS_ON_CPU
        failures = 0
        while failures < _FAILURES:
            try:
                counts.update(_stacks(unwinder.get_stack_trace(), runs))
                failures = 0
            except (RuntimeError, OSError, MemoryError, UnicodeDecodeError) as failure:
                failures, error = failures + 1, str(failure)
            time.sleep(random.uniform(0.5, 1.5) / rate)  # noqa: S311 - so as not to have the rhythm of the program
    except KeyboardInterrupt:
        error = ""
    except (ImportError, RuntimeError, OSError, TypeError, AttributeError) as failure:
        error = f"_remote_debugging cannot read it: {failure}"
    if error and not counts:
        return {"error": error}
    stacks = {(number, stack) for number, stack, _ in counts}
    return {
        "samples": [
            (number, stack, counts[number, stack, True], counts[number, stack, False]) for number, stack in stacks
        ]
    }


def _stacks(interpreters: Any, runs: int) -> Any:  # noqa: ANN401 - their types belong to another version
    for interpreter in interpreters:
        for thread in interpreter.threads:
            stack = tuple(
                (frame.filename, 0 if frame.location is None else frame.location.lineno, frame.funcname)
                for frame in thread.frame_info
                if frame.filename != "~"
            )
            yield thread.thread_id, stack, bool(thread.status & runs)


if __name__ == "__main__":
    json.dump(sample(int(sys.argv[1]), float(sys.argv[2])), sys.stdout)
