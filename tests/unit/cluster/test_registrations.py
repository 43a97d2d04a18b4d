"""Registrations of members: what counts as one, and who may write them."""

import json
import os
import stat
from pathlib import Path

import pytest

from dapkit.cluster import MemberState, UnknownTarget
from dapkit.cluster.engines.folder import members_in
from dapkit.cluster.launcher_variables import rank_in
from dapkit.cluster.registrations import Registration, read_all, write

HERE = os.uname().nodename


def registration(rank: int, pid: int, *, started: float = 1e12, run: str = "1", host: str = HERE) -> Registration:
    return {
        "rank": rank,
        "size": 4,
        "run": run,
        "host": host,
        "pid": pid,
        "started": started,
        "command": "train.py",
        "socket": "",
        "restarts": 0,
    }


@pytest.mark.parametrize(
    ("variables", "rank", "size", "launcher"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8", "PMI_RANK": "0"}, 3, 8, "torchrun"),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, 2, 4, "Open MPI"),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, 1, 2, "MPICH"),
        ({"SLURM_PROCID": "7", "SLURM_NTASKS": "9"}, 7, 9, "Slurm"),
        ({"JOB_COMPLETION_INDEX": "5"}, 5, 0, "Kubernetes"),
    ],
)
def test_each_launcher_numbers_its_ranks(variables: dict[str, str], rank: int, size: int, launcher: str) -> None:
    answer = rank_in(variables)
    assert answer is not None
    assert (answer.rank, answer.size, answer.launcher) == (rank, size, launcher)


def test_a_variable_that_is_no_number_counts_as_none() -> None:
    assert rank_in({"RANK": "first", "PATH": "/bin"}) is None


def test_a_member_that_is_not_there_any_more_is_gone_or_has_ended(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    write(folder, registration(0, os.getpid()))
    write(folder, registration(1, 2**22 - 1))
    write(folder, registration(2, 2**22 - 2)).write_text('{"code": 3, "error": "ValueError: x"}')
    states = {member.name: (member.state, member.note) for member in members_in(folder)}
    assert states["0"] == (MemberState.RUNNING, "")
    assert states["1"][0] == MemberState.GONE
    assert states["2"] == (MemberState.ENDED, "exit code 3: ValueError: x")


def test_a_later_process_of_the_same_number_is_not_the_member(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    write(folder, registration(0, os.getpid(), started=1.0))
    assert [member.state for member in members_in(folder)] == [MemberState.GONE]


def test_a_rank_that_registers_again_replaces_the_earlier_one(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    write(folder, registration(1, 2**22 - 1, started=1e12))
    write(folder, registration(1, os.getpid(), started=1e12 + 1))
    members = {member.name: member for member in members_in(folder)}
    assert members["1"].state == MemberState.RUNNING
    assert members[f"1@{2**22 - 1}"].note == f"process {os.getpid()} has its rank now"


def test_members_of_an_earlier_run_are_not_shown(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    for rank in range(4):
        write(folder, registration(rank, 2**22 - 1 - rank, started=1.0, run="1"))
    write(folder, registration(0, os.getpid(), run="2"))
    assert [member.name for member in members_in(folder)] == ["0"]


def test_other_files_are_not_registrations(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    write(folder, registration(0, os.getpid()))
    (folder / "1.json").write_text("{")
    (folder / "2.json").write_text(json.dumps({"rank": "x"}))
    (folder / "3.json").symlink_to(folder / f"0-{HERE}-{os.getpid()}.json")
    os.mkfifo(folder / "4.json")
    (folder / "5.json").write_text(" " * 20_000)
    assert len(read_all(folder)) == 1


def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    write(folder, registration(0, os.getpid()))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    with pytest.raises(UnknownTarget, match="can be written by other users"):
        members_in(folder)


def test_an_empty_folder_is_no_job(tmp_path: Path) -> None:
    with pytest.raises(UnknownTarget, match="no process has registered"):
        members_in(tmp_path)
