"""Two runs of a program, stop by stop."""

import re
from difflib import SequenceMatcher
from itertools import zip_longest

from dapkit.agent import limits
from dapkit.agent.results.run import ComparedRuns, RunResult, RunStop, StopDifference

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+|(?:(?<=[a-z] )\d{12,}|(?<=, started )\d+|(?<=, started daemon )\d+)(?=\)>)")
"""An address, or the id of a thread at the end of its text in Python."""


def compared_runs(first: RunResult, second: RunResult) -> ComparedRuns:
    """Compare two runs: their stops in order, their outputs and exit codes."""
    matcher = SequenceMatcher(None, [_key(stop) for stop in first.stops], [_key(stop) for stop in second.stops], False)  # noqa: FBT003 - `autojunk`
    differences: list[StopDifference] = []
    alike = 0
    for kind, begin, end, other_begin, other_end in matcher.get_opcodes():
        if kind == "equal":
            alike += end - begin
            continue
        pairs = zip_longest(first.stops[begin:end], second.stops[other_begin:other_end])
        for count, (one, other) in enumerate(pairs):
            differences.append(
                StopDifference(
                    before=min(begin + count, end),
                    first=[] if one is None else [one],
                    second=[] if other is None else [other],
                )
            )
    return ComparedRuns(
        snapshot=second.snapshot,
        stops=(len(first.stops), len(second.stops)),
        alike=alike,
        differences=differences[: limits.DIFFERENCES_SHOWN],
        more=max(len(differences) - limits.DIFFERENCES_SHOWN, 0),
        exit_codes=(first.exit_code, second.exit_code),
        problems=[*_problems("first", first), *_problems("second", second)],
        output_lines=_different_line(first.output, second.output),
    )


def _key(stop: RunStop) -> tuple[object, ...]:
    """Return all of a stop that is to be the same in both runs."""
    report = stop.stop
    frame = next((each for each in report.frames if each.index == (report.frame or 0)), None)
    place = None if frame is None else (frame.source and (frame.source.path or frame.source.name), frame.line)
    exception = None if report.exception is None else (report.exception.exception_id, report.exception.message)
    values = [
        (each.expression, each.problem, each.evaluation and (each.evaluation.result, each.evaluation.contents))
        for each in stop.values or ()
    ]
    rows = [] if stop.values else [(row.name, row.value, row.contents) for row in report.locals]
    return (place, report.reason, _ADDRESS.sub("0x", repr((exception, values, sorted(rows, key=repr)))))


def _different_line(first: str, second: str) -> tuple[str, str] | None:
    pairs = zip_longest(first.splitlines(), second.splitlines(), fillvalue="")
    return next(((one, other) for one, other in pairs if one != other), None)


def _problems(name: str, run: RunResult) -> list[str]:
    problems = [each.problem for each in run.breakpoints if each.problem is not None]
    if run.failure is not None:
        problems.append(run.failure)
    if run.seconds is not None:
        problems.append("it still ran when its time was over, and was ended")
    if run.limited is not None:
        problems.append(f"only its first {run.limited} stops are compared")
    return [f"{name} run: {problem}" for problem in problems]
