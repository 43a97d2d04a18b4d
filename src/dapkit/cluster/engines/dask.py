"""A Dask cluster: its workers are members, by the scheduler's address (`dask://HOST:8786`).

Everything passes by a client of Dask, and so by its own connections with their authentication. A plugin makes each
worker listen at a unix socket of its machine; Dask installs it in workers that join later, too. A stop holds the thread
of a task: the worker's event loop goes on, and its heartbeats with it, so that `worker-ttl` does not matter.
"""

import os
import sys
from collections import defaultdict
from typing import Any, Final

import cloudpickle  # type: ignore[import-untyped]  # it has no types
from distributed import Client, Scheduler, Worker, WorkerPlugin

from dapkit.cluster import limits
from dapkit.cluster.engines.engine import JobWait
from dapkit.cluster.errors import JobError, UnknownTarget
from dapkit.cluster.members import Member

SCHEME: Final = "dask://"
_PLUGIN: Final = "dapkit"


class _Listener(WorkerPlugin):
    """Makes a worker listen for the debugger."""

    name = _PLUGIN

    def setup(self, worker: Worker) -> None:
        """Listen, once: a second registration of the plugin finds the first socket."""
        del worker
        _listen()


class DaskCluster:
    """A cluster, by its scheduler.

    Attributes:
        address: of the scheduler, as Dask writes it.

    """

    def __init__(self, target: str) -> None:
        self.address = f"tcp://{target.removeprefix(SCHEME)}"
        self._client: Client | None = None

    def members(self) -> list[Member]:
        """Return the workers. Raises: UnknownTarget."""
        processes = self._asked(_process_of_worker)
        tasks: dict[str, str] = self._client_now().run_on_scheduler(_keys_in_work)
        return [
            Member(
                name=str(process["name"]),
                rank=-1,
                host=process["host"],
                pid=process["pid"],
                task=tasks.get(address, ""),
                socket=process["socket"],
            )
            for address, process in processes.items()
        ]

    def inject(self) -> None:
        """Make the workers listen, those that join later as well."""
        try:
            self._client_now().register_plugin(_Listener())
        except Exception as error:  # of the plugin in a worker, as Dask raises it here
            raise JobError(f"the workers of {self.address} cannot load dapkit: {error}") from error

    def waits(self) -> list[JobWait] | None:
        """Return the tasks that wait for tasks that workers run, the longest wait first."""
        rows: list[tuple[str, int, str, str, float]] = self._client_now().run_on_scheduler(_waits_in_scheduler)
        names = {address: str(each["name"]) for address, each in self._asked(_process_of_worker).items()}
        waits = [
            JobWait(waiting=waiting, count=count, on=on, member=names.get(address, ""), seconds=seconds)
            for waiting, count, on, address, seconds in rows
        ]
        return sorted(waits, key=lambda wait: -wait.seconds)

    def notes(self) -> list[str]:
        """Return nothing: a stop holds a thread, and heartbeats go on."""
        return []

    def close(self) -> None:
        """End the connection to the scheduler."""
        if self._client is not None:
            self._client.close(timeout=limits.ENGINE_SECONDS)
            self._client = None

    def _asked(self, function: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - a function that Dask carries
        """Call a function in each worker; one that does not answer is left out."""
        answers: dict[str, Any] = self._client_now().run(function, on_error="ignore")
        return {address: answer for address, answer in answers.items() if isinstance(answer, dict)}

    def _client_now(self) -> Client:
        if self._client is None:
            try:
                self._client = Client(self.address, timeout=limits.ENGINE_SECONDS, set_as_default=False)
            except (OSError, ValueError) as error:
                raise UnknownTarget(f"no scheduler of Dask answers at {self.address}: {error}") from error
        return self._client


# In the cluster. These functions travel as a whole: the scheduler needs nothing of dapkit.

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def _listen() -> str:
    """Listen at a unix socket in the private folder; return its path."""
    from dapkit.program_api import addresses, in_program

    path = os.path.join(addresses.private_folder(), f"member-{os.getpid()}")  # noqa: PTH118 - a text
    if os.path.exists(path):  # noqa: PTH110 - as above
        return path
    return in_program.listen_in_private(f"member-{os.getpid()}")


def _process_of_worker(dask_worker: Worker) -> dict[str, Any]:
    """Return the facts of a worker."""
    from dapkit.program_api import addresses

    path = os.path.join(addresses.private_folder(), f"member-{os.getpid()}")  # noqa: PTH118 - a text
    return {
        "name": dask_worker.name,
        "host": os.uname().nodename,
        "pid": os.getpid(),
        "socket": path if os.path.exists(path) else "",  # noqa: PTH110 - as above
    }


def _keys_in_work(dask_scheduler: Scheduler) -> dict[str, str]:
    """Return the tasks that each worker runs, by its address."""
    return {
        address: ", ".join(sorted(str(task.key) for task in worker.processing)[:4])
        for address, worker in dask_scheduler.workers.items()
    }


def _waits_in_scheduler(dask_scheduler: Scheduler) -> list[tuple[str, int, str, str, float]]:
    """Return waiting tasks by the task that they wait for: the first, their count, and the worker that runs it."""
    waiting: dict[Any, list[str]] = defaultdict(list)
    for task in dask_scheduler.tasks.values():
        if task.state == "waiting":
            for other in task.waiting_on or ():
                if other.state == "processing":
                    waiting[other].append(str(task.key))
    return [
        (min(keys), len(keys), str(task.key), task.processing_on.address, task.processing_on.executing.get(task, 0.0))
        for task, keys in waiting.items()
    ]
