"""Jobs of many processes: where all members are, which of them the others wait for, and breakpoints in all of them."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.actions.launch import attach_to_engine
from dapkit.agent.breakpoint_forms.specs import check_condition, specs_of
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import ActionFailed, InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.results.session import JobReleased, Started
from dapkit.catalog.definition import Traits
from dapkit.client.breakpoint_spec import BreakpointSpec, SourceLocation
from dapkit.cluster import DebuggedJob, JobBreakpoint, JobStacks, JobStops, Member, job_of
from dapkit.cluster import limits as cluster_limits
from dapkit.cluster.findings import with_stops
from dapkit.protocol import DapkitError, changed


@action(
    Approval.EXECUTE,
    example={"job": "4711"},
    reads_if=lambda arguments: arguments.get("via") is None,
    any_timeout=True,
)
async def job_where(
    call: ActionCall,
    *,
    job: p.Job | None = None,
    members: p.Members = "all",
    rounds: p.Rounds = 1,
    interval: p.Interval = 10.0,
    via: p.Via = "",
) -> JobStacks:
    """Show where all processes of a job are, equal stacks once, and who is late: also if it hangs.

    Nothing is stopped, and nothing has to be in the program: stacks are read from outside. The launcher may be MPI's,
    torchrun, Slurm's or multiprocessing. Members that are not where most are come first, then those whose processes
    have ended. With several rounds a member that is late in most of them is a straggler.
    """
    if not 1 <= rounds <= cluster_limits.ROUNDS or interval < 0:
        raise InvalidArguments(f"rounds must be 1 to {cluster_limits.ROUNDS}, and the interval at least 0")
    duration = (rounds - 1) * interval + limits.JOB_LOOK_SECONDS
    if rounds > 1 and duration > call.timeout:
        raise InvalidArguments(
            f"{rounds} rounds, {interval:g} s apart, need {duration:g} s, and the call may take {call.timeout:g} s",
            hint=f"Give a timeout of {duration:g}.",
        )
    whole = await anyio.to_thread.run_sync(lambda: job_of(job, call.folder, via=via))

    def look() -> JobStacks:
        return whole.look(
            members,
            rounds=rounds,
            every=interval,
            report=lambda text: anyio.from_thread.run_sync(call.progress, text),
        )

    try:
        stacks = await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
    finally:
        await anyio.to_thread.run_sync(whole.engine.close)
    debugged = call.jobs.get(_key(call, job))
    return stacks if debugged is None else changed(stacks, findings=with_stops(stacks.findings, debugged.stopped))


@action(Approval.EXECUTE, example={"job": "4711", "breakpoints": ["train.py:41"]}, any_timeout=True)
async def job_break(
    call: ActionCall,
    *,
    job: p.Job | None = None,
    breakpoints: p.Breakpoints | None = None,
    members: p.Members = "all",
    wait_for: p.WaitFor = "any",
    expressions: p.Expressions | None = None,
    all_threads: p.AllThreads = False,
    clear: p.Clear = False,
    via: p.Via = "",
) -> JobStops:
    """Set breakpoints in all processes of a job, now and in those that join, and show who stops, in groups.

    A stop holds the thread that made it; other threads, such as heartbeats, run on, unless all_threads is set. It waits
    until as many members have stopped as wait_for says, or the timeout is over. job_continue goes on, job_focus debugs
    one member, job_release lets all of them go.
    """
    specs = [_breakpoint(spec, members) for spec in specs_of(breakpoints or (), folders=[call.folder])]
    quorum = _quorum(wait_for)
    debugged = await _debugged(call, job, via, all_threads=all_threads)
    if clear:
        await debugged.remove_breakpoints()
    for spec in specs:
        await debugged.set_breakpoint(spec)
    return await _after(call, debugged, quorum, expressions)


@action(Approval.EXECUTE, example={"job": "4711"}, any_timeout=True)
async def job_continue(
    call: ActionCall,
    *,
    job: p.Job | None = None,
    members: p.Members = "all",
    step: p.JobStep | None = None,
    wait_for: p.WaitFor = "any",
    expressions: p.Expressions | None = None,
) -> JobStops:
    """Let the stopped members of a job continue, or step, and show who stops next."""
    quorum = _quorum(wait_for)
    debugged = _present(call, job)
    resumed = await debugged.resume(members, step=step or "")
    if step is not None and wait_for == "any":
        quorum = _quorum("all")
    return await _after(call, debugged, quorum, expressions, among=resumed)


@action(Approval.EXECUTE, example={"job": "4711", "member": "5"})
async def job_focus(call: ActionCall, *, job: p.Job | None = None, member: p.Member, via: p.Via = "") -> Started:
    """Debug one member of a job by a session of its own, which has all that a session has.

    Its thread stays where it is stopped. Breakpoints of the job stay in the other members.
    """
    debugged = await _debugged(call, job, via)
    spec = [f"{each.path}:{each.line}" for each in debugged.breakpoints]
    released, socket = await debugged.let_go_for(member)
    try:
        for _ in range(limits.JOB_FOCUS_ATTEMPTS):  # the engine may still be busy with our leaving
            with suppress(DapkitError):
                return await _session_with(call, debugged, released, socket, spec)
            await anyio.sleep(limits.JOB_FOCUS_PAUSE)
        return await _session_with(call, debugged, released, socket, spec)
    finally:
        debugged.expect_back(released.name)


async def _session_with(
    call: ActionCall, debugged: DebuggedJob, member: Member, socket: str, breakpoints: Sequence[str]
) -> Started:
    options = {"socket": socket, "stopAllThreads": debugged.all_threads}
    return await attach_to_engine(
        call, options, pid=member.pid, breakpoints=breakpoints, target=f"member {member.name}"
    )


@action(Approval.EXECUTE, example={"job": "4711"})
async def job_release(call: ActionCall, *, job: p.Job | None = None) -> JobReleased:
    """Let all members of a job go: their breakpoints are removed, and they run on."""
    debugged = _present(call, job)
    count = len(debugged.links)
    del call.jobs[_key(call, job)]
    await debugged.close()
    return JobReleased(target=debugged.job.target, members=count)


async def _after(
    call: ActionCall,
    debugged: DebuggedJob,
    quorum: float,
    expressions: Sequence[str] | None,
    *,
    among: set[str] | None = None,
) -> JobStops:
    """Wait for stops, of the members that were resumed if some were, and a moment for others at the same time."""
    patience = max(0.0, call.left - limits.JOB_LOOK_SECONDS)
    await debugged.wait(quorum=quorum, deadline=patience, among=among)
    if quorum:
        await debugged.wait(quorum=1.0 - sys.float_info.epsilon, deadline=min(patience, limits.JOB_STOPS_SECONDS))
    return await debugged.stops(expressions=expressions or ())


async def _debugged(call: ActionCall, job: str | None, via: str, *, all_threads: bool = False) -> DebuggedJob:
    """Return the job with its members connected; it is connected to if it is not yet, or if others can be reached now.

    Where all members have ended, the job may have been started again: its breakpoints are kept for that.

    Raises:
        InvalidArguments: all threads are to stop, and the job is being debugged so that one thread stops.

    """
    key = _key(call, job)
    debugged = call.jobs.get(key)
    if debugged is None or not debugged.is_live or (via and via != debugged.job.via):
        earlier = debugged
        whole = await anyio.to_thread.run_sync(lambda: job_of(job, call.folder, via=via))
        debugged = DebuggedJob(whole, all_threads=all_threads)
        if earlier is not None:
            await earlier.close()
            debugged.breakpoints = earlier.breakpoints
        call.progress("connecting to the members")
        await debugged.open()
        call.jobs[key] = debugged
    elif all_threads and not debugged.all_threads:
        raise InvalidArguments(
            "This job is being debugged so that a stop holds one thread.",
            hint="Release it by job_release, and set the breakpoints again with all_threads.",
        )
    return debugged


def _present(call: ActionCall, job: str | None) -> DebuggedJob:
    debugged = call.jobs.get(_key(call, job))
    if debugged is None:
        raise ActionFailed("no_session", "This job is not being debugged.", hint="job_break begins it.")
    return debugged


def _key(call: ActionCall, job: str | None) -> tuple[Path, str]:
    return call.folder, job or ""


def _breakpoint(spec: BreakpointSpec, members: str) -> JobBreakpoint:
    place = spec.location
    if not isinstance(place, SourceLocation) or place.line is None or place.text is not None:
        raise InvalidArguments(f"{place}: a breakpoint of a job is at a line: expected FILE:LINE [if CONDITION]")
    if spec.hit_condition or spec.log_message:
        raise InvalidArguments(f"{place}: a breakpoint of a job has a condition, but no hits and no message")
    check_condition(spec.condition, Traits(python_expressions=True))
    return JobBreakpoint(path=str(place.file), line=place.line, condition=spec.condition or "", members=members)


def _quorum(text: str) -> float:
    words = {"any": 1.0, "all": 1.0 - sys.float_info.epsilon, "none": 0.0}
    if text in words:
        return words[text]
    if text.isdecimal() and int(text) > 0:
        return float(text)
    if text.endswith("%") and text[:-1].isdecimal() and 0 < int(text[:-1]) <= 100:
        return min(int(text[:-1]) / 100, 1.0 - sys.float_info.epsilon)
    raise InvalidArguments(f"wait_for is {text!r}: expected any, all, none, a number, or a part such as 90%")
