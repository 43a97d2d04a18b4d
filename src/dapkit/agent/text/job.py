"""Text of a job's stacks: members that are late first, then the groups, each with its own code. At most a page."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.results.session import JobReleased
from dapkit.agent.text.escaping import one_line, render
from dapkit.cluster import FindingKind, GroupedCall, JobFinding, JobStacks, JobStops, MemberGroup, StopGroup, set_text
from dapkit.cluster.stack_groups import MAIN

_OF_THE_END = (FindingKind.ENDED, FindingKind.GONE)


@render.register
def _(result: JobStacks) -> str:
    return "\n".join(_lines(result))


@render.register
def _(result: JobStops) -> str:
    return "\n".join(_stop_lines(result))


@render.register
def _(result: JobReleased) -> str:
    return f"Released {_count(result.members, 'member')} of job {one_line(result.target)}."


def _stop_lines(result: JobStops) -> Iterator[str]:
    files = _Names(call.file for group in result.groups for call in group.calls if call.own)
    for breakpoint in result.breakpoints:
        condition = f" if {one_line(breakpoint.condition)}" if breakpoint.condition else ""
        subset = "" if breakpoint.members == "all" else f" of {one_line(breakpoint.members)}"
        problem = f"; not in others: {one_line(breakpoint.problem)}" if breakpoint.problem else ""
        place = f"{one_line(breakpoint.path.rpartition('/')[2])}:{breakpoint.line}"
        yield f"Breakpoint {place}{condition}: set in {_count(breakpoint.verified, 'member')}{subset}{problem}"
    for group in result.groups[: limits.JOB_GROUPS]:
        yield f"{_members(group.members, ranked=result.ranked)} stopped ({one_line(group.reason)})"
        yield from _stack(group.calls, files)
        yield from _values(group)
    if len(result.groups) > limits.JOB_GROUPS:
        further = result.groups[limits.JOB_GROUPS :]
        yield f"(and {len(further)} more groups, of {sum(len(group.members) for group in further)} members)"
    if result.running:
        yield f"{_members(result.running, ranked=result.ranked)} {'runs' if len(result.running) == 1 else 'run'}"
    for reasons in (result.ended, result.problems):
        together: dict[str, list[str]] = {}
        for name, reason in reasons.items():
            together.setdefault(reason, []).append(name)
        for reason, names in together.items():
            yield f"{_members(names, ranked=result.ranked)}: {one_line(reason)}"
    yield from map(one_line, result.notes[: limits.JOB_GROUPS])


def _values(group: StopGroup) -> Iterator[str]:
    if group.values:
        whose = f" in {one_line(group.representative)}" if len(group.members) > 1 else ""
        yield f"  locals{whose}: {', '.join(f'{one_line(each.name)} = {_short(each.value)}' for each in group.values)}"
    for expression, rows in groupby(group.answers, lambda each: each.evaluate_name):
        answers = list(rows)
        for answer in answers[: limits.JOB_ANSWERS]:
            members = f"  ({one_line(set_text(answer.members))})" if len(answers) > 1 else ""
            yield f"  {one_line(expression)} = {_short(answer.value)}{members}"
        if len(answers) > limits.JOB_ANSWERS:
            yield f"  (and {len(answers) - limits.JOB_ANSWERS} more values of {one_line(expression)})"


def _short(value: str) -> str:
    return shortened(one_line(value), limits.JOB_VALUE)[0]


def _lines(result: JobStacks) -> Iterator[str]:
    files = _Names(call.file for group in result.groups for call in group.calls if call.own)
    hosts = one_line(result.hosts[0]) if len(result.hosts) == 1 else f"{len(result.hosts)} machines"
    times = "" if result.rounds == 1 else f" in the last of {result.rounds} rounds"
    unread = "" if result.sampled == result.members else f" {result.sampled} of"
    members = _count(result.members, "member")
    yield f"Read{unread} {members} on {hosts} in {result.seconds:.2f} s{times}; none was stopped"
    shown_stacks: set[tuple[object, ...]] = set()
    for finding in result.findings[: limits.JOB_FINDINGS]:
        yield from _finding(finding, files, ranked=result.ranked)
        shown_stacks.add((tuple(finding.members), tuple(finding.calls)))
    if len(result.findings) > limits.JOB_FINDINGS:
        yield f"(and {len(result.findings) - limits.JOB_FINDINGS} more findings)"
    others = [
        (index, group)
        for index, group in enumerate(result.groups)
        if (tuple(group.members), tuple(group.calls)) not in shown_stacks
    ]
    for index, group in others[: limits.JOB_GROUPS]:
        yield from _group(group, files, is_most=index == result.most, ranked=result.ranked)
    if len(others) > limits.JOB_GROUPS:
        further = others[limits.JOB_GROUPS :]
        yield f"(and {len(further)} more groups, of {sum(len(group.members) for _, group in further)} members)"
    yield from _remarks(result)


def _remarks(result: JobStacks) -> Iterator[str]:
    mains = [group for group in result.groups if group.thread == MAIN]
    if not mains and all(finding.kind in _OF_THE_END for finding in result.findings):
        yield "No process of these members runs: all have ended, or were killed."
        return
    if result.moving:
        yield f"Between the rounds {_count(len(result.moving), 'member')} moved: {set_text(result.moving)}"
    elif result.rounds > 1:
        yield "Between the rounds no member moved."
    if len(mains) > 1 and result.most < 0:
        yield "No place has more than half of the members: which of them are late is not known."
    if (
        result.rounds > 1
        and result.most >= 0
        and not any(each.kind == FindingKind.STRAGGLER for each in result.findings)
    ):
        yield "No member was late in most rounds: there is no straggler among them."
    yield from _waits(result)
    yield from map(one_line, result.notes[: limits.JOB_GROUPS])


def _waits(result: JobStacks) -> Iterator[str]:
    if result.waits is None:
        yield "Which member waits for which is not known: the launcher does not tell."
        return
    for wait in result.waits[: limits.JOB_GROUPS]:
        others = f" and {wait.count - 1} more" if wait.count > 1 else ""
        doer = f", which member {one_line(wait.member)} runs" if wait.member else ""
        since = f" since {wait.seconds:.0f} s" if wait.seconds else ""
        yield f"Waiting{since}: {one_line(wait.waiting)}{others} for {one_line(wait.on)}{doer}"
    if not result.waits:
        yield "By the engine no work waits for another."


def _finding(finding: JobFinding, files: "_Names", *, ranked: bool) -> Iterator[str]:
    yield f"{_members(finding.members, ranked=ranked)} {_reason(finding)}"
    yield from _stack(finding.calls, files)


def _reason(finding: JobFinding) -> str:
    """Return the reason for a finding, as the end of a sentence about its members."""
    note, one = one_line(finding.note), len(finding.members) == 1
    are, wait = ("is", "waits") if one else ("are", "wait")
    reasons = {
        FindingKind.GONE: f"{are} GONE: {note}",
        FindingKind.ENDED: f"ENDED: {note}",
        FindingKind.ABSENT: f"{are} ABSENT: no process has this rank, and {note}",
        FindingKind.UNREADABLE: f"NOT READ: {note}",
        FindingKind.SUSPENDED: f"{are} SUSPENDED by a signal (kill -CONT lets it continue)",
        FindingKind.TEARDOWN: f"{are} in TEARDOWN: the program's code has ended, the process has not"
        + (f" ({note})" if note else ""),
        FindingKind.KERNEL: f"{are} in a call of the SYSTEM that cannot be interrupted, such as one to a disk",
        FindingKind.INTERPRETER: f"{wait}, and thread {note} held the INTERPRETER's lock (GIL) at that moment",
        FindingKind.LATE: f"{are} LATE: elsewhere than most{f', and {note}' if note else ''}",
        FindingKind.STOPPED: f"{are} STOPPED by a breakpoint or a step of dapkit; job continue goes on",
        FindingKind.STRAGGLER: f"is a STRAGGLER: late in {finding.rounds} rounds",
    }
    return reasons[FindingKind(finding.kind)]


def _group(group: MemberGroup, files: "_Names", *, is_most: bool, ranked: bool) -> Iterator[str]:
    thread = "" if group.thread == MAIN else f", thread {one_line(group.thread)}"
    size = len(group.members)
    activity = (
        f", {group.running} of them running" if 0 < group.running < size else ", running" if group.running else ""
    )
    most = " (most)" if is_most else ""
    yield f"{_members(group.members, ranked=ranked)}{thread}{most}{activity}"
    yield from _stack(group.calls, files)


def _stack(calls: Sequence[GroupedCall], files: "_Names") -> Iterator[str]:
    own = [call for call in calls if call.own]
    if not own:
        names = " < ".join(f"{one_line(call.function)} ({one_line(call.file.rpartition('/')[2])})" for call in calls)
        if names:
            yield f"  (no own code) {names}"
        return
    if not calls[0].own:
        yield f"  {one_line(calls[0].function)} ({one_line(calls[0].file.rpartition('/')[2])})"
    for call in own[: limits.JOB_FRAMES]:
        yield f"  {one_line(call.function)} @ {one_line(files.short(call.file))}:{call.line}"
    if len(own) > limits.JOB_FRAMES:
        yield f"  (and {len(own) - limits.JOB_FRAMES} more frames)"


def _members(names: Sequence[str], *, ranked: bool) -> str:
    if len(names) == 1:
        noun = "" if not names[0].isdecimal() else "rank " if ranked else "member "
        return f"- {noun}{one_line(names[0])}"
    return f"- {len(names)} members {one_line(set_text(names))}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class _Names:
    """Names of source files: the last part, where that means one file alone."""

    def __init__(self, files: Iterator[str]) -> None:
        of_name: dict[str, set[str]] = {}
        for file in files:
            of_name.setdefault(file.rpartition("/")[2], set()).add(file)
        self._of_name = of_name

    def short(self, file: str) -> str:
        name = file.rpartition("/")[2]
        return name if len(self._of_name.get(name, ())) < 2 else file
