"""A job: its members by an engine, and looks at all of them at once.

A look goes to every machine at the same time, and each answers with groups, which are merged here. Whatever a machine
does, the answer comes within the deadline, and names the members that are missing in it.
"""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dapkit.cluster import limits
from dapkit.cluster.collectives import FlightRecords, waits_in
from dapkit.cluster.engines import ray
from dapkit.cluster.engines.engine import JobEngine, JobWait
from dapkit.cluster.engines.folder import JobFolder
from dapkit.cluster.engines.kubernetes import SCHEME, Pods
from dapkit.cluster.engines.processes import RunningProcesses
from dapkit.cluster.errors import JobError, UnknownTarget
from dapkit.cluster.findings import JobFinding, absent_ranks, findings_of, late, majority, moving, with_stragglers
from dapkit.cluster.member_sets import select
from dapkit.cluster.members import Member, are_ranked
from dapkit.cluster.node import NodeAnswer, NodeRequest, look
from dapkit.cluster.registrations import DEFAULT_FOLDER
from dapkit.cluster.stack_groups import MemberGroup, StackGroups, with_later_look
from dapkit.protocol import ProtocolError, ProtocolObject, changed, decode_as, encode_value
from dapkit.system.platform_support import needs_linux

DASK: Final = "dask://"

_NODE: Final = "dapkit.cluster.node"

type Progress = Callable[[str], None]


class JobStacks(ProtocolObject, frozen=True, kw_only=True):
    """Where all members of a job are.

    Attributes:
        target: the job, as the user has named it.
        members: how many it has.
        sampled: how many were read.
        hosts: its machines.
        ranked: whether the names of its members are ranks.
        seconds: how long the last round took.
        rounds: how often the members were read.
        groups: of the last round, the largest first.
        most: place in `groups` of the group that has more than half of the members; -1 if no group has.
        findings: members that the job may wait for.
        moving: members that were at several places, if there were several rounds.
        waits: work that waits for members, the longest wait first; absent if neither the engine nor PyTorch tells.
        notes: facts that matter if members are stopped.
        failures: why no member of a machine could be read, by machine.

    """

    target: str
    members: int
    sampled: int
    hosts: list[str]
    ranked: bool
    seconds: float
    rounds: int
    groups: list[MemberGroup]
    most: int
    findings: list[JobFinding]
    moving: list[str]
    failures: dict[str, str]
    waits: list[JobWait] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """A job.

    Attributes:
        target: as the user has named it.
        engine: that runs it.
        via: command that reaches another machine, with `{host}` for its name; empty for none.

    """

    target: str
    engine: JobEngine
    via: str = ""

    def members(self, subset: str = "all") -> list[Member]:
        """Return the members of a set.

        Raises:
            UnknownTarget: the job cannot be found any more.
            WrongSet: the text is not a set of members.

        """
        return select(self.engine.members(), subset)

    def look(
        self,
        subset: str = "all",
        *,
        rounds: int = 1,
        every: float = 10.0,
        report: Progress = lambda _: None,
    ) -> JobStacks:
        """Read the stacks of members without stopping them.

        Args:
            subset: of the members, as `member_sets` has them.
            rounds: how often; members that are late in most rounds are stragglers.
            every: seconds from the beginning of a round to the next.
            report: is called with the number of each round.

        Raises:
            JobError: none can be read, or the set is wrong.

        """
        rounds_groups: list[Sequence[MemberGroup]] = []
        for number in range(1, rounds + 1):
            start = time.monotonic()
            if rounds > 1:
                report(f"round {number} of {rounds}")
            everyone = self.engine.members()
            members = select(everyone, subset)
            rank_0 = next((member for member in members if member.rank == 0 and member.is_live), None)
            answers = self._answers(
                [member for member in members if member.is_live], rank_0=rank_0 if number == rounds else None
            )
            merged = self._confirmed(members, _merged(answers))
            seconds = time.monotonic() - start
            rounds_groups.append(merged.groups)
            if number < rounds:
                time.sleep(max(0.0, every - seconds))
        failures = {host: answer.failure for host, answer in answers.items() if answer.failure}
        if failures and len(failures) == len(answers):
            raise JobError("; ".join(dict.fromkeys(failures.values())))
        most = majority(merged.groups)
        unread = {
            member.name: failures[member.host] for member in members if member.is_live and member.host in failures
        }
        findings = findings_of(
            members,
            merged.groups,
            problems=merged.problems | unread,
            suspended=merged.suspended,
            absent=absent_ranks(everyone),
        )
        return JobStacks(
            target=self.target,
            members=len(members),
            sampled=len({name for group in merged.groups for name in group.members}),
            hosts=sorted({member.host for member in members}),
            ranked=are_ranked(members),
            seconds=seconds,
            rounds=rounds,
            groups=merged.groups,
            most=-1 if most is None else merged.groups.index(most),
            findings=with_stragglers(findings, rounds_groups),
            moving=moving(rounds_groups) if rounds > 1 else [],
            failures=failures,
            waits=self._waits(everyone, rank_0, merged.records),
            notes=tuple(self.engine.notes()),
        )

    def _confirmed(self, members: Sequence[Member], first: NodeAnswer) -> NodeAnswer:
        """Read members that are not with most of them again: they may only be at another line of the same loop."""
        for _ in range(limits.CONFIRMATIONS):
            apart = late(first.groups)
            if not apart:
                break
            time.sleep(limits.CONFIRMATION_SECONDS)
            again = _merged(self._answers([member for member in members if member.name in apart]))
            first = changed(first, groups=with_later_look(first.groups, apart, again.groups))
        return first

    def _waits(
        self, everyone: Sequence[Member], rank_0: Member | None, records: FlightRecords | None
    ) -> list[JobWait] | None:
        """Return which members wait for which, by the engine or by flight recorders; None if neither tells.

        Ranks that do not hang go on between the answers of two of them: waits that are not there at a second look are
        left out.
        """
        waits = self.engine.waits()
        if waits is not None or records is None:
            return waits
        time.sleep(limits.CONFIRMATION_SECONDS)
        again = _merged(self._answers([], rank_0=rank_0)).records
        if again is None:
            return None
        names = {member.rank: member.name for member in everyone if member.rank >= 0}
        first = {(wait.waiting, wait.on) for wait in waits_in(records, names)}
        return [wait for wait in waits_in(again, names) if (wait.waiting, wait.on) in first]

    def _answers(self, members: Sequence[Member], *, rank_0: Member | None = None) -> dict[str, NodeAnswer]:
        """Ask each machine for its members, and the one of rank 0 for the flight recorders of the job."""
        of_host: dict[str, dict[str, int]] = {} if rank_0 is None else {rank_0.host: {}}
        for member in members:
            of_host.setdefault(member.host, {})[member.name] = member.pid
        if not of_host:
            return {}
        here = os.uname().nodename

        def ask(host: str) -> NodeAnswer:
            process = rank_0.pid if rank_0 is not None and rank_0.host == host else None
            request = NodeRequest(pids=of_host[host], rank_0=process)
            return look(request) if host == here else _answer_of(host, self.via, request)

        with ThreadPoolExecutor(len(of_host)) as askers:
            return dict(zip(of_host, askers.map(ask, of_host), strict=True))


def job_of(target: str | None, folder: Path, *, via: str = "") -> ClusterJob:
    """Return the job that a user names.

    Args:
        target: process ids (`4711`, `4711,4712`), the folder in which members register, a scheduler of Dask
            (`dask://HOST:PORT`), a dashboard of Ray (`ray://HOST:8265`), or pods of Kubernetes
            (`k8s://NAMESPACE/SELECTOR`); None for DAPKIT_JOB, or the usual folder.
        folder: to which a relative path belongs.
        via: command that reaches another machine, such as `ssh {host}`.

    Raises:
        UnknownTarget: it names no job.

    """
    if (problem := needs_linux("looking at a job")) is not None:
        raise UnknownTarget(problem)
    text = (target or os.environ.get("DAPKIT_JOB") or DEFAULT_FOLDER).strip()
    if all(part.strip().isdecimal() for part in text.split(",")):
        pids = [int(part) for part in text.split(",")]
        return ClusterJob(text, RunningProcesses(pids), via)
    if text.startswith(ray.SCHEME):
        return ClusterJob(text, ray.RayCluster(text), via)
    if text.startswith(SCHEME):
        pods = Pods(text)
        return ClusterJob(text, pods, via or pods.via)
    if text.startswith(DASK):
        return ClusterJob(text, _dask(text), via)
    place = folder / Path(text.removeprefix("dir:")).expanduser()
    if not place.is_dir():
        advice = (
            "expected a process id, such as the one of mpiexec or torchrun, the folder of a job (dapkit.cluster.run), "
            "dask://HOST:PORT, ray://HOST:8265 or k8s://NAMESPACE/SELECTOR"
        )
        problem = f"there is no job {text!r}" if target else f"no job is named, and there is no folder {place}"
        raise UnknownTarget(f"{problem}: {advice}")
    return ClusterJob(text, JobFolder(place), via)


def _dask(target: str) -> JobEngine:
    try:
        from dapkit.cluster.engines.dask import DaskCluster
    except ImportError as error:
        raise UnknownTarget(f"{target} needs Dask's package: pip install 'dapkit[dask]' ({error})") from error
    return DaskCluster(target)


def _merged(answers: Mapping[str, NodeAnswer]) -> NodeAnswer:
    groups = StackGroups()
    problems: dict[str, str] = {}
    suspended: list[str] = []
    for answer in answers.values():
        groups.merge(answer.groups)
        problems |= answer.problems
        suspended += answer.suspended
    records = next((answer.records for answer in answers.values() if answer.records is not None), None)
    return NodeAnswer(groups=groups.result(), problems=problems, suspended=suspended, records=records)


def _answer_of(host: str, via: str, request: NodeRequest) -> NodeAnswer:
    """Ask another machine; a failure is an answer, too."""
    if not via:
        return _failure(no_way_to(host))
    command = command_on(host, via, _NODE)
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        return _failure(f"{command[0]} cannot be run: {error.strerror}")
    try:
        answer, errors = process.communicate(encode_value(request) + b"\n", limits.NODE_SECONDS)
    except subprocess.TimeoutExpired:
        return _failure(f"{host} did not answer within {limits.NODE_SECONDS:g} s")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # a shell may have started others
        process.communicate()
    if not answer or len(answer) > limits.NODE_ANSWER:
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        return _failure(f"{host} has not answered ({last or f'status {process.returncode}'})")
    try:
        return decode_as(NodeAnswer, answer)
    except ProtocolError as error:
        return _failure(f"{host} has answered something else: {error}")


def command_on(host: str, via: str, module: str, *words: str) -> list[str]:
    """Return the command that runs a module of ours on another machine; words are taken as they are by any shell."""
    return [*shlex.split(via.replace("{host}", shlex.quote(host))), "python3", "-m", module, *words]


def no_way_to(host: str) -> str:
    """Return the sentence about a machine that no command reaches."""
    return f"{host} is another machine: say how it is reached, such as --via 'ssh {{host}}'"


def _failure(text: str) -> NodeAnswer:
    return NodeAnswer(groups=[], problems={}, suspended=[], failure=text)
