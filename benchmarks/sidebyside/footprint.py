"""What a debugger adds to the machine: memory of all its processes, threads in the program."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from dapkit.protocol import ProcessEvent
from sidebyside.contest import DEBUGPY, ENVIRONMENT, OURS, PROGRAMS, Contest, Debugger, line_of, middle
from sidebyside.table import Row


async def footprint(contest: Contest) -> list[Row]:
    """Measure memory and threads at a stop of a small program."""
    plain = [_plain(contest) for _ in range(contest.rounds)]
    figures = {
        debugger.name: [await _debugged(contest, debugger) for _ in range(contest.rounds)]
        for debugger in (DEBUGPY, OURS)
    }
    rss, pss, threads, processes = (
        {name: middle([one[at] for one in found]) for name, found in {**figures, "plain": plain}.items()}
        for at in range(4)
    )

    def row(title: str, unit: str, added: dict[str, float], goal: float | None = None) -> Row:
        debugpy, ours = (added[name] - added["plain"] for name in ("debugpy", "ours"))
        return Row("footprint", title, unit, debugpy, ours, goal)

    return [
        row("memory added, all processes together (RSS)", "MB", rss, 35),
        row("the same, shared pages divided among their users (PSS)", "MB", pss, 24),
        row("threads added in the debuggee", "", threads, 1),
        row("processes added", "", processes),
    ]


def _plain(contest: Contest) -> tuple[float, float, int, int]:
    command = [contest.python, str(PROGRAMS / "small.py")]
    environment = ENVIRONMENT | dict(contest.environment)
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None  # noqa: S101 - as asked for
        assert process.stdout is not None  # noqa: S101 - the same
        process.stdout.readline()
        memory = _memory([process.pid])
        process.stdin.close()
    return *memory, 1, 1


async def _debugged(contest: Contest, debugger: Debugger) -> tuple[float, float, int, int]:
    async with contest.session(debugger) as session:
        await session.break_on_exceptions()
        await session.add_breakpoint(PROGRAMS / "small.py", line_of("small.py", "STOP"))
        await contest.launch(session, debugger, "small.py")
        stop = await session.next_stop()
        await session.stack_trace(stop.thread_id)
        process = await session.wait_for(ProcessEvent, since=0)
        adapter, program = session.adapter_pid, process.system_process_id
        if adapter is None or program is None:
            raise RuntimeError(f"{debugger.name} does not tell its processes")
        pids = sorted({adapter, program, *_descendants(adapter)})
        return *_memory(pids), _threads(program), len(pids)


def _descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from _descendants(child)


def _memory(pids: list[int]) -> tuple[float, float]:
    """Return the resident and the proportional memory of processes, in MB."""
    rss = pss = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(("Rss:", "Pss:")):
                size = int(line.split()[1])
                rss, pss = (rss + size, pss) if line.startswith("Rss:") else (rss, pss + size)
    return rss / 1024, pss / 1024


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))
