"""Members that keep a job waiting: each is named, with its line, and no member is stopped."""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.cluster import ClusterJob, JobError, JobFinding, JobStacks, job_of
from job_helpers import SECONDS, marked_line

pytestmark = pytest.mark.timeout(300)

PROGRAMS = Path(__file__).parent / "programs"
CULPRITS_FILE = PROGRAMS / "culprits.py"

CULPRITS = {
    "deadlock": ("late", ["2", "5"]),
    "missing": ("late", ["5"]),
    "straggler": ("late", ["5"]),
    "teardown": ("teardown", ["5"]),
    "died": ("ended", ["5"]),
    "killed": ("gone", ["5"]),
    "suspended": ("suspended", ["5"]),
    "interpreter": ("late", ["5"]),
    "thread": ("interpreter", ["5"]),
    "disk": ("kernel", ["5"]),
}


def settled(job: ClusterJob, kinds: set[str], names: list[str], note: str) -> JobStacks:
    """Look until the culprits are named, and nothing but them: the job needs a while to come to where it hangs."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            stacks = job.look()
        except JobError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
            continue
        found = [name for finding in stacks.findings for name in finding.members]
        has_note = all(note in finding.note for finding in stacks.findings)
        if sorted(found) == names and {finding.kind for finding in stacks.findings} <= kinds and has_note:
            return stacks
        assert time.monotonic() < end, (stacks.findings, stacks.groups)
        time.sleep(0.2)


def own_line(finding: JobFinding) -> int:
    own = [call for call in finding.calls if call.own and call.file.endswith("culprits.py")]
    return own[0].line


@pytest.mark.parametrize("engine", [pytest.param("mpi", marks=pytest.mark.thorough), "store"])
@pytest.mark.parametrize(
    "culprit",
    [name if name in ("deadlock", "died") else pytest.param(name, marks=pytest.mark.thorough) for name in CULPRITS],
)
def test_each_culprit_is_named_with_its_line(
    engine: str, culprit: str, tmp_path: Path, start_job: Callable[..., int]
) -> None:
    kind, names = CULPRITS[culprit]
    programs = shutil.copytree(PROGRAMS, tmp_path / "programs")
    registers = culprit in ("died", "killed", "teardown")
    wrapper = [sys.executable, "-m", "dapkit.cluster.run", "--job", str(tmp_path / "job"), "--"]
    start = [*(wrapper if registers else [sys.executable]), str(programs / "culprits.py"), engine, culprit]
    (tmp_path / "job").mkdir(mode=0o700)
    launcher = start_job(engine, *start)
    job = job_of(str(tmp_path / "job") if registers else str(launcher), tmp_path)
    kinds = {kind, "teardown"} if culprit == "died" else {kind}  # the end of MPI waits for the others
    error = f"ValueError: bad batch at {programs / 'culprits.py'}:{marked_line(CULPRITS_FILE, 'died')}"
    stacks = settled(job, kinds, names, error if culprit == "died" else "")
    if culprit == "deadlock":
        assert sorted(map(own_line, stacks.findings)) == [
            marked_line(CULPRITS_FILE, "deadlock of 2"),
            marked_line(CULPRITS_FILE, "deadlock of 5"),
        ]
    elif culprit not in ("died", "killed", "teardown"):
        assert [own_line(finding) for finding in stacks.findings] == [marked_line(CULPRITS_FILE, culprit)]
