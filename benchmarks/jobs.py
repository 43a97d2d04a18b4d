"""Jobs of many members: 64 real ranks of MPI on this machine, 5,000 simulated members, and merges of groups.

    python benchmarks/jobs.py [--write]

Simulated members have real sockets and answer at once (`programs/simulated_members.py`), so that the hub is measured.
`--write` puts the tables into `docs/reference/figures.md`. py-spy by itself is run in the same way beside ours.
"""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from dapkit.cluster import (
    ClusterJob,
    DebuggedJob,
    GroupedCall,
    JobBreakpoint,
    Member,
    MemberGroup,
    UnknownTarget,
    job_of,
)
from dapkit.cluster.engines.engine import QuietEngine
from dapkit.cluster.registrations import read_all
from dapkit.cluster.stack_groups import StackGroups
from dapkit.system.procfs import memory_sizes
from dapkit.system.this_system import SYSTEM
from sidebyside.report import JOBS, write_part

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/figures.md"
PROGRAMS = Path(__file__).parent / "programs"
RANKS = 64
MEMBERS = (8, 64, 500, 1_000, 5_000, 10_000)
GOALS = {"connected": 2.0, "breakpoint everywhere": 1.0, "stacks grouped": 1.5}
MERGES = ((100, 100), (1_000, 100))

_HEAD = """\
Measured by `python benchmarks/jobs.py --write` on a machine with two processors. The goals beside the figures come
from debugpy and py-spy with the same number of ranks. Simulated members have real sockets and answer at once, so
that their figures are of the hub alone; real networks, and more than 64 real ranks, were not tried.

At 100,000 members the merge at the root is the part that grows: the last table has 1,000 machines with 100 members
each. A third level between machines and root is not needed for that.

![Seconds of a step by the number of members: all three grow in proportion to it](jobs-growth.svg)
"""

type Row = tuple[str, str, str]


class SimulatedEngine(QuietEngine):
    """An engine whose members are all at one socket."""

    def __init__(self, path: str, count: int) -> None:
        self.list = [Member(str(rank), rank, os.uname().nodename, 1, count, socket=path) for rank in range(count)]

    def members(self) -> list[Member]:
        """Return them all."""
        return self.list


@contextmanager
def process(*command: str, folder: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program, and end it with all that it has started."""
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    memory = Path("/dev/shm")  # noqa: S108 - where MPICH leaves the memory of ranks that are killed
    before = set(memory.glob("mpich_shm_*"))
    try:
        yield started
    finally:
        for pid in (*SYSTEM.descendants(started.pid), started.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        started.communicate()
        for file in set(memory.glob("mpich_shm_*")) - before:
            file.unlink(missing_ok=True)


async def simulated(count: int) -> dict[str, float]:
    """Return the seconds of each step with simulated members, and the hub's bytes a member."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "members"))
        with process(sys.executable, str(PROGRAMS / "simulated_members.py"), path, folder=folder) as server:
            if server.stdout is not None:
                server.stdout.readline()
            debugged = DebuggedJob(ClusterJob("job", SimulatedEngine(path, count)))
            memory = memory_sizes(os.getpid())["Rss"]
            times: dict[str, float] = {}
            start = time.perf_counter()
            await debugged.open()
            times["connected"] = time.perf_counter() - start
            start = time.perf_counter()
            await debugged.set_breakpoint(JobBreakpoint(path="/work/part_0.py", line=10))
            times["breakpoint everywhere"] = time.perf_counter() - start
            await debugged.wait(quorum=count, deadline=60)
            start = time.perf_counter()
            stops = await debugged.stops()
            times["stacks grouped"] = time.perf_counter() - start
            check([len(group.members) for group in stops.groups] == [count])
            times["bytes"] = (memory_sizes(os.getpid())["Rss"] - memory) / count
            await debugged.close()
            return times


async def breakpoints_in_ranks(folder: Path) -> list[Row]:
    """Return the rows of 64 registered ranks."""
    debugged = DebuggedJob(job_of(str(folder), folder))
    start = time.perf_counter()
    await debugged.open()
    await debugged.set_breakpoint(JobBreakpoint(path=str(PROGRAMS / "rank.py"), line=12))
    everywhere = time.perf_counter() - start
    start = time.perf_counter()
    await debugged.wait(quorum=RANKS, deadline=60)
    stopped = time.perf_counter() - start
    start = time.perf_counter()
    stops = await debugged.stops()
    grouped = time.perf_counter() - start
    count = sum(len(group.members) for group in stops.groups)
    await debugged.close()
    check(count == RANKS)
    return [
        ("attached, and a breakpoint everywhere", f"{everywhere:.2f} s", "0.8 s (debugpy 0.81)"),
        (f"stopped: {count} of {RANKS}", f"{stopped:.2f} s", "(debugpy 3.36)"),
        ("stacks grouped, all stopped, with the variables of one", f"{grouped:.3f} s", "0.11 s (debugpy 0.110)"),
    ]


def ranks() -> list[Row]:
    """Return the rows of real ranks."""
    bin_folder = Path(sys.executable).parent
    rows: list[Row] = []
    program = [sys.executable, str(PROGRAMS / "rank.py")]
    with tempfile.TemporaryDirectory() as folder:
        with process(str(bin_folder / "mpiexec"), "-n", str(RANKS), *program, folder=folder) as launcher:
            job = job_of(str(launcher.pid), Path(folder))
            while count_of(job) < RANKS:
                time.sleep(0.1)
            time.sleep(3)  # until all are in their loops
            pids = [member.pid for member in job.members()]
            bare = sum(memory_sizes(pid)["Pss"] for pid in pids) / RANKS
            alone = [str(bin_folder / "py-spy"), "dump", "--nonblocking", "--json", "--pid"]
            start = time.perf_counter()
            with ThreadPoolExecutor(4) as readers:
                list(
                    readers.map(lambda pid: subprocess.run([*alone, str(pid)], capture_output=True, check=False), pids)
                )
            py_spy = time.perf_counter() - start
            stacks = job.look()
            rows.append(("stacks grouped, running", f"{stacks.seconds:.2f} s", f"0.55 s (py-spy here {py_spy:.2f})"))
            command = [str(bin_folder / "dapkit"), "job", "where", str(launcher.pid)]
            subprocess.run(command, capture_output=True, check=True)  # starts the hub
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            rows.append(("dapkit job where, the whole command", f"{time.perf_counter() - start:.2f} s", "2 s"))
        wrapper = [sys.executable, "-m", "dapkit.cluster.run", "--job", f"{folder}/job", "--"]
        start = time.perf_counter()
        words = [str(bin_folder / "mpiexec"), "-n", str(RANKS), *wrapper, str(PROGRAMS / "rank.py")]
        with process(*words, folder=folder):
            while not Path(folder, "job").exists() or len(read_all(Path(folder, "job"))) < RANKS:
                time.sleep(0.02)
            while not all(Path(each["socket"]).exists() for each in read_all(Path(folder, "job"))):
                time.sleep(0.02)
            registered = time.perf_counter() - start
            time.sleep(3)
            pids = [each["pid"] for each in read_all(Path(folder, "job"))]
            ours = sum(memory_sizes(pid)["Pss"] for pid in pids) / RANKS - bare
            rows.insert(
                0, ("registered, the start of 64 Pythons with it", f"{registered:.1f} s", "12 s (debugpy 11.5)")
            )
            rows += asyncio.run(breakpoints_in_ranks(Path(folder, "job")))
            rows.append(("memory of ours in a rank", f"{ours / 1e6:.1f} MB", "5 MB"))
    return rows


def count_of(job: ClusterJob) -> int:
    """Return how many members there are so far."""
    try:
        return len(job.members())
    except UnknownTarget:
        return 0


def check(is_right: bool) -> None:
    """End the measurement of something that does not work."""
    if not is_right:
        sys.exit("the answer that was measured is wrong")


def merges() -> list[Row]:
    """Return the seconds of merging the groups of many machines at the root."""
    rows: list[Row] = []
    calls = [GroupedCall(function=f"call_{depth}", file="/work/part.py", line=depth, own=True) for depth in range(20)]
    for machines, members in MERGES:
        parts = [
            [
                MemberGroup(calls=calls, members=[str(machine * members + rank) for rank in range(members - 1)]),
                MemberGroup(calls=calls[1:], members=[str(machine * members + members - 1)]),
            ]
            for machine in range(machines)
        ]
        start = time.perf_counter()
        groups = StackGroups()
        for part in parts:
            groups.merge(part)
        check([len(group.members) for group in groups.result()] == [machines * (members - 1), machines])
        seconds = time.perf_counter() - start
        goal = "10 ms" if (machines, members) == MERGES[0] else ""
        rows.append(
            (f"groups of {machines:,} machines with {members} members merged", f"{1000 * seconds:.1f} ms", goal)
        )
    return rows


def table(head: Row, rows: list[Row]) -> str:
    """Return rows as Markdown."""
    lines = [head, ("---", "---", "---"), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    """Print the tables, and write them if that is wanted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    growth: list[Row] = []
    of_count: dict[int, dict[str, float]] = {}
    for count in MEMBERS:
        if count + 100 > hard:
            continue
        of_count[count] = asyncio.run(simulated(count))
    for count, times in of_count.items():
        seconds = ", ".join(f"{name} {times[name]:.2f} s" for name in GOALS)
        growth.append((f"{count:,}", seconds, f"{times['bytes'] / 1000:.1f} kB"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    text = (
        f"### {RANKS} real ranks of MPI\n\n"
        + table(("step", "here", "goal"), ranks())
        + "\n### Simulated members, by their number\n\n"
        + "Goals for 5,000: connected 2 s, breakpoint everywhere 1.0 s, stacks grouped 1.5 s, 25 kB of the hub.\n\n"
        + table(("members", "times", "memory of the hub a member"), growth)
        + "\n### Merging at the root\n\n"
        + table(("step", "here", "goal"), merges())
    )
    print(text)
    if "--write" in sys.argv[1:]:
        write_part(PAGE, JOBS, f"{_HEAD}\n{text}")


if __name__ == "__main__":
    main()
