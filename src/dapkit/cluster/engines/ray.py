"""The workers of a Ray cluster, by the address of its dashboard (`ray://HOST:8265`).

The dashboard's state API has the workers, their actors and tasks; Ray's own token opens it. Nothing is injected: stacks
are read from outside, and for a breakpoint each worker is entered by its process id, also those that Ray starts later.
A stop holds one thread. Ray's tasks do not say which other tasks they wait for: only their number is known.

Read with Ray 2.60; fields that are missing make the answer an error.
"""

import json
import os
import socket
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dapkit.cluster import limits
from dapkit.cluster.engines.engine import JobWait, QuietEngine
from dapkit.cluster.errors import UnknownTarget
from dapkit.cluster.members import Member

SCHEME: Final = "ray://"
_ROWS: Final = 10_000
"""Rows that one question returns, at most: Ray's own limit."""
_TOKEN_FILE: Final = ".ray/auth_token"  # noqa: S105 - where Ray keeps it, below the home folder


class RayCluster(QuietEngine):
    """A cluster, by its dashboard.

    Attributes:
        address: of the dashboard.

    """

    def __init__(self, target: str) -> None:
        self.address = target.removeprefix(SCHEME).rstrip("/")

    def members(self) -> list[Member]:
        """Return the workers that live. Raises: UnknownTarget."""
        try:
            actors = {row["pid"]: row for row in self._rows("actors") if row["state"] == "ALIVE"}
            tasks = [row for row in self._rows("tasks") if row["state"] == "RUNNING"]
            # Ray learns late of the end of a task: of two in one worker, the later one runs.
            running = {row["worker_pid"]: row for row in sorted(tasks, key=lambda row: row["start_time_ms"] or 0)}
            workers = [row for row in self._rows("workers") if row["is_alive"] and row["worker_type"] == "WORKER"]
            hosts = {ip: _host_of(ip) for ip in {row["ip"] for row in workers}}
            members = [_member(row, actors, running, hosts) for row in workers]
        except (KeyError, TypeError, AttributeError) as error:
            raise UnknownTarget(
                f"the dashboard at {self.address} answers in another way than Ray 2.60: {error!r}"
            ) from error
        if not members:
            raise UnknownTarget(f"the Ray cluster at {self.address} has no worker")
        return sorted(members, key=lambda member: (member.name.startswith("worker-"), member.name))

    def waits(self) -> list[JobWait] | None:
        """Return the tasks that wait for their arguments, by their names."""
        waiting = Counter(str(row["name"]) for row in self._rows("tasks") if row["state"] == "PENDING_ARGS_AVAIL")
        return [JobWait(waiting=name, count=count, on="the results of other tasks") for name, count in waiting.items()]

    def _rows(self, kind: str) -> list[dict[str, Any]]:
        """Ask the state API. Raises: UnknownTarget."""
        url = f"http://{self.address}/api/v0/{kind}?limit={_ROWS}&detail=1"
        request = urllib.request.Request(url, headers=_authorization())
        try:
            with urllib.request.urlopen(request, timeout=limits.ENGINE_SECONDS) as answer:  # noqa: S310 - as above
                rows: list[dict[str, Any]] = json.load(answer)["data"]["result"]["result"]
        except urllib.error.HTTPError as error:
            advice = ": Ray's token is looked for in RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH and ~/.ray/auth_token"
            reason = f"{error.code} {error.reason}{advice if error.code in (401, 403) else ''}"
            raise UnknownTarget(f"the dashboard of Ray at {self.address} refuses: {reason}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnknownTarget(f"no dashboard of Ray answers at {self.address}: {error}") from error
        return rows


def _member(
    row: dict[str, Any],
    actors: dict[int, dict[str, Any]],
    running: dict[int, dict[str, Any]],
    hosts: dict[str, str],
) -> Member:
    pid = int(row["pid"])
    actor, task = actors.get(pid), running.get(pid)
    name = f"worker-{pid}" if actor is None else str(actor["name"] or f"{actor['class_name']}-{pid}")
    since = "" if task is None or not task["start_time_ms"] else f" for {_age(task['start_time_ms']):.0f} s"
    return Member(name, -1, hosts[row["ip"]], pid, task="" if task is None else f"{task['name']}{since}")


def _age(milliseconds: float) -> float:
    return max(0.0, time.time() - milliseconds / 1000)


def _host_of(ip: str) -> str:
    """Return the name of this machine if the address is one of its own, else the address."""
    with suppress(OSError), socket.socket(socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((ip, 0))
        return os.uname().nodename
    return ip


def _authorization() -> dict[str, str]:
    """Return the header with Ray's token, as Ray finds it."""
    token = os.environ.get("RAY_AUTH_TOKEN", "")
    if not token:
        file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / _TOKEN_FILE)
        with suppress(OSError, UnicodeDecodeError):
            token = file.read_text().strip()
    return {"Authorization": f"Bearer {token}"} if token else {}
