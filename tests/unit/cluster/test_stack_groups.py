"""Equal stacks of many members are one group, whatever machine has sent them."""

import pytest

from dapkit.cluster import FindingKind, GroupedCall, Member, MemberGroup, MemberState
from dapkit.cluster.findings import absent_ranks, findings_of, majority, moving, with_stragglers
from dapkit.cluster.stack_groups import StackGroups, compared_calls, with_later_look
from dapkit.protocol import changed
from dapkit.python.stacks.threads import DumpedThread, Frame

MODULE = Frame("<module>", "/work/job.py", 30, is_own=True)


def thread(number: int, *frames: Frame, name: str = "", running: bool = False) -> DumpedThread:
    return DumpedThread(number, name, running, has_interpreter=False, frames=frames)


def group(line: int, *members: str, running: int = 0) -> MemberGroup:
    calls = [
        GroupedCall(function="step", file="/work/job.py", line=line, own=True),
        GroupedCall(function="<module>", file="/work/job.py", line=30, own=True),
    ]
    return MemberGroup(calls=calls, members=list(members), running=running)


def members(*names: str, size: int = 0) -> list[Member]:
    return [Member(name, int(name), "n0", int(name), size) for name in names]


def test_lines_of_libraries_are_not_compared() -> None:
    at = [Frame("wait", "/lib/python3.13/threading.py", line, is_own=False) for line in (5, 9)]
    own = Frame("step", "/work/job.py", 9, is_own=True)
    assert compared_calls([at[0], at[1], own]) == compared_calls([at[1], own])
    assert [call.line for call in compared_calls([at[0], own, MODULE])] == [0, 9, 30]


def test_function_that_a_wrapper_of_a_decorator_calls_is_shown() -> None:
    library = [
        Frame("wait", "/lib/work.py", 7, is_own=False),
        Frame("all_reduce", "/lib/collectives.py", 5, is_own=False),
        Frame("logged.<locals>.wrapper", "/lib/logger.py", 3, is_own=False),
    ]
    assert [call.function for call in compared_calls([*library, MODULE])] == ["all_reduce", "<module>"]
    callback = Frame("called", "/work/job.py", 8, is_own=True)
    calls = compared_calls([callback, library[2], MODULE])  # the wrapper has called own code
    assert [call.function for call in calls] == ["called", "logged.<locals>.wrapper", "<module>"]


def test_groups_of_machines_are_merged_by_their_calls() -> None:
    groups = StackGroups()
    for node in range(3):
        groups.merge([group(9, f"{10 * node}", f"{10 * node + 1}", running=1), group(9 + node, f"{10 * node + 2}")])
    merged = {(each.calls[0].line, each.running): each.members for each in groups.result()}
    assert merged == {(9, 3): ["0", "1", "2", "10", "11", "20", "21"], (10, 0): ["12"], (11, 0): ["22"]}


def test_threads_of_one_member_with_equal_stacks_count_once() -> None:
    groups = StackGroups()
    for number in (1, 2):
        groups.add("7", thread(number, MODULE, name=f"Thread-{number}"), is_main=False)
    assert [(each.thread, each.members) for each in groups.result()] == [("Thread", ["7"])]


def test_without_a_majority_nobody_is_late() -> None:
    groups = [group(9, "0", "1"), group(10, "2", "3")]
    assert majority(groups) is None
    assert findings_of(members("0", "1", "2", "3"), groups, problems={}, suspended=[], absent=[]) == []


def test_a_member_that_runs_is_late_and_said_to_run() -> None:
    groups = [group(9, "0", "1", "3"), group(10, "2", running=1)]
    [finding] = findings_of(members("0", "1", "2", "3"), groups, problems={}, suspended=[], absent=[])
    assert (finding.kind, finding.members, finding.note) == (FindingKind.LATE, ["2"], "runs")


def test_ended_members_are_named_only_while_others_run() -> None:
    ended = [Member("1", 1, "n0", 1, state=MemberState.ENDED, note="exit code 0")]
    assert findings_of(ended, [], problems={}, suspended=[], absent=[]) == []
    [finding] = findings_of([*members("0"), *ended], [group(9, "0")], problems={}, suspended=[], absent=[])
    assert (finding.kind, finding.note) == (FindingKind.ENDED, "exit code 0")


def test_a_rank_without_a_process_is_absent() -> None:
    assert absent_ranks(members("0", "1", "3", size=5)) == ["2", "4"]
    assert absent_ranks(members("0", "1")) == []


@pytest.mark.parametrize(
    ("late", "stragglers"),
    [(["2", "2", "2", "1", "2"], ["2"]), (["0", "1", "2", "3", "4"], []), (["2", "2", "0", "1", "3"], [])],
    ids=["one of them in most rounds", "another one in each round", "one of them in two of five"],
)
def test_a_straggler_is_late_in_most_rounds(late: list[str], stragglers: list[str]) -> None:
    names = [str(number) for number in range(6)]
    rounds = [[group(9, *(name for name in names if name != each)), group(4, each)] for each in late]
    findings = with_stragglers([], rounds)
    assert [finding.members[0] for finding in findings] == stragglers
    assert sorted(moving(rounds)) == sorted(set(late) if len(set(late)) > 1 else [])


def test_members_that_are_apart_are_where_a_later_look_finds_them() -> None:
    first = [group(9, "0", "1", "2"), group(10, "3", "4", "5", running=3)]
    later = [group(9, "3", running=1), group(11, "5")]
    groups = with_later_look(first, {"3", "4", "5"}, later)
    assert [(sorted(each.members), each.running) for each in groups] == [
        (["0", "1", "2", "3"], 1),
        (["4"], 1),  # the later look has not read it
        (["5"], 0),
    ]


def test_a_member_that_stays_in_the_kernel_is_named_after_others_have_left() -> None:
    first = [group(9, "0", "1", "2", "5", "6"), changed(group(10, "3", "4"), in_kernel=2)]
    later = [group(9, "3"), changed(group(10, "4"), in_kernel=1)]
    groups = with_later_look(first, {"3", "4"}, later)
    [finding] = findings_of(members(*"0123456"), groups, problems={}, suspended=[], absent=[])
    assert (finding.kind, finding.members) == (FindingKind.KERNEL, ["4"])
