"""Which members wait for which in a collective, by a stand-in for PyTorch's debug server, which is too large for tests.

docs/how-to/find-who-a-job-waits-for.md says with which PyTorch the real one was tried.
"""

import json
import sys
import time
from pathlib import Path

import pytest

from dapkit.cluster import JobError, JobStacks, job_of
from job_helpers import SECONDS, StartJob

pytestmark = pytest.mark.timeout(300)

PROGRAM = Path(__file__).parent / "programs/recorded_ranks.py"


def record(number: object, *, waits: bool, operation: str = "all_reduce") -> dict[str, object]:
    """Return the record of a rank, with the keys that are read."""
    entry = {
        "collective_seq_id": number,
        "is_p2p": False,
        "process_group": ["0", "default_pg"],
        "profiling_name": f"gloo:{operation}",
        "retired": not waits,
        "state": "scheduled",
        "time_created_ns": (time.time_ns() // 10**9 - 60) * 10**9,
    }
    return {"entries": [entry], "pg_config": {"": {"desc": "", "name": "", "ranks": "[0, 1]"}}, "version": "2.10"}


def looked(start_job: StartJob, folder: Path, records: list[object]) -> JobStacks:
    """Start the job, and look until all have come to where they stay, and the server answers."""
    (folder / "records.json").write_text(json.dumps(records))
    command = (sys.executable, str(PROGRAM), str(folder / "records.json"))
    job = job_of(str(start_job("torchrun", *command, ranks=len(records))), folder)
    end = time.monotonic() + SECONDS
    while True:
        try:
            stacks = job.look()
        except JobError:  # no rank runs yet
            assert time.monotonic() < end
            time.sleep(0.2)
            continue
        if stacks.waits is not None and [finding.members for finding in stacks.findings] == [["2"]]:
            return stacks
        assert time.monotonic() < end, stacks
        time.sleep(0.2)


def test_rank_that_has_not_begun_a_collective_is_awaited(start_job: StartJob, tmp_path: Path) -> None:
    waiting = record(7, waits=True)
    stacks = looked(start_job, tmp_path, [waiting, waiting, record(6, waits=False), waiting])
    assert stacks.waits is not None
    [wait] = stacks.waits
    assert wait.waiting == "members 0-1,3 in all_reduce 7 of default_pg"
    assert wait.on == "member 2, which has not begun it"
    assert wait.seconds >= 60


def test_collectives_that_go_on_are_no_waits(start_job: StartJob, tmp_path: Path) -> None:
    moving = record("COUNT", waits=True)
    assert looked(start_job, tmp_path, [moving, moving, record(0, waits=False), moving]).waits == []


def test_rank_that_does_not_answer_the_server_may_be_awaited(start_job: StartJob, tmp_path: Path) -> None:
    waiting = record(7, waits=True)
    stacks = looked(start_job, tmp_path, [waiting, waiting, "TimeoutError: ", waiting])
    assert stacks.waits is not None
    [wait] = stacks.waits
    assert wait.on == "member 2 perhaps, of which PyTorch's debug server has no record"
