"""A Dask cluster: its workers are members, its tasks say who waits for whom, and a held task costs no worker."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(300)

PROGRAMS = Path(__file__).parent / "programs"
TASKS = PROGRAMS / "dask_tasks.py"
SECONDS = 120.0

type Dapkit = Callable[..., tuple[int, str]]
type StartCluster = Callable[..., str]


def line_of(mark: str) -> int:
    lines = TASKS.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def until[T](get: Callable[[], T], fits: Callable[[T], bool]) -> T:
    end = time.monotonic() + SECONDS
    while not fits(value := get()):
        assert time.monotonic() < end, value
        time.sleep(0.2)
    return value


def details(answer: tuple[int, str]) -> Any:  # noqa: ANN401 - any JSON
    code, text = answer
    assert code == 0, text
    return json.loads(text)["details"]


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
        )
        started.append(process)
        assert process.stdout is not None
        return f"dask://{process.stdout.readline().strip()}"

    yield start
    for process in started:
        process.terminate()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_task_that_others_wait_for_is_named_with_its_line(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("hang", workers=3)
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: "slow @ dask_tasks.py" in text)
    assert f"slow @ dask_tasks.py:{line_of('slow')}" in text
    assert "is LATE: elsewhere than most, and at work on slow-1" in text
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: "Waiting: " in text)
    assert "Waiting: total for slow-1, which member " in text


def test_each_task_stops_and_a_member_is_debugged(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("part")
    words = ["--json", "--wait-for", "all", "-e", "number", job, f"{TASKS}:{line_of('part')}"]
    stops = details(run_dapkit("job", "break", *words))
    [group] = stops["groups"]
    assert sorted(group["members"]) == ["0", "1"]
    assert [call["function"] for call in group["calls"] if call.get("own")] == ["part"]
    assert len(group["answers"]) == 2
    code, text = run_dapkit("job", "focus", job, "1")
    assert code == 0, text
    assert f"{TASKS}:{line_of('part')} in part" in text
    run_dapkit("detach")
    code, text = run_dapkit("job", "release", job)
    assert code == 0, text


@pytest.mark.thorough
def test_tasks_that_are_held_for_twice_the_time_to_live_cost_no_worker(
    start_cluster: StartCluster, run_dapkit: Dapkit, tmp_path: Path
) -> None:
    job = start_cluster("part", workers=8, ttl="4s")
    words = ["--json", "-e", "__import__('os').getpid()", job]
    before = pids(run_dapkit("job", "break", "--wait-for", "all", *words, f"{TASKS}:{line_of('part')}"))
    assert len(before) == 8
    time.sleep(12)  # Dask takes ten heartbeats of half a second at least, whatever worker-ttl is
    assert pids(run_dapkit("job", "break", "--wait-for", "none", *words)) == before
    code, text = run_dapkit("job", "release", job)
    assert (code, text) == (0, f"Released 8 members of job {job}.\n")
    results = tmp_path / "results"
    size = results.stat().st_size if results.exists() else 0
    until(lambda: results.stat().st_size if results.exists() else 0, lambda now: now > size + 100)


def pids(answer: tuple[int, str]) -> set[int]:
    """Return the processes that are stopped."""
    return {int(each["value"]) for group in details(answer)["groups"] for each in group["answers"]}


def test_a_scheduler_that_does_not_answer_is_refused(run_dapkit: Dapkit) -> None:
    code, text = run_dapkit("job", "where", "dask://127.0.0.1:1", "--timeout", "60")
    assert (code, "no scheduler of Dask answers at tcp://127.0.0.1:1" in text) == (2, True)
