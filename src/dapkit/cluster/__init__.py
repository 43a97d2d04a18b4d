"""Jobs of many processes: where all of them are, and which of them the others wait for.

An engine that exists starts the processes (MPI, torchrun, Slurm), and this package reads them.

    from pathlib import Path
    from dapkit.cluster import job_of

    stacks = job_of("4711", Path.cwd()).look(rounds=5, every=10)
    for finding in stacks.findings: ...
"""

from dapkit.cluster.debugged_job import DebuggedJob, JobBreakpoint, JobStops, MemberAnswer, MemberValue, StopGroup
from dapkit.cluster.errors import JobError, UnknownTarget, WrongSet
from dapkit.cluster.findings import FindingKind, JobFinding
from dapkit.cluster.job import ClusterJob, JobStacks, job_of
from dapkit.cluster.members import Member, MemberState, set_text
from dapkit.cluster.stack_groups import GroupedCall, MemberGroup

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
