"""Breakpoints in all members of a job, and the stops that they make, in groups.

The engine inside each member is reached by its unix socket, or is brought into its process; on another machine by a
command of the user's (`forwarding`). A stop holds the thread that has made it, and no other: heartbeats go on. Where
all threads of a member are to stop, the engine of the job lifts its timeouts first. Members that join get the
breakpoints when they are seen. Everything that asks all members has a deadline for each, and names those that do not
answer.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Final

from dapkit.cluster import limits
from dapkit.cluster.entering import listen_in
from dapkit.cluster.errors import JobError
from dapkit.cluster.forwarding import ForwardedMember, MachineRelay
from dapkit.cluster.job import ClusterJob, no_way_to
from dapkit.cluster.member_link import MemberLink
from dapkit.cluster.member_sets import select
from dapkit.cluster.members import Member, MemberState, are_ranked
from dapkit.cluster.stack_groups import GroupedCall
from dapkit.cluster.stop_groups import MemberAnswer, MemberValue, StopGroup, answer_of, calls_of, locals_of
from dapkit.protocol import (
    DapkitError,
    ProtocolObject,
    SetBreakpointsBody,
    StackTraceBody,
    StoppedEvent,
    decode_as,
)

log = logging.getLogger(__name__)

_OPTIONS: Final[Mapping[str, object]] = {"justMyCode": True, "endsWithLink": False}
_HAS_SESSION: Final = "a session of its own debugs it"
_STEPS: Final = {"over": "next", "into": "stepIn", "out": "stepOut"}


class JobBreakpoint(ProtocolObject, frozen=True, kw_only=True):
    """A breakpoint in members of a job.

    Attributes:
        path: of the source, as the members have it.
        line: from 1.
        condition: the value that the program must find true; empty for always.
        members: the set of members that have it.
        verified: in how many it could be set.
        problem: why not, in the first of the others.

    """

    path: str
    line: int
    condition: str = ""
    members: str = "all"
    verified: int = 0
    problem: str = ""


class JobStops(ProtocolObject, frozen=True, kw_only=True):
    """The state of a job with breakpoints.

    Attributes:
        target: the job, as the user has named it.
        ranked: whether the names of its members are ranks.
        breakpoints: of the job.
        groups: of the members that are stopped, the smallest first.
        running: members that run.
        ended: members whose program has ended, or whose connection has, with the reason.
        problems: members that could not be connected to or asked, with the reason.
        notes: facts of the engine that matter while members are stopped, such as probes that restart them.

    """

    target: str
    ranked: bool
    breakpoints: list[JobBreakpoint]
    groups: list[StopGroup]
    running: list[str]
    ended: dict[str, str]
    problems: dict[str, str]
    notes: list[str]


@dataclass
class DebuggedJob:
    """A job that is being debugged; `close` lets all members go.

    Invariant: a member is in `links` from the moment its engine has its breakpoints.

    Attributes:
        job: the job.
        all_threads: whether all threads of a member stop with the one that hits something.
        breakpoints: of all members.
        links: of the members that are connected, by name.
        members: as the engine has named them at the last look.
        problems: why others are not connected.
        sockets: where members listen that were made to, or that are on other machines.

    """

    job: ClusterJob
    all_threads: bool = False
    breakpoints: list[JobBreakpoint] = field(default_factory=list)
    links: dict[str, MemberLink] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    sockets: dict[str, str] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _expected_sessions: set[str] = field(default_factory=set)  # with members that they are not attached to yet
    _joins: asyncio.Task[None] | None = None
    _forwarded: dict[str, ForwardedMember] = field(default_factory=dict)
    _relays: dict[str, MachineRelay] = field(default_factory=dict)  # by machine
    _remote_connects: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(limits.REMOTE_CONNECTS))

    async def open(self) -> None:
        """Connect to all members.

        Raises:
            JobError: the job has no members, or none can be connected to.

        """
        try:
            if self.all_threads:
                await asyncio.to_thread(self.job.engine.hold)
            await asyncio.to_thread(self.job.engine.inject)
            await self.connect_new()
        except BaseException:
            await self.close()
            raise
        if not self.links:
            await self.close()
            reasons = "; ".join(f"{name}: {reason}" for name, reason in list(self.problems.items())[:3])
            raise JobError(f"no member of {self.job.target} can be connected to: {reasons or 'no process of it runs'}")
        self._joins = asyncio.create_task(self._watch_for_joins())

    @property
    def is_live(self) -> bool:
        """Whether any member is connected, or has a session of its own."""
        return any(not link.ended for link in self.links.values()) or _HAS_SESSION in self.problems.values()

    @property
    def stopped(self) -> set[str]:
        """The members that are stopped."""
        return {name for name, link in self.links.items() if link.stops}

    async def close(self) -> None:
        """Let all members go: they run on without breakpoints."""
        if self._joins is not None:
            self._joins.cancel()
            await asyncio.wait([self._joins], timeout=limits.CONNECT_SECONDS)  # it may be about to connect to a member
        await self._each(self.links, lambda _, link: link.ask("disconnect", {"terminateDebuggee": False}))
        for link in self.links.values():
            link.close()
        self.links.clear()
        closing = (
            forwarded.close(keeps_connections=self.problems.get(name) == _HAS_SESSION)
            for name, forwarded in self._forwarded.items()
        )
        await asyncio.gather(*closing)
        self._forwarded.clear()
        await asyncio.to_thread(self._leave_engine)

    def _leave_engine(self) -> None:
        with suppress(DapkitError):  # it is gone, and its timeouts with it
            if self.all_threads:
                self.job.engine.release()
        self.job.engine.close()

    async def set_breakpoint(self, breakpoint: JobBreakpoint) -> None:
        """Set a breakpoint in the members of its set, now and when they join. Raises: WrongSet."""
        concerned = {member.name for member in select(list(self.members.values()), breakpoint.members)}
        others = [each for each in self.breakpoints if (each.path, each.line) != (breakpoint.path, breakpoint.line)]
        self.breakpoints = [*others, breakpoint]
        await self._send_breakpoints(breakpoint.path, {n: li for n, li in self.links.items() if n in concerned})

    async def replace_breakpoints(self, path: str, breakpoints: Sequence[JobBreakpoint]) -> list[JobBreakpoint]:
        """Replace the breakpoints of one source; return them with the counts of members."""
        self.breakpoints = [*(each for each in self.breakpoints if each.path != path), *breakpoints]
        await self._send_breakpoints(path, self.links)
        return [each for each in self.breakpoints if each.path == path]

    async def remove_breakpoints(self) -> None:
        """Remove all breakpoints of the job."""
        paths = {each.path for each in self.breakpoints}
        self.breakpoints = []
        for path in paths:
            await self._send_breakpoints(path, self.links)

    async def next_change(self) -> None:
        """Wait until a thread has stopped, or a connection has ended."""
        await self._changed.wait()
        self._changed.clear()

    def note_change(self) -> None:
        """Wake those that wait for a change."""
        self._changed.set()

    async def wait(self, *, quorum: float, deadline: float, among: AbstractSet[str] | None = None) -> None:
        """Wait until members have stopped.

        Args:
            quorum: how many: a number from 1 on, or below 1 a part of the connected members; 0 waits for no stop.
            deadline: seconds; the wait ends then without an error.
            among: the members that count; None for all.

        """
        loop = asyncio.get_running_loop()
        end = loop.time() + deadline
        while self._is_short_of(quorum, among) and loop.time() < end:
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), max(0.0, end - loop.time()))

    async def resume(self, subset: str = "all", *, step: str = "") -> set[str]:
        """Let the stopped threads of members continue, or step `over`, `into` or `out`; return these members.

        Raises:
            WrongSet: the text is not a set of members.

        """
        command = _STEPS[step] if step else "continue"
        stopped = {member.name: self.links[member.name] for member in self._of_set(subset) if self._is_stopped(member)}

        async def let_go(_name: str, link: MemberLink) -> None:
            for thread_id in list(link.stops):
                link.forget_stop(thread_id)
                await link.ask(command, {"threadId": thread_id, "singleThread": not self.all_threads})

        await self._each(stopped, let_go)
        return set(stopped)

    async def stops(self, subset: str = "all", *, expressions: Sequence[str] = (), values: bool = True) -> JobStops:
        """Return the stopped members in groups, with the values of one of each if they are wanted.

        Raises:
            WrongSet: the text is not a set of members.

        """
        members = self._of_set(subset)
        stopped = {member.name: self.links[member.name] for member in members if self._is_stopped(member)}
        groups: dict[tuple[object, ...], _Gathered] = {}

        async def gather(name: str, link: MemberLink) -> None:
            for thread_id, stop in list(link.stops.items()):
                arguments = {"threadId": thread_id, "levels": limits.STACK_LEVELS}
                frames = decode_as(StackTraceBody, await link.ask("stackTrace", arguments)).stack_frames
                calls = calls_of(frames)
                key = tuple((call.function, call.file, call.line) for call in calls)
                group = groups.setdefault(key, _Gathered(stop, calls, []))
                group.stopped.append((name, frames[0].id if frames else 0))

        await self._each(stopped, gather)
        ended = {name: link.ended for name, link in self.links.items() if link.ended}
        return JobStops(
            target=self.job.target,
            ranked=are_ranked(self.members.values()),
            breakpoints=self.breakpoints,
            groups=[
                await self._group(group, expressions, values=values) for group in sorted(groups.values(), key=_size)
            ],
            running=[
                member.name
                for member in members
                if (link := self.links.get(member.name)) is not None and not link.stops and not link.ended
            ],
            ended=ended,
            problems=dict(self.problems),
            notes=self.job.engine.notes(),
        )

    async def let_go_for(self, name: str) -> tuple[Member, str]:
        """Leave a member to an ordinary session, with its stops.

        Returns the member, and the socket where its engine listens. The session can be opened until `expect_back` is
        called.

        Raises:
            WrongSet: the job has no such member.
            JobError: it is not connected.

        """
        [member] = self._of_set(name)
        link = self.links.pop(member.name, None)
        if link is None or link.ended:
            raise JobError(f"member {name} is not connected: {link.ended if link else self.problems.get(name, '')}")
        leave = {"terminateDebuggee": False, "suspendDebuggee": bool(link.stops), "closesListener": False}
        self._expected_sessions.add(member.name)  # at once: the job looks for members meanwhile
        try:
            await link.ask("disconnect", leave)
        except BaseException:
            self.expect_back(member.name)
            raise
        finally:
            link.close()
        self.problems[member.name] = _HAS_SESSION
        return member, self._socket_of(member)

    def expect_back(self, name: str) -> None:
        """Connect to a member once more when the session has left that was opened with it, if one was."""
        self._expected_sessions.discard(name)

    # Connecting

    async def _watch_for_joins(self) -> None:
        while True:
            await asyncio.sleep(limits.JOIN_SECONDS)
            try:
                await self.connect_new()
            except DapkitError as error:
                log.info("the members of %s are not known at the moment: %s", self.job.target, error)

    async def connect_new(self) -> None:
        """Connect to members that have joined, and to those whose session has left them."""
        members = await asyncio.to_thread(self.job.engine.members)
        for member in members:
            earlier = self.members.get(member.name)
            if earlier is not None and earlier.pid != member.pid:  # the engine has replaced it
                self.links.pop(member.name, None)
                self.problems.pop(member.name, None)
                await self._end_forwarding(member.name)
        self.members = {member.name: member for member in members}
        for member in members:
            link = self.links.get(member.name)
            if link is not None and link.ended and not _is_here(member) and member.state == MemberState.RUNNING:
                del self.links[member.name]  # the way to its machine was lost, and it may run on
        new = [member for member in members if self._may_connect(member)]
        await asyncio.gather(*(self._connect(member) for member in new))

    async def _connect(self, member: Member) -> None:
        async with nullcontext() if _is_here(member) else self._remote_connects:
            await self._try_to_connect(member)

    async def _try_to_connect(self, member: Member) -> None:
        has_session = self.problems.get(member.name) == _HAS_SESSION
        link: MemberLink | None = None
        try:
            async with asyncio.timeout(limits.CONNECT_SECONDS):
                link = await self._link_with(member)
                await self._introduce(member, link)
        except TimeoutError:
            problem = f"its engine did not answer within {limits.CONNECT_SECONDS:g} s"
        except (DapkitError, OSError) as error:
            if isinstance(error, OSError):  # nothing listens: it is entered once more
                self.sockets.pop(member.name, None)
            problem = _HAS_SESSION if has_session else str(error)
        else:
            self.links[member.name] = link
            self.problems.pop(member.name, None)
            return
        finally:
            if link is not None and self.links.get(member.name) is not link:
                link.close()
        if problem != _HAS_SESSION:
            problem = await self._end_forwarding(member.name) or problem
        self.problems[member.name] = problem

    async def _end_forwarding(self, name: str) -> str:
        """Give up reaching a member on another machine; return the reason that its command has given, if any."""
        self.sockets.pop(name, None)
        forwarded = self._forwarded.pop(name, None)
        if forwarded is None:
            return ""
        failure = await forwarded.failure()
        await forwarded.close()
        return failure

    async def _link_with(self, member: Member) -> MemberLink:
        """Connect to the engine of a member, wherever it is. Raises: JobError, RequestFailed, OSError."""
        if _is_here(member):
            if not member.socket and member.name not in self.sockets:
                self.sockets[member.name] = str(await listen_in(member.pid))
            return await self._reach(self._socket_of(member))
        if not self.job.via:
            raise JobError(no_way_to(member.host))
        if member.name not in self._forwarded:
            relay = self._relays.setdefault(member.host, MachineRelay.to(member.host, self.job.via))
            self._forwarded[member.name] = ForwardedMember.open(member, relay)
        self.sockets[member.name] = str(self._forwarded[member.name].path)
        return await self._reach(self._socket_of(member))

    def _socket_of(self, member: Member) -> str:
        return self.sockets.get(member.name) or member.socket

    def _may_connect(self, member: Member) -> bool:
        """Return whether a member without a connection is to be connected to, for the first time or once more."""
        if member.state != MemberState.RUNNING or member.name in self.links.keys() | self._expected_sessions:
            return False
        forwarded = self._forwarded.get(member.name)
        if forwarded is not None and forwarded.is_used:
            return False  # by a session
        if member.socket and _is_here(member):
            return True
        return self.problems.get(member.name, _HAS_SESSION) == _HAS_SESSION

    async def _introduce(self, member: Member, link: MemberLink) -> None:
        """Begin the session: all requests at once, since each is answered in its order."""
        options = {**_OPTIONS, "stopAllThreads": self.all_threads, "closesListener": not member.socket}
        answers = [link.send("initialize", {"adapterID": "dapkit"}), link.send("attach", options)]
        paths = {each.path for each in self.breakpoints}
        answers += [link.send("setBreakpoints", _specs(self._for(member, path), path)) for path in paths]
        answers.append(link.send("configurationDone"))
        await asyncio.gather(*answers)

    async def _reach(self, path: str) -> MemberLink:
        """Connect to the engine that listens in a member."""
        loop = asyncio.get_running_loop()
        _, link = await loop.create_unix_connection(lambda: MemberLink(self._changed.set), path)
        return link

    # Asking

    async def _send_breakpoints(self, path: str, links: Mapping[str, MemberLink]) -> None:
        verified: dict[int, int] = {}
        problems: dict[int, str] = {}

        async def send(name: str, link: MemberLink) -> None:
            specs = self._for(self.members[name], path)
            answer = decode_as(SetBreakpointsBody, await link.ask("setBreakpoints", _specs(specs, path)))
            for each, result in zip(specs, answer.breakpoints, strict=False):
                if result.verified or result.reason == "pending":
                    verified[each.line] = verified.get(each.line, 0) + 1
                else:
                    problems.setdefault(each.line, result.message or "")

        await self._each(links, send)
        self.breakpoints = [
            JobBreakpoint(
                path=each.path,
                line=each.line,
                condition=each.condition,
                members=each.members,
                verified=verified.get(each.line, 0),
                problem=problems.get(each.line, ""),
            )
            if each.path == path
            else each
            for each in self.breakpoints
        ]

    async def _group(self, group: "_Gathered", expressions: Sequence[str], *, values: bool) -> StopGroup:
        name, frame_id = group.stopped[0]
        variables: list[MemberValue] = []
        answers: list[MemberAnswer] = []
        with suppress(DapkitError):
            variables = [] if not values else await locals_of(self.links[name], frame_id)
        for expression in expressions:
            members: dict[str, list[str]] = {}

            async def evaluate(pair: tuple[str, int], expression: str = expression) -> tuple[str, str]:
                member, frame = pair
                return member, await answer_of(self.links[member], frame, expression)

            for member, answer in await asyncio.gather(*map(evaluate, group.stopped)):
                members.setdefault(answer, []).append(member)
            rarest = sorted(members.items(), key=lambda item: len(item[1]))
            answers += [MemberAnswer(evaluate_name=expression, value=value, members=names) for value, names in rarest]
        return StopGroup(
            reason=group.stop.reason,
            calls=group.calls,
            members=[member for member, _ in group.stopped],
            representative=name,
            values=variables,
            answers=answers,
        )

    async def _each(
        self,
        links: Mapping[str, MemberLink],
        work: Callable[[str, MemberLink], Awaitable[object]],
    ) -> None:
        """Do a piece of work with many members at once; those that fail are named in `problems`."""

        async def attempt(name: str, link: MemberLink) -> None:
            try:
                await work(name, link)
            except DapkitError as error:
                self.problems[name] = str(error)
            else:
                self.problems.pop(name, None)

        await asyncio.gather(*(attempt(name, link) for name, link in list(links.items())))

    def _for(self, member: Member, path: str) -> list[JobBreakpoint]:
        return [each for each in self.breakpoints if each.path == path and _is_in(member, each.members)]

    def _of_set(self, subset: str) -> list[Member]:
        return select(list(self.members.values()), subset)

    def _is_stopped(self, member: Member) -> bool:
        link = self.links.get(member.name)
        return link is not None and bool(link.stops)

    def _is_short_of(self, quorum: float, among: AbstractSet[str] | None) -> bool:
        """Whether fewer members than wanted are stopped."""
        live = {name for name, link in self.links.items() if not link.ended and (among is None or name in among)}
        least = min(quorum, len(live)) if quorum >= 1 else quorum * len(live)
        return len(live & self.stopped) < least


@dataclass
class _Gathered:
    """A group while members are added: their names, with the frames to look into."""

    stop: StoppedEvent
    calls: list[GroupedCall]
    stopped: list[tuple[str, int]]


def _is_here(member: Member) -> bool:
    return member.host == os.uname().nodename


def _size(group: _Gathered) -> int:
    return len(group.stopped)


def _is_in(member: Member, subset: str) -> bool:
    """Return whether a member is in a set that may name others as well."""
    try:
        return bool(select([member], subset))
    except JobError:
        return False


def _specs(breakpoints: Iterable[JobBreakpoint], path: str) -> dict[str, object]:
    return {
        "source": {"path": path},
        "breakpoints": [
            {"line": each.line, **({"condition": each.condition} if each.condition else {})} for each in breakpoints
        ],
    }
