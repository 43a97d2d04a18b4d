"""A Dask cluster: its workers are members, its tasks say who waits for whom, and a held task costs no worker."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from distributed import Client, Scheduler

from job_helpers import Dapkit, details, marked_line, until

pytestmark = pytest.mark.timeout(300)

PROGRAMS = Path(__file__).parent / "programs"
TASKS = PROGRAMS / "dask_tasks.py"

type StartCluster = Callable[..., str]


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[StartCluster]:
    started: list[subprocess.Popen[str]] = []

    def start(kind: str, *, workers: int = 2, ttl: str = "5 minutes") -> str:
        command = [sys.executable, str(PROGRAMS / "dask_job.py"), str(workers), ttl, kind]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout is not None
        return f"dask://{process.stdout.readline().strip()}"

    yield start
    for process in started:
        process.terminate()
        process.wait()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # a worker that does not answer does not end, either
        assert process.stdout is not None
        process.stdout.close()


def test_a_task_that_others_wait_for_is_named_with_its_line(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("hang", workers=3)
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: "is LATE" in text and "slow-1\n" in text)
    assert f"slow @ dask_tasks.py:{marked_line(TASKS, 'slow')}" in text
    assert "is LATE: elsewhere than most, and at work on slow-1" in text
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: "Waiting" in text)
    assert ": total for slow-1, which member " in text


def test_a_worker_that_does_not_answer_is_read_from_outside(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("native", workers=3)
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: "No answer" in text and "LATE" in text)
    [culprit] = [line for line in text.splitlines() if "is LATE" in line]
    name = culprit.removeprefix("- member ").partition(" ")[0]
    assert culprit == f"- member {name} is LATE: elsewhere than most, and holds the interpreter and at work on native-1"
    assert f"keep_gil @ dask_tasks.py:{marked_line(TASKS, 'native')}\n" in text
    assert f"Waiting: total for native-1, which member {name} runs\n" in text
    assert f"No answer to Dask within 3 s from worker {name}, perhaps since its GIL is held or " in text


def test_each_task_stops_and_a_member_is_debugged(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("part")
    words = ["--json", "--wait-for", "all", "-e", "number", job, f"{TASKS}:{marked_line(TASKS, 'part')}"]
    stops = details(run_dapkit("job", "break", *words))
    [group] = stops["groups"]
    assert sorted(group["members"]) == ["0", "1"]
    assert [call["function"] for call in group["calls"] if call.get("own")] == ["part", "parts"]
    assert len(group["answers"]) == 2
    code, text = run_dapkit("job", "focus", job, "1")
    assert code == 0, text
    assert f"{TASKS}:{marked_line(TASKS, 'part')} in part" in text
    run_dapkit("detach")
    code, text = run_dapkit("job", "release", job)
    assert code == 0, text


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [[], ["--all-threads"]], ids=["one-thread", "all-threads"])
def test_tasks_that_are_held_for_twice_the_time_to_live_cost_no_worker(
    kind: list[str], start_cluster: StartCluster, run_dapkit: Dapkit, tmp_path: Path
) -> None:
    job = start_cluster("part", workers=8, ttl="4s")
    words = ["--json", *kind, "-e", "__import__('os').getpid()", job]
    before = pids(run_dapkit("job", "break", "--wait-for", "all", *words, f"{TASKS}:{marked_line(TASKS, 'part')}"))
    assert len(before) == 8
    time.sleep(12)  # Dask takes ten heartbeats of half a second at least, whatever worker-ttl is
    assert pids(run_dapkit("job", "break", "--wait-for", "none", *words)) == before
    code, text = run_dapkit("job", "release", job)
    assert (code, text) == (0, f"Released 8 members of job {job}.\n")
    results = [tmp_path / f"results-{place}" for place in range(8)]
    sizes = [file.stat().st_size if file.exists() else 0 for file in results]
    until(
        lambda: [file.exists() and file.stat().st_size for file in results],
        lambda now: all(map(int.__gt__, now, sizes)),
    )


@pytest.mark.thorough
def test_the_time_to_live_is_put_back_when_all_threads_run_again(
    start_cluster: StartCluster, run_dapkit: Dapkit
) -> None:
    job = start_cluster("part", ttl="60s")
    breakpoint = f"{TASKS}:{marked_line(TASKS, 'part')}"
    address = job.replace("dask://", "tcp://")
    with Client(address, set_as_default=False) as client:  # type: ignore[no-untyped-call]  # Dask has no types
        assert time_to_live(client) == 60.0
        code, text = run_dapkit("job", "break", "--all-threads", "--wait-for", "all", job, breakpoint)
        assert (code, "2 members 0-1 stopped" in text) == (0, True), text
        assert time_to_live(client) > 1e6
        code, text = run_dapkit("job", "continue", "--wait-for", "all", job)
        assert (code, "2 members 0-1 stopped" in text) == (0, True), text
        assert time_to_live(client) > 1e6
        assert run_dapkit("job", "release", job)[0] == 0
        assert time_to_live(client) == 60.0
        assert run_dapkit("job", "break", "--all-threads", "--wait-for", "none", job, breakpoint)[0] == 0
        assert time_to_live(client) > 1e6
        os.kill(json.loads(run_dapkit("hub", "status", "--json")[1])["pid"], signal.SIGKILL)
        assert until(lambda: time_to_live(client), lambda seconds: seconds == 60.0)


def test_a_job_whose_stops_hold_one_thread_cannot_have_others(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("part")
    assert run_dapkit("job", "break", "--wait-for", "none", job)[0] == 0
    code, text = run_dapkit("job", "break", "--all-threads", "--wait-for", "none", job)
    assert (code, "a stop holds one thread" in text, "release" in text) == (2, True, True), text


def time_to_live(client: Client) -> float:
    """Return the seconds after which the scheduler restarts a worker without heartbeats."""

    def seconds(dask_scheduler: Scheduler) -> float:
        return dask_scheduler.worker_ttl or 0.0

    return float(client.run_on_scheduler(seconds))  # type: ignore[no-untyped-call]  # as above


def pids(answer: tuple[int, str]) -> set[int]:
    """Return the processes that are stopped."""
    return {int(each["value"]) for group in details(answer)["groups"] for each in group["answers"]}


def test_a_scheduler_that_does_not_answer_is_refused(run_dapkit: Dapkit) -> None:
    code, text = run_dapkit("job", "where", "dask://127.0.0.1:1", "--timeout", "60")
    assert (code, "no scheduler of Dask answers at tcp://127.0.0.1:1" in text) == (2, True)
