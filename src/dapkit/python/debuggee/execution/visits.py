"""Work for threads that run: done at their next safe point, while the client sees the program running.

A thread that is visited parks at its next event, does the work there, and continues; the other threads run on. If the
client stops the thread meanwhile, or the whole program stops, the thread stays.

    RUNNING --expect--> passing, ARRESTING --parks--> passing, STOPPED --the work has ended--> RUNNING
                           |                             |
                           +------- a stop begins -------+--> stopped for the client
"""

from ..evaluation.jobs import Job
from ..interpreter.gc_tracking import untrack
from ..interpreter.thread_checks import under_lock


class Visits:
    """The work that waits for threads. Changed under the lock.

    Attributes:
        passing: the threads that are stopped for such work alone: the client sees them running.

    """

    def __init__(self) -> None:
        untrack(self)
        self.passing: set[int] = set()
        self._waiting: dict[int, list[Job]] = {}

    @under_lock
    def add(self, ident: int, job: Job) -> None:
        """Let work wait for a thread."""
        self._waiting.setdefault(ident, []).append(job)

    @under_lock
    def drop(self, ident: int, job: Job) -> bool:
        """Take work back that was given up; return whether no work waits for the thread any more."""
        jobs = self._waiting.get(ident, [])
        if job not in jobs:
            return False
        jobs.remove(job)
        if not jobs:
            del self._waiting[ident]
        return not jobs

    @under_lock
    def take(self, ident: int) -> list[Job]:
        """Return the work that waits for a thread, which is about to do it."""
        return self._waiting.pop(ident, [])

    @under_lock
    def awaited(self) -> list[int]:
        """Return the threads that work waits for."""
        return list(self._waiting)
