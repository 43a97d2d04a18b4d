"""`python -m dapkit.cluster.adapter`: a job of many processes as one debug session, for any editor.

    {"request": "attach", "job": "4711", "members": "all"}

A thread of the session is a group of members that are stopped at the same place (`61 x exchange job.py:10`), or those
that run. Its frames and variables are the representative's, the first member of the group. Continuing and stepping a
group does it in all of its members. `focus 5` in the debug console asks the editor to open a session with one member.
"""

import asyncio
import os
import re
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from dapkit import protocol as dap
from dapkit.adapter import Adapter, NoLaunch, References, RequestFailed, run
from dapkit.cluster import limits
from dapkit.cluster.debugged_job import DebuggedJob, JobBreakpoint
from dapkit.cluster.errors import JobError
from dapkit.cluster.job import job_of
from dapkit.cluster.member_link import MemberLink
from dapkit.cluster.members import set_text
from dapkit.cluster.stop_groups import StopGroup
from dapkit.protocol import decode_as
from dapkit.python.adapter import PythonAdapter
from dapkit.transport import listen_unix, private_folder

_FOCUS: Final = re.compile(r"\s*focus\s+(\S+)\s*")
_RUNNING: Final = 1
"""Number of the thread that stands for all members that run."""


class JobAttach(dap.AttachRequestArguments, frozen=True, kw_only=True):
    """The job to attach to.

    Attributes:
        job: a job of many processes: the process id of its launcher, a folder in which its ranks have registered, or
            an address of Dask, Ray or Kubernetes.
        members: the set of members that get the breakpoints.
        cwd: the folder that a relative path of the job belongs to.
        via: the command that reaches another machine, such as `ssh {host}`.
        all_threads: whether all threads of a member stop with the one that hits something.

    """

    job: str
    members: str = "all"
    cwd: str = "."
    via: str = ""
    all_threads: bool = False


class JobAdapter(Adapter[NoLaunch, JobAttach]):
    """Debugs a job.

    Invariant: `_groups` has a group for each thread that the client was shown as stopped.

    """

    def __init__(self) -> None:
        self._debugged: DebuggedJob | None = None
        self._members = "all"
        self._groups: dict[int, StopGroup] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._frames = References[tuple[str, int]]("frame")
        self._variables = References[tuple[str, int]]("variable")
        self._running = 0
        self._type = "dapkit"
        self._sessions = private_folder() / f"engine-{os.urandom(8).hex()}"
        """Where sessions with single members are served."""

    # The session

    async def attach(self, args: JobAttach) -> None:
        """Connect to all members."""
        try:
            job = await anyio.to_thread.run_sync(lambda: job_of(args.job, Path(args.cwd).absolute(), via=args.via))
            self._debugged = DebuggedJob(job, all_threads=args.all_threads)
            await self._debugged.open()
        except JobError as error:
            raise RequestFailed(str(error)) from error
        self._members = args.members
        self._type = str(args.extra.get("type", self._type))

    async def configuration_done(self) -> None:
        """Report stops from now on, and first of all facts of the engine that matter for them."""
        for note in self._now().job.engine.notes():
            await self.output(f"{note}\n", category="console")
        await self.thread("started", _RUNNING)
        self.start_soon(self._watch)
        self.start_soon(self._serve_sessions)

    async def _serve_sessions(self) -> None:
        async def serve(stream: ByteStream) -> None:
            await PythonAdapter().serve_stream(stream)

        async with listen_unix(self._sessions, serve):
            await anyio.sleep_forever()

    async def disconnect(self, args: dap.DisconnectArguments) -> None:  # noqa: ARG002 - nothing of it concerns a job
        """Let all members go."""
        if self._debugged is not None:
            await self._debugged.close()
            self._debugged = None

    async def _watch(self) -> None:
        """Show each change of who is stopped where, once those that stop at the same time have."""
        while (debugged := self._debugged) is not None:
            await debugged.next_change()
            await asyncio.sleep(limits.SETTLE_SECONDS)
            if self._debugged is not debugged:  # the client has left
                return
            await self._show(debugged)
            if not debugged.is_live:
                await self.terminated()
                return

    async def _show(self, debugged: DebuggedJob) -> None:
        stops = await debugged.stops(values=False)
        groups: dict[int, StopGroup] = {}
        for group in stops.groups:
            key = tuple((call.function, call.file, call.line) for call in group.calls)
            number = self._numbers.setdefault(key, len(self._numbers) + _RUNNING + 1)
            groups[number] = group
        before, self._groups, self._running = self._groups, groups, len(stops.running)
        for number in before.keys() - groups.keys():
            await self.thread("exited", number)
        for number, group in groups.items():
            if number not in before:
                await self.thread("started", number)
            if number not in before or set(before[number].members) != set(group.members):
                text = f"{len(group.members)} of {len(debugged.members)} members: {set_text(group.members)}"
                await self.stopped(group.reason, thread_id=number, description=text, all_threads_stopped=False)

    # Breakpoints

    async def set_breakpoints(self, args: dap.SetBreakpointsArguments) -> dap.SetBreakpointsBody:
        """Replace the breakpoints of a source in all members."""
        debugged, path = self._now(), args.source.path or ""
        specs = [
            JobBreakpoint(path=path, line=each.line, condition=each.condition or "", members=self._members)
            for each in args.breakpoints or ()
        ]
        placed = await debugged.replace_breakpoints(path, specs)
        return dap.SetBreakpointsBody(
            breakpoints=[
                dap.Breakpoint(verified=each.verified > 0, line=each.line, message=each.problem or None)
                for each in placed
            ]
        )

    # Threads

    async def threads(self) -> dap.ThreadsBody:
        """List the groups, and the members that run."""
        threads = [dap.Thread(id=number, name=_name(group)) for number, group in self._groups.items()]
        if self._running or not threads:
            threads.append(dap.Thread(id=_RUNNING, name=f"{self._running} x running"))
        return dap.ThreadsBody(threads=threads)

    async def continue_(self, args: dap.ContinueArguments) -> dap.ContinueBody:
        """Let all members of a group continue."""
        await self._resume(args.thread_id, "")
        return dap.ContinueBody(all_threads_continued=False)

    async def next(self, args: dap.NextArguments) -> None:
        """Step over in all members of a group."""
        await self._resume(args.thread_id, "over")

    async def step_in(self, args: dap.StepInArguments) -> None:
        """Step into in all members of a group."""
        await self._resume(args.thread_id, "into")

    async def step_out(self, args: dap.StepOutArguments) -> None:
        """Step out in all members of a group."""
        await self._resume(args.thread_id, "out")

    async def _resume(self, number: int, step: str) -> None:
        group = self._group(number)
        del self._groups[number]
        await self._now().resume(",".join(group.members), step=step)
        self._now().note_change()

    # Values of a representative

    async def stack_trace(self, args: dap.StackTraceArguments) -> dap.StackTraceBody:
        """Return the frames of a group's representative."""
        name = self._group(args.thread_id).representative
        link = self._link(name)
        thread = next(iter(link.stops), 0)
        levels, start = args.levels or limits.STACK_LEVELS, args.start_frame or 0
        answer = await self._ask(link, "stackTrace", {"threadId": thread, "levels": levels, "startFrame": start})
        body = decode_as(dap.StackTraceBody, answer)
        frames = [dap.changed(frame, id=self._frames.add((name, frame.id))) for frame in body.stack_frames]
        return dap.changed(body, stack_frames=frames)

    async def scopes(self, args: dap.ScopesArguments) -> dap.ScopesBody:
        """Return the scopes of a representative's frame."""
        name, frame = self._frames.get(args.frame_id)
        body = decode_as(dap.ScopesBody, await self._ask(self._link(name), "scopes", {"frameId": frame}))
        scopes = [
            dap.changed(scope, variables_reference=self._reference(name, scope.variables_reference))
            for scope in body.scopes
        ]
        return dap.ScopesBody(scopes=scopes)

    async def variables(self, args: dap.VariablesArguments) -> dap.VariablesBody:
        """Return the members of a representative's value."""
        name, reference = self._variables.get(args.variables_reference)
        arguments: dict[str, object] = {"variablesReference": reference}
        arguments |= {key: value for key, value in (("start", args.start), ("count", args.count)) if value is not None}
        body = decode_as(dap.VariablesBody, await self._ask(self._link(name), "variables", arguments))
        variables = [
            dap.changed(each, variables_reference=self._reference(name, each.variables_reference))
            for each in body.variables
        ]
        return dap.VariablesBody(variables=variables)

    async def evaluate(self, args: dap.EvaluateArguments) -> dap.EvaluateBody:
        """Evaluate an expression in a representative, or open a session with the member that `focus` names."""
        focus = _FOCUS.fullmatch(args.expression)
        if focus is not None and args.context == "repl":
            return await self._focus(focus[1])
        if args.frame_id is None:
            raise RequestFailed("an expression is evaluated in a frame of a stopped group; `focus 5` opens member 5")
        name, frame = self._frames.get(args.frame_id)
        arguments = {"expression": args.expression, "frameId": frame, "context": args.context or "watch"}
        body = decode_as(dap.EvaluateBody, await self._ask(self._link(name), "evaluate", arguments))
        return dap.changed(body, variables_reference=self._reference(name, body.variables_reference))

    async def _focus(self, name: str) -> dap.EvaluateBody:
        try:
            member, socket = await self._now().let_go_for(name)
        except JobError as error:
            raise RequestFailed(str(error)) from error
        configuration: dict[str, object] = {
            "type": self._type,
            "request": "attach",
            "name": f"member {member.name}",
            "socket": socket,
            "stopAllThreads": self._now().all_threads,
            "adapterSocket": str(self._sessions),
        }
        try:
            await self.start_debugging(configuration, "attach")
        finally:
            asyncio.get_running_loop().call_later(limits.SESSION_SECONDS, self._now().expect_back, member.name)
        return dap.EvaluateBody(result=f"member {member.name} has a session of its own", variables_reference=0)

    def _reference(self, name: str, reference: int) -> int:
        return self._variables.add((name, reference)) if reference else 0

    def _group(self, number: int) -> StopGroup:
        group = self._groups.get(number)
        if group is None:
            raise RequestFailed(f"thread {number} is not a stopped group", message="notStopped")
        return group

    def _link(self, name: str) -> MemberLink:
        link = self._now().links.get(name)
        if link is None:
            raise RequestFailed(f"member {name} is not connected any more")
        return link

    async def _ask(self, link: MemberLink, command: str, arguments: dict[str, object]) -> dap.RawJson:
        try:
            return await link.ask(command, arguments)
        except JobError as error:
            raise RequestFailed(str(error)) from error

    def _now(self) -> DebuggedJob:
        if self._debugged is None:
            raise RequestFailed("there is no job: attach comes first")
        return self._debugged


def _name(group: StopGroup) -> str:
    """Return the name of a group: its size and its innermost own call."""
    own = next((call for call in group.calls if call.own), None)
    place = (
        "outside of the program's code" if own is None else f"{own.function} {own.file.rpartition('/')[2]}:{own.line}"
    )
    return f"{len(group.members)} x {place}"


if __name__ == "__main__":
    run(JobAdapter, program="python -m dapkit.cluster.adapter", distribution="dapkit")
