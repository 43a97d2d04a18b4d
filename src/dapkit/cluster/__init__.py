"""Jobs of many processes: where all of them are, which of them the others wait for, and breakpoints in all of them.

An engine that exists starts the processes (MPI, torchrun, Slurm, Dask), and this package reads them.

    from pathlib import Path
    from dapkit.cluster import job_of

    stacks = job_of("4711", Path.cwd()).look(rounds=5, every=10)
    for finding in stacks.findings: ...

A name is imported when it is asked for: `dapkit.cluster.run` begins in each process of a job, with the standard library
alone.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dapkit.cluster.debugged_job import DebuggedJob, JobBreakpoint, JobStops
    from dapkit.cluster.errors import JobError, UnknownTarget, WrongSet
    from dapkit.cluster.findings import FindingKind, JobFinding
    from dapkit.cluster.job import ClusterJob, JobStacks, job_of
    from dapkit.cluster.members import Member, MemberState, set_text
    from dapkit.cluster.stack_groups import GroupedCall, MemberGroup
    from dapkit.cluster.stop_groups import MemberAnswer, MemberValue, StopGroup

__all__ = [
    "ClusterJob",
    "DebuggedJob",
    "FindingKind",
    "GroupedCall",
    "JobBreakpoint",
    "JobError",
    "JobFinding",
    "JobStacks",
    "JobStops",
    "Member",
    "MemberAnswer",
    "MemberGroup",
    "MemberState",
    "MemberValue",
    "StopGroup",
    "UnknownTarget",
    "WrongSet",
    "job_of",
    "set_text",
]

_MODULES = ("members", "errors", "stack_groups", "findings", "job", "debugged_job")


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        for module in _MODULES:
            members = vars(import_module(f"dapkit.cluster.{module}"))
            if name in members:
                return members[name]
    raise AttributeError(f"module 'dapkit.cluster' has no attribute {name!r}")
