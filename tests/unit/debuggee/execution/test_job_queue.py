"""Work for threads: which of it is refused when a thread continues."""

from collections.abc import Callable
from typing import cast

from dapkit.python.debuggee.connection.link import Link
from dapkit.python.debuggee.connection.request import IncomingRequest
from dapkit.python.debuggee.evaluation.jobs import Job
from dapkit.python.debuggee.execution.job_queue import JobQueue
from dapkit.python.debuggee.execution.stops import Stops

THREAD = 7


class GoingOn:
    """Threads that continue in the moment in which they get work, and a link whose clock stands still."""

    history = None

    def __init__(self) -> None:
        self.parked: dict[int, object] = {}
        self.link = cast(Link, self)
        self.queue = JobQueue(self.link, cast(Stops, self))
        self.visits: list[Job] = []
        self.answers: list[object] = []

    def visit(self, _ident: int, job: Job) -> None:
        self.queue.withdraw(lambda ident: ident == THREAD)
        self.visits.append(job)

    def since(self) -> float:
        return 0.0

    def after(self, _seconds: float, _action: Callable[[], object]) -> None:
        pass

    def response(self, _request: object, /, *, success: bool, body: object = None, message: str = "") -> None:
        self.answers.append(body if success else message)


def work(threads: GoingOn) -> Job:
    request = IncomingRequest({"seq": 1, "command": "evaluate", "arguments": {}}, threads.link)
    return Job(request, lambda _guard: {"result": "2"}, seconds=60, instead=lambda _has_begun: {})


def test_work_that_comes_while_a_thread_continues_from_other_work_is_done() -> None:
    """The thread had done what an earlier evaluation asked, and went on as this one came: it was refused."""
    threads = GoingOn()
    threads.queue.post_to_running(THREAD, work(threads), seconds=60)
    assert threads.answers == []
    [job] = threads.visits
    job.run()
    assert threads.answers == [{"result": "2"}]


def test_work_for_a_stopped_thread_is_refused_when_it_continues() -> None:
    threads = GoingOn()
    threads.queue.post(THREAD, work(threads))
    threads.queue.withdraw(lambda ident: ident == THREAD)
    assert threads.answers == ["the thread went on before this was done"]
