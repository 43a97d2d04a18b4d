"""Jobs of many processes: where all members are, and which of them the others wait for."""

import anyio.from_thread
import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.cluster import JobStacks, job_of
from dapkit.cluster import limits as cluster_limits


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

    return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
