"""Two stops of a session, compared by their reports."""

from collections.abc import Iterator

from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.program_output import written
from dapkit.agent.calls.session_notes import ShownValue, StopNote
from dapkit.agent.reading.report import last_output
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.session import ChangedVariable, StopDiff
from dapkit.agent.results.values import VariableRow


def stop_diff(call: ActionCall, first: int | None, second: int | None) -> StopDiff:
    """Compare two stops. Raises: InvalidArguments: one of them is not kept."""
    stops = call.remembered.stops
    later = _stop(stops, max(stops, default=0) if second is None else second)
    before = max((number for number in stops if number < later.number), default=0)
    earlier = _stop(stops, before if first is None else first)
    changes = [*_changes(earlier, later)]
    after_both = written(call.session, "program", since=later.output_end).text
    between = written(call.session, "program", since=earlier.output_end).text.removesuffix(after_both)
    return StopDiff(
        snapshot=snapshot(call.session),
        first=_title(earlier),
        second=_title(later),
        changes=changes,
        same=len(earlier.variables.keys() & later.variables.keys()) - sum(_in_both(change) for change in changes),
        other_function=earlier.function != later.function,
        output=last_output(between),
        output_since=earlier.output_end,
    )


def _stop(stops: dict[int, StopNote], number: int) -> StopNote:
    if number in stops:
        return stops[number]
    numbers = ", ".join(map(str, sorted(stops)[-20:])) or "none"
    raise InvalidArguments(
        f"there is no stop {number} to compare" if number else "there are no two stops to compare",
        hint=f"Stops that a report has shown: {numbers}.",
    )


def _title(stop: StopNote) -> str:
    return f"Stop {stop.number} ({stop.where} in {stop.function})"


def _in_both(change: ChangedVariable) -> bool:
    return change.before is not None and change.after is not None


def _changes(earlier: StopNote, later: StopNote) -> Iterator[ChangedVariable]:
    for name in [*later.variables, *(name for name in earlier.variables if name not in later.variables)]:
        before, after = earlier.variables.get(name), later.variables.get(name)
        if before is None or after is None or _differ(before, after):
            yield ChangedVariable(name=name, before=_row(name, before), after=_row(name, after))


def _differ(before: ShownValue, after: ShownValue) -> bool:
    """Whether two values differ; contents that only one report has shown are not compared."""
    if before[0] != after[0]:
        return True
    return None not in (before[1], after[1]) and before[1] != after[1]


def _row(name: str, value: ShownValue | None) -> VariableRow | None:
    return None if value is None else VariableRow(name=name, value=value[0], contents=value[1], variables_reference=0)
