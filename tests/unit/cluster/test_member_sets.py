"""Sets of members as texts, and members as short texts."""

import pytest

from dapkit.cluster import Member, MemberState, WrongSet, set_text
from dapkit.cluster.member_sets import select

RANKS = [
    Member(
        str(rank), rank, f"n{rank % 2}", 100 + rank, 16, state=MemberState.STOPPED if rank == 3 else MemberState.RUNNING
    )
    for rank in range(16)
]
WORKERS = [Member(name, -1, "n0", 7) for name in ("tcp://n0:1", "worker-a")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("all", "0-15"),
        ("", "0-15"),
        ("3", "3"),
        ("0-3, 9", "0-3,9"),
        ("14-40", "14-15"),
        ("rank % 8 == 0", "0,8"),
        ("host == 'n1' and rank > 11", "13,15"),
        ("not (rank < 14) or rank in (2, 3)", "2-3,14-15"),
        ("2 <= rank < 5", "2-4"),
        ("state == 'stopped'", "3"),
        ("rank - size == -1", "15"),
    ],
)
def test_a_set_selects_its_members(text: str, names: str) -> None:
    assert set_text(member.name for member in select(RANKS, text)) == names


def test_members_without_ranks_are_named() -> None:
    assert [member.name for member in select(WORKERS, "tcp://n0:1")] == ["tcp://n0:1"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("16", "the job has no member 16: it has 0-15"),
        ("20-30", "the job has no member 20-30"),
        ("rank +", "is not a set of members"),
        ("__import__('os').system('true')", "is not a set of members"),
        ("rank.real + 1", "is not a set of members"),
        ("host * 100", "is not a set of members"),
        ("rank % 0 == 1", "cannot be computed"),
        ("rank < 'a'", "cannot be computed"),
        ("2 ** 99999999", "is not a set of members"),
    ],
)
def test_another_text_is_refused_and_not_run(text: str, reason: str) -> None:
    with pytest.raises(WrongSet, match=reason):
        select(RANKS, text)


def test_a_set_is_shown_as_ranges_and_cut() -> None:
    assert set_text(["3", "1", "2", "7", "b", "a"]) == "1-3,7,a,b"
    assert set_text(str(number) for number in range(0, 40, 2)) == "0,2,4,6,8,10,12,14,16,18,20,22,... (20 in all)"
