"""A Dask cluster: its workers are members, by the scheduler's address (`dask://HOST:8786`).

Everything passes by a client of Dask, and so by its own connections with their authentication. A plugin makes each
worker listen at a unix socket of its machine; Dask installs it in workers that join later, too. A stop holds the thread
of a task: the worker's event loop goes on, and its heartbeats with it, so that `worker-ttl` does not matter. Before
whole workers are stopped, `worker-ttl` is lifted; a plugin in the scheduler puts it back, at the latest when the
connection of our client ends.

A worker may not answer, since a task keeps the GIL or the process is suspended. It is a member all the same, with the
facts that the scheduler has of it, and is looked at from outside.
"""

import asyncio
import os
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final

import cloudpickle  # type: ignore[import-untyped]  # it has no types
from distributed import Client, Scheduler, SchedulerPlugin, Worker, WorkerPlugin

from dapkit.cluster import limits
from dapkit.cluster.engines.engine import JobWait
from dapkit.cluster.errors import JobError, UnknownTarget
from dapkit.cluster.members import Member, set_text

SCHEME: Final = "dask://"
_PLUGIN: Final = "dapkit"
_HOLD: Final = "dapkit-hold"
_NEVER: Final = 1e9
"""Seconds of `worker-ttl` while it is lifted: the scheduler takes no None here."""


class _Listener(WorkerPlugin):
    """Makes a worker listen for the debugger."""

    name = _PLUGIN

    def setup(self, worker: Worker) -> None:
        """Listen, once: a second registration of the plugin finds the first socket."""
        del worker
        _listen()


class _LiftedTimeToLive(SchedulerPlugin):
    """Keeps `worker-ttl` lifted while clients are connected that have whole workers stopped.

    Attributes:
        clients: their ids.
        seconds: of `worker-ttl` before.

    """

    name = _HOLD

    def __init__(self, seconds: float) -> None:
        self.clients: set[str] = set()
        self.seconds = seconds

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Put `worker-ttl` back when the last of these clients has left."""
        if client not in self.clients:
            return
        self.clients.discard(client)
        if not self.clients:
            now = time.time()
            for worker in scheduler.workers.values():
                worker.last_seen = max(worker.last_seen, now)  # its next heartbeat may be under way
            scheduler.worker_ttl = self.seconds
            scheduler.plugins.pop(_HOLD, None)


class DaskCluster:
    """A cluster, by its scheduler.

    Attributes:
        address: of the scheduler, as Dask writes it.

    """

    def __init__(self, target: str) -> None:
        self.address = f"tcp://{target.removeprefix(SCHEME)}"
        self._client: Client | None = None
        self._processes: dict[str, dict[str, Any]] = {}
        """Facts of the workers that listen, by address; they are asked once, since a stopped worker does not answer."""
        self._silent: list[str] = []
        """Names of the workers that did not answer the last time."""

    def members(self) -> list[Member]:
        """Return the workers. Raises: UnknownTarget."""
        workers = self._call_scheduler(_workers_in_scheduler)
        unknown = [address for address in workers if address not in self._processes]
        answers = self._call(lambda client: _answers(client, _process_of_worker, unknown)) if unknown else {}
        processes = {address: self._processes[address] for address in workers if address in self._processes} | answers
        self._processes = {address: process for address, process in processes.items() if process["socket"]}
        self._silent = sorted(str(worker["name"]) for address, worker in workers.items() if address not in processes)
        nodes = {workers[address]["ip"]: process["host"] for address, process in processes.items()}
        return [
            Member(
                name=str(worker["name"]),
                rank=-1,
                host=nodes.get(worker["ip"]) or _machine(worker["ip"]),
                pid=worker["pid"],
                task=worker["tasks"],
                socket=processes.get(address, {}).get("socket", ""),
            )
            for address, worker in workers.items()
        ]

    def inject(self) -> None:
        """Make the workers listen, those that join later as well; one that does not answer does when it can."""

        async def register(client: Client) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(client.register_plugin(_Listener()), limits.WORKER_SECONDS)

        try:
            self._call(register)
        except UnknownTarget:
            raise
        except Exception as error:  # of the plugin in a worker, as Dask raises it here
            raise JobError(f"the workers of {self.address} cannot load dapkit: {error}") from error

    def waits(self) -> list[JobWait] | None:
        """Return the tasks that wait for tasks that workers run, the longest wait first."""
        rows: list[tuple[str, int, str, str, float]] = self._call_scheduler(_waits_in_scheduler)
        waits = [
            JobWait(waiting=waiting, count=count, on=on, member=member, seconds=seconds)
            for waiting, count, on, member, seconds in rows
        ]
        return sorted(waits, key=lambda wait: -wait.seconds)

    def notes(self) -> list[str]:
        """Return which workers did not answer. A stop needs no note: it holds a thread, and heartbeats go on."""
        if not self._silent:
            return []
        names = set_text(self._silent)
        reason = "perhaps since its GIL is held or all its threads are stopped"
        return [f"No answer to Dask within {limits.WORKER_SECONDS:g} s from worker {names}, {reason}."]

    def hold(self) -> None:
        """Lift `worker-ttl`: a worker that is stopped as a whole sends no heartbeats. Raises: UnknownTarget."""
        self._call_scheduler(partial(_lift_in_scheduler, self._client_now().id))

    def release(self) -> None:
        """Put `worker-ttl` back. Raises: UnknownTarget."""
        self._call_scheduler(partial(_put_back_in_scheduler, self._client_now().id))

    def close(self) -> None:
        """End the connection to the scheduler."""
        if self._client is not None:
            self._client.close(timeout=limits.ENGINE_SECONDS)
            self._client = None

    def _call_scheduler(self, function: Callable[[Scheduler], Any]) -> Any:  # noqa: ANN401 - as Dask carries it back
        """Call a function in the scheduler. Raises: UnknownTarget."""

        async def run(client: Client) -> Any:  # noqa: ANN401 - as above
            return await client.run_on_scheduler(function)

        return self._call(run)

    def _call[T](self, function: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """Await a function in the client's thread. Raises: UnknownTarget."""
        client = self._client_now()
        try:
            answer: T = client.sync(function, client, callback_timeout=limits.ENGINE_SECONDS)
        except TimeoutError as error:
            raise UnknownTarget(
                f"the scheduler of Dask at {self.address} has not answered within {limits.ENGINE_SECONDS:g} s"
            ) from error
        return answer

    def _client_now(self) -> Client:
        if self._client is None:
            try:
                self._client = Client(self.address, timeout=limits.ENGINE_SECONDS, set_as_default=False)
            except (OSError, ValueError) as error:
                raise UnknownTarget(f"no scheduler of Dask answers at {self.address}: {error}") from error
        return self._client


def _machine(ip: str) -> str:
    """Return the name of the machine with an address if that is this one, else the address."""
    with socket.socket(socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_DGRAM) as end, suppress(OSError):
        end.bind((ip, 0))
        return os.uname().nodename
    return ip


async def _answers(
    client: Client, function: Callable[..., dict[str, Any]], addresses: list[str]
) -> dict[str, dict[str, Any]]:
    """Call a function in workers; return the answers of those that give one in time."""

    async def ask(workers: list[str]) -> dict[str, Any]:
        answers: dict[str, Any] = await asyncio.wait_for(
            client.run(function, workers=workers, on_error="ignore"), limits.WORKER_SECONDS
        )
        return answers

    async def ask_alone(address: str) -> dict[str, Any]:
        try:
            return await ask([address])
        except (TimeoutError, OSError, ValueError):  # ValueError: it has left
            return {}

    try:
        answers = await ask(addresses)
    except (TimeoutError, ValueError):  # a call to all of them ends with the last answer; ValueError: one has left
        answers = {}
        for answer in await asyncio.gather(*map(ask_alone, addresses)):
            answers |= answer
    return answers


# In the cluster. These functions travel as a whole: the scheduler needs nothing of dapkit.

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def _listen() -> str:
    """Listen at a unix socket in the private folder; return its path."""
    from dapkit.program_api import addresses, in_program

    path = os.path.join(addresses.private_folder(), f"member-{os.getpid()}")  # noqa: PTH118 - a text
    if os.path.exists(path):  # noqa: PTH110 - as above
        return path
    return in_program.listen_in_private(f"member-{os.getpid()}")


def _process_of_worker() -> dict[str, Any]:
    """Return the facts of a worker that the scheduler does not have."""
    from dapkit.program_api import addresses

    path = os.path.join(addresses.private_folder(), f"member-{os.getpid()}")  # noqa: PTH118 - a text
    return {
        "host": os.uname().nodename,
        "socket": path if os.path.exists(path) else "",  # noqa: PTH110 - as above
    }


def _workers_in_scheduler(dask_scheduler: Scheduler) -> dict[str, dict[str, Any]]:
    """Return the facts of each worker, by its address."""
    return {
        address: {
            "name": worker.name,
            "ip": worker.host,
            "pid": worker.pid,
            "tasks": ", ".join(sorted(str(task.key) for task in worker.processing)[:4]),
        }
        for address, worker in dask_scheduler.workers.items()
    }


def _lift_in_scheduler(client: str, dask_scheduler: Scheduler) -> None:
    """Lift `worker-ttl` for a client, if the scheduler has one."""
    plugin: Any = dask_scheduler.plugins.get(_HOLD)  # the class that another client has sent, maybe
    if plugin is None:
        if not dask_scheduler.worker_ttl:
            return
        plugin = _LiftedTimeToLive(dask_scheduler.worker_ttl)
        dask_scheduler.plugins[_HOLD] = plugin
        dask_scheduler.worker_ttl = _NEVER
    plugin.clients.add(client)


def _put_back_in_scheduler(client: str, dask_scheduler: Scheduler) -> None:
    """Put `worker-ttl` back, unless another client needs it lifted."""
    plugin = dask_scheduler.plugins.get(_HOLD)
    if plugin is not None:
        plugin.remove_client(dask_scheduler, client)


def _waits_in_scheduler(dask_scheduler: Scheduler) -> list[tuple[str, int, str, str, float]]:
    """Return waiting tasks by the task that they wait for: the first, their count, and the worker that runs it."""
    waiting: dict[Any, list[str]] = defaultdict(list)
    for task in dask_scheduler.tasks.values():
        if task.state == "waiting":
            for other in task.waiting_on or ():
                if other.state == "processing":
                    waiting[other].append(str(task.key))
    return [
        (
            min(keys),
            len(keys),
            str(task.key),
            str(task.processing_on.name),
            task.processing_on.executing.get(task, 0.0),
        )
        for task, keys in waiting.items()
    ]
