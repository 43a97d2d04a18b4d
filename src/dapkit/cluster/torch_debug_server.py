"""The debug server of PyTorch, which collects the flight recorders of all ranks.

A program has it that calls `torch.distributed.debug.start_debug_server()`: in a process that rank 0 starts, at a port
of this machine. It is known by its stack, so that nothing is sent to a port of another server. Its pages are
for people: a heading and a text in JSON for each rank.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, Final

from dapkit.cluster import limits
from dapkit.cluster.collectives import Collective, FlightRecords
from dapkit.cluster.samples import read_processes
from dapkit.python.stacks.threads import NoPySpy
from dapkit.system.this_system import SYSTEM

_FILE: Final = "torch/distributed/debug/_frontend.py"
_PAGES: Final = ("/fr_trace_json", "/fr_trace_nccl_json")
"""Of the backends gloo and NCCL."""
_HEADING: Final = re.compile(r"Rank (\d+): ")
_DEFAULT_GROUP: Final = "default_pg"

type RankDump = tuple[int, dict[str, Any] | None]
"""A rank, and the records of its flight recorder; None if the server could not have them."""


def records_of_job(rank_0: int) -> FlightRecords | None:
    """Return the records of a job's ranks.

    Args:
        rank_0: the process of rank 0, on this machine.

    Returns:
        None if its program has no debug server, or that does not answer in time.

    """
    try:
        port = _port_of_server(rank_0)
    except NoPySpy:  # a child of another Python
        return None
    if port is None:
        return None
    deadline = time.monotonic() + limits.DEBUG_SERVER_SECONDS
    dumps: list[RankDump] = []
    for page in _PAGES:
        dumps += dumps_in(_read(port, page, deadline))
    try:
        return records_in(dumps, time.time()) if dumps else None
    except (LookupError, TypeError, ValueError):  # another version writes them in another way
        return None


def _port_of_server(rank_0: int) -> int | None:
    children = [pid for pid in SYSTEM.descendants(rank_0) if SYSTEM.listening_ports(pid)]
    inherited = SYSTEM.listening_ports(rank_0)
    for pid, reading in (read_processes(children) if children else {}).items():
        if any(frame.file.endswith(_FILE) for thread in reading.threads for frame in thread.frames):
            ports = SYSTEM.listening_ports(pid) - inherited
            return ports.pop() if len(ports) == 1 else None
    return None


def _read(port: int, page: str, deadline: float) -> str:
    """Return a page; empty if it does not come in time."""
    from http.client import HTTPConnection, HTTPException  # few jobs need the time of this import

    connection = HTTPConnection("127.0.0.1", port, timeout=max(0.1, deadline - time.monotonic()))
    content = bytearray()
    try:
        connection.request("GET", page)
        response = connection.getresponse()
        while part := response.read1(limits.DEBUG_SERVER_PART):
            content += part
            if len(content) > limits.DEBUG_SERVER_BYTES or time.monotonic() > deadline:
                return ""
    except (OSError, HTTPException):
        return ""
    finally:
        connection.close()
    return content.decode(errors="replace")


class _RankTexts(HTMLParser):
    """The texts of the ranks in a page, by the headings above them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[int, str] = {}
        self._rank: int | None = None
        self._tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - see HTMLParser
        self._tag = tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - see HTMLParser
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag == "h2" and (heading := _HEADING.match(data)):
            self._rank = int(heading[1])
        elif self._tag == "pre" and self._rank is not None:
            self.texts[self._rank] = self.texts.get(self._rank, "") + data


def dumps_in(page: str) -> Iterator[RankDump]:
    """Yield the ranks of a page, with their records."""
    parser = _RankTexts()
    parser.feed(page)
    for rank, text in parser.texts.items():
        try:
            dump = json.loads(text)
        except ValueError:  # the server says why there is no record
            dump = None
        yield rank, dump if isinstance(dump, dict) else None


def records_in(dumps: Sequence[RankDump], now: float) -> FlightRecords:
    """Return the last collective of each rank and group.

    Args:
        dumps: by rank and backend, as a flight recorder writes them.
        now: seconds since the epoch.

    """
    collectives: dict[int, list[Collective]] = {}
    groups: dict[str, list[int]] = {}
    default = ""
    for rank, dump in dumps:
        if dump is None:
            continue
        last: dict[str, Mapping[str, Any]] = {}
        for entry in dump.get("entries") or ():
            group, _ = entry["process_group"]
            if not entry["is_p2p"] and entry["collective_seq_id"] >= last.get(group, entry)["collective_seq_id"]:
                last[group] = entry
        collectives.setdefault(rank, []).extend(_collective(entry, now) for entry in last.values())
        default = next((group for group, entry in last.items() if entry["process_group"][1] == _DEFAULT_GROUP), default)
        for group, about in (dump.get("pg_config") or {}).items():
            if group and group == about.get("name"):
                groups[group] = json.loads(about["ranks"])
    ranks = sorted({rank for rank, _ in dumps})
    if default:
        groups[default] = ranks
    silent = {rank for rank, dump in dumps if dump is None} | {rank for rank in ranks if not collectives.get(rank)}
    return FlightRecords(collectives=collectives, groups=groups, silent=sorted(silent))


def _collective(entry: Mapping[str, Any], now: float) -> Collective:
    group, title = entry["process_group"]
    return Collective(
        group=group,
        title=title or group,
        number=entry["collective_seq_id"],
        operation=entry["profiling_name"].rpartition(":")[2],
        waits=not entry["retired"] and entry["state"] != "completed",
        seconds=max(0.0, now - entry["time_created_ns"] / 1e9),
    )
