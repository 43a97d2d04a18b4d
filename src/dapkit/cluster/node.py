"""The part of a look at a job that runs on each machine: read the members there, and group their stacks.

`python -m dapkit.cluster.node` answers requests on its standard input, one line of JSON each, on its standard output,
until the input ends. The root of a job starts it by a command of the user's (`--via 'ssh {host}'`), so that bytes pass
where the user lets them pass; on its own machine it calls `look` itself.
"""

import os
import sys

from dapkit.cluster.collectives import FlightRecords
from dapkit.cluster.engines.processes import members_below
from dapkit.cluster.errors import UnknownTarget
from dapkit.cluster.samples import add_reading, read_processes
from dapkit.cluster.stack_groups import MemberGroup, StackGroups
from dapkit.cluster.torch_debug_server import records_of_job
from dapkit.protocol import ProtocolError, ProtocolObject, decode_as, encode_value
from dapkit.python.stacks.threads import NoPySpy


class NodeRequest(ProtocolObject, frozen=True, kw_only=True):
    """Members of one machine that are to be read.

    Attributes:
        pids: of their processes, by their names; 0 for the program of this container.
        rank_0: process of rank 0, if its debug server is to be asked for the flight recorders of all ranks; as above.

    """

    pids: dict[str, int]
    rank_0: int | None = None


class NodeAnswer(ProtocolObject, frozen=True, kw_only=True):
    """The stacks of one machine's members.

    Attributes:
        groups: of the members that were read.
        problems: why others were not, by their names.
        suspended: members that a signal has stopped.
        records: flight recorders of the whole job; absent if this machine has no debug server that collects them.
        failure: why none could be read; empty if some were.

    """

    groups: list[MemberGroup]
    problems: dict[str, str]
    suspended: list[str]
    records: FlightRecords | None = None
    failure: str = ""


def look(request: NodeRequest) -> NodeAnswer:
    """Read members of this machine."""
    try:
        pids = {name: pid or program_here() for name, pid in request.pids.items()}
        readings = read_processes(list(pids.values()))
    except (NoPySpy, UnknownTarget) as error:
        return NodeAnswer(groups=[], problems={}, suspended=[], failure=str(error))
    groups = StackGroups()
    problems: dict[str, str] = {}
    suspended: list[str] = []
    for name, pid in pids.items():
        reading = readings[pid]
        if reading.states.get(pid) == "T":
            suspended.append(name)
        if reading.problem:
            problems[name] = reading.problem
        else:
            add_reading(groups, name, pid, reading)
    records = None if request.rank_0 is None else records_of_job(request.rank_0 or program_here())
    return NodeAnswer(groups=groups.result(), problems=problems, suspended=suspended, records=records)


def program_here() -> int:
    """Return the process of a container's program: its first that runs Python, but for us. Raises: UnknownTarget."""
    ours = {os.getpid(), os.getppid()}
    return next(member.pid for member in members_below([1]) if member.pid not in ours)


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin.buffer:
        try:
            answer = look(decode_as(NodeRequest, line))
        except ProtocolError as error:
            answer = NodeAnswer(groups=[], problems={}, suspended=[], failure=f"the request is not valid: {error}")
        sys.stdout.buffer.write(encode_value(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
