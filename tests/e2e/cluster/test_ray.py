"""Workers of Ray as members. `make test-cluster` runs this, in an environment of its own: Ray has 300 MB."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from job_helpers import Dapkit, details, marked_line, until

pytestmark = pytest.mark.timeout(300)

PROGRAM = Path(__file__).parent / "programs" / "ray_job.py"

type StartCluster = Callable[[str], str]


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[StartCluster]:
    python = os.environ.get("DAPKIT_RAY_PYTHON")
    if python is None:
        pytest.skip("Ray is not in this environment: make test-cluster")
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        command = [python, str(PROGRAM), kind, str(port)]
        started.append(
            subprocess.Popen(
                command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
            )
        )
        return f"ray://127.0.0.1:{port}"

    yield start
    for process in started:
        process.terminate()
        process.wait()


def test_an_actor_that_hangs_is_named_with_its_task(start_cluster: StartCluster, run_dapkit: Dapkit) -> None:
    job = start_cluster("hang")
    at_work = "trainer-5 is LATE: elsewhere than most, and at work on Trainer.step for "
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: at_work in text)  # Ray tells of a task late
    assert f"Trainer.step @ ray_job.py:{marked_line(PROGRAM, 'hangs')}" in text
    text = until(lambda: run_dapkit("job", "where", job)[1], lambda text: "Waiting: " in text)
    assert "Waiting: total for the results of other tasks" in text


def test_all_actors_stop_and_go_on(start_cluster: StartCluster, run_dapkit: Dapkit, tmp_path: Path) -> None:
    job = start_cluster("steps")
    results = [tmp_path / f"results-{rank}" for rank in range(8)]
    until(lambda: [file.exists() for file in results], all)
    words = [
        "--json",
        "--wait-for",
        "8",
        "--timeout",
        "60",
        "-e",
        "self.rank",
        job,
        f"{PROGRAM}:{marked_line(PROGRAM, 'done')}",
    ]
    stops = details(run_dapkit("job", "break", *words))
    [group] = stops["groups"]
    assert sorted(group["members"]) == [f"trainer-{rank}" for rank in range(8)]
    assert sorted(int(each["value"]) for each in group["answers"]) == list(range(8))
    code, text = run_dapkit("job", "focus", job, "trainer-3")
    assert code == 0, text
    assert f"{PROGRAM}:{marked_line(PROGRAM, 'done')} in Trainer.step" in text
    run_dapkit("detach")
    code, text = run_dapkit("job", "release", job)
    assert code == 0, text
    sizes = [file.stat().st_size for file in results]
    until(lambda: [file.stat().st_size for file in results], lambda now: all(map(int.__gt__, now, sizes)))


def test_a_dashboard_that_does_not_answer_is_refused(run_dapkit: Dapkit) -> None:
    code, text = run_dapkit("job", "where", "ray://127.0.0.1:1")
    assert (code, "no dashboard of Ray answers at 127.0.0.1:1" in text) == (2, True)
