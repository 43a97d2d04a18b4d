"""Which samples of a Python program ran, and which waited: py-spy does not say it of a sample.

It runs three times at once: one sees all threads, one those that hold the interpreter's lock (GIL), and one those that
the system calls running. The lock says it exactly, but for code in C that has let go of it. The state of the system is
read a moment before the stack, so that it means something only where a thread stays for long (0.4.1): of a program that
computes for less than a millisecond at a time, it reports the lines in which that waits.

From the three, the share that ran is estimated for each line of each thread: a thread waits in few lines.
"""

from collections import Counter
from collections.abc import Iterator
from math import sqrt

from dapkit.diagnostics.profiling.samples import SampledFrame, SampledStack

type ThreadStacks = Counter[tuple[str, SampledStack]]
"""How often each stack of each thread was seen; a thread is known by a text."""

_DEVIATIONS = 3.0
"""Standard deviations within which two counts may be of the same."""
_LEAST_SHARE = 0.15
"""A line that ran in a smaller share of its samples waits: it runs when the wait begins and ends."""


def with_waiting(
    everything: ThreadStacks, with_lock: ThreadStacks, running: ThreadStacks
) -> Iterator[tuple[str, SampledStack, int, int]]:
    """Return each stack of each thread, with the samples that ran and those that waited.

    All three were recorded for the same time and at the same rate, but saw other moments.

    Args:
        everything: samples of all threads.
        with_lock: samples of those that held the lock.
        running: samples of those that the system called running.

    """
    all_counts, lock_counts, ran = _by_line(everything), _by_line(with_lock), _by_line(running)
    shares = {line: share_that_ran(count, lock_counts[line], ran[line]) for line, count in all_counts.items()}
    carried: Counter[str] = Counter()  # in thousandths, so that rounding changes no sum of a thread
    for (thread, stack), count in everything.items():
        exact = round(1000 * count * shares[thread, stack[-1]]) + carried[thread]
        active = min(count, max(0, round(exact / 1000)))
        carried[thread] = exact - 1000 * active
        yield thread, stack, active, count - active


def share_that_ran(count: int, with_lock: int, running: int) -> float:
    """Estimate which share of the samples of a line ran.

    Args:
        count: how many there are, at least one.
        with_lock: how many were seen that held the lock.
        running: how many were seen that the system called running.

    """
    ran = max(with_lock, running if 2 * running >= count else 0)
    if count - ran < _DEVIATIONS * sqrt(count + ran):
        return 1.0
    return ran / count if ran >= _LEAST_SHARE * count else 0.0


def _by_line(stacks: ThreadStacks) -> Counter[tuple[str, SampledFrame]]:
    counts: Counter[tuple[str, SampledFrame]] = Counter()
    for (thread, stack), count in stacks.items():
        counts[thread, stack[-1]] += count
    return counts
