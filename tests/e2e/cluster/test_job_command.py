"""`dapkit job`: real jobs as a user names them, machines that do not answer, and restarts by the launcher."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.cluster import FindingKind, JobStacks, MemberState, job_of
from dapkit.cluster.registrations import read_all, write
from job_helpers import Dapkit, until

pytestmark = pytest.mark.timeout(300)

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def hanging(start_job: Callable[..., int]) -> int:
    """A job of 8 ranks of which rank 5 does not come to a barrier."""
    return start_job("store", sys.executable, str(PROGRAMS / "culprits.py"), "store", "missing")


def test_the_command_names_who_is_late_and_where(hanging: int, run_dapkit: Dapkit, tmp_path: Path) -> None:
    text = until(lambda: run_dapkit("job", "where", str(hanging))[1], lambda text: "rank 5 is LATE" in text)
    line = next(
        number
        for number, each in enumerate((PROGRAMS / "culprits.py").read_text().splitlines(), 1)
        if "# missing" in each
    )
    assert f"missing @ culprits.py:{line}" in text
    assert "7 members 0-4,6-7 (most)" in text
    assert "not known" in text
    code, answer = run_dapkit("job", "where", "--json", "--members", "rank > 4", str(hanging))
    assert code == 0
    details = json.loads(answer)["details"]
    assert (details["members"], details["sampled"]) == (3, 3)
    drawing = tmp_path / "stacks.svg"
    run_dapkit("job", "where", str(hanging), "--flame-graph", str(drawing))
    assert f"missing (culprits.py:{line})" in drawing.read_text()


def test_rounds_name_a_straggler(hanging: int, run_dapkit: Dapkit) -> None:
    until(lambda: run_dapkit("job", "where", str(hanging))[1], lambda text: "rank 5 is LATE" in text)
    _, text = run_dapkit("job", "where", "--rounds", "3", "--interval", "0.2", str(hanging))
    assert "rank 5 is a STRAGGLER: late in 3 rounds" in text
    assert "no member moved" in text
    code, text = run_dapkit("job", "where", "--rounds", "5", "--interval", "60", str(hanging))
    assert (code, "Give a timeout of 245" in text) == (2, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["4194303"], "process 4194303 does not exist"),
        (["no/such/folder"], "there is no job 'no/such/folder'"),
        ([], "no job is named"),
        (["1,x"], "there is no job '1,x'"),
    ],
)
def test_a_target_that_is_no_job_is_refused(words: list[str], reason: str, run_dapkit: Dapkit) -> None:
    code, text = run_dapkit("job", "where", *words)
    assert code == 2
    assert reason in text


def test_a_process_without_python_is_no_job(run_dapkit: Dapkit, start_job: Callable[..., int]) -> None:
    launcher = start_job("store", "sleep", "3600")
    children = until(lambda: Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split(), bool)
    until(lambda: Path(f"/proc/{children[0]}/comm").read_text(), lambda name: name == "sleep\n")
    code, text = run_dapkit("job", "where", children[0])
    assert (code, "runs Python" in text) == (2, True)


@pytest.fixture
def registered(start_job: Callable[..., int], tmp_path: Path) -> Path:
    """The folder of a job of 4 ranks that wait for rank 5, which there is not."""
    folder = tmp_path / "job"
    folder.mkdir(mode=0o700)
    program = tmp_path / "waits.py"
    program.write_text("import time\ntime.sleep(3600)\n")
    start_job("store", *wrapped(folder, program), ranks=4)
    until(lambda: read_all(folder), lambda all_of_them: len(all_of_them) == 4)
    return folder


def wrapped(folder: Path, *command: object) -> list[str]:
    return [sys.executable, "-m", "dapkit.cluster.run", "--job", str(folder), "--", *map(str, command)]


def look(folder: Path, via: str) -> JobStacks:
    return job_of(str(folder), folder, via=via).look()


def move_to_other_machine(folder: Path, ranks: set[int], host: str) -> None:
    for registration in read_all(folder):
        if registration["rank"] in ranks:
            file = next(folder.glob(f"{registration['rank']}-*.json"))
            write(folder, {**registration, "host": host})
            file.unlink()


def test_each_machine_is_read_by_the_users_command(registered: Path) -> None:
    move_to_other_machine(registered, {2, 3}, "n7")
    host_of_run = {registration["host"] for registration in read_all(registered)}
    assert host_of_run == {"n7", os.uname().nodename}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    via = f"env NODE={{host}} PATH={path}"
    stacks = until(lambda: look(registered, via), lambda stacks: len(stacks.groups[0].members) == 4)
    assert (stacks.sampled, stacks.most, stacks.failures) == (4, 0, {})


@pytest.mark.parametrize(
    ("via", "reason"),
    [
        ("", "is another machine: say how it is reached"),
        ("false {host}", "n7 has not answered (status 1)"),
        ("sh -c 'echo {{}}; cat' {host}", "n7 has answered something else"),
        ("no-such-command {host}", "no-such-command cannot be run"),
        ("sh -c 'sleep 3600' {host}", "n7 did not answer within 0.5 s"),
        ("sh -c 'kill -KILL $$' {host}", "n7 has not answered (status -9)"),
    ],
    ids=[
        "no command",
        "a command that fails",
        "garbage",
        "a missing command",
        "a machine that is silent",
        "a killed agent",
    ],
)
def test_a_machine_that_does_not_answer_is_named(
    registered: Path, via: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sleep" in via:
        monkeypatch.setattr("dapkit.cluster.limits.NODE_SECONDS", 0.5)
    move_to_other_machine(registered, {2}, "n7")
    stacks = until(lambda: look(registered, via), lambda stacks: stacks.most == 0)
    assert stacks.sampled == 3
    assert reason in stacks.failures["n7"]
    [unread] = [finding for finding in stacks.findings if finding.kind == FindingKind.UNREADABLE]
    assert (unread.members, unread.note) == (["2"], stacks.failures["n7"])


def test_a_job_that_has_ended_is_said_to_have_ended(
    start_job: Callable[..., int], run_dapkit: Dapkit, tmp_path: Path
) -> None:
    folder, program = tmp_path / "job", tmp_path / "ends.py"
    folder.mkdir(mode=0o700)
    program.write_text("")
    start_job("store", *wrapped(folder, program), ranks=2)
    text = until(
        lambda: run_dapkit("job", "where", str(folder))[1], lambda text: "No process of these members runs" in text
    )
    assert "Read 0 of 2 members" in text
    assert "ENDED" not in text  # each has done its work


def test_ranks_that_fail_are_named_after_the_end_of_the_job(
    start_job: Callable[..., int], run_dapkit: Dapkit, tmp_path: Path
) -> None:
    folder, program = tmp_path / "job", tmp_path / "fails.py"
    folder.mkdir(mode=0o700)
    program.write_text("import os\nif os.environ['RANK'] == '1':\n    raise ValueError('bad batch')\n")
    start_job("store", *wrapped(folder, program), ranks=2)
    text = until(
        lambda: run_dapkit("job", "where", str(folder))[1], lambda text: "No process of these members runs" in text
    )
    assert f"rank 1 ENDED: exit code 1: ValueError: bad batch at {program}:3" in text


def test_a_rank_that_is_killed_is_gone_and_a_restarted_one_replaced(
    start_job: Callable[..., int], tmp_path: Path
) -> None:
    folder, program = tmp_path / "job", tmp_path / "waits.py"
    folder.mkdir(mode=0o700)
    program.write_text("import time\ntime.sleep(3600)\n")
    start_job("store", *wrapped(folder, program), ranks=3, restarts=1)
    until(lambda: read_all(folder), lambda all_of_them: len(all_of_them) == 3)
    job = job_of(str(folder), tmp_path)
    os.kill(next(member.pid for member in job.members("1")), signal.SIGKILL)
    members = until(job.members, lambda members: sum(member.is_live for member in members) == 3 and len(members) == 6)
    assert sorted(member.name.partition("@")[0] for member in members if member.state == MemberState.REPLACED) == [
        "0",
        "1",
        "2",
    ]
    stacks = until(job.look, lambda stacks: stacks.most == 0)
    assert not [finding for finding in stacks.findings if finding.kind in (FindingKind.GONE, FindingKind.ENDED)]
