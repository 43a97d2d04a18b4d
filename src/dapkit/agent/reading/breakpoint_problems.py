"""Why a breakpoint has had no effect, or another one than was asked for."""

from dapkit.agent.breakpoint_forms.rows import function_breakpoints, source_breakpoints
from dapkit.agent.results.breakpoints import BreakpointRow, FunctionBreakpointRow, SourceBreakpointRow
from dapkit.sessions.breakpoints.kept import KeptBreakpoint


def asked_place(row: SourceBreakpointRow | FunctionBreakpointRow) -> str:
    """Return where a breakpoint was asked for."""
    return row.name if isinstance(row, FunctionBreakpointRow) else f"{row.path}:{row.requested_line or row.line}"


def problem_of(row: SourceBreakpointRow | FunctionBreakpointRow, *, within: int | None = None) -> str | None:
    """Return the fault of a breakpoint as text; None if it was hit at the requested place.

    Args:
        row: of the breakpoint.
        within: after how many stops the program no longer stopped, if it did not any more.

    """
    place = asked_place(row)
    if not row.verified:
        return f"{place} was not set{f': {row.message.removeprefix("not set: ")}' if row.message else ''}"
    if row.hits or row.log_message is not None:
        if isinstance(row, SourceBreakpointRow) and row.requested_line is not None:
            return f"{place} was set on line {row.line}"
        return f"{place}: {row.message}" if row.message is not None and "condition" in row.message else None
    limited = "" if within is None else f" within the first {within} stops"
    return f"{place} was never hit{limited}: {f'{row.message}; ' if row.message else ''}{_unmet(row)}"


def problem_of_kept(breakpoint_: KeptBreakpoint) -> str | None:
    """Return the fault of a breakpoint of a session as text."""
    rows: list[SourceBreakpointRow | FunctionBreakpointRow] = [*source_breakpoints([breakpoint_])]
    rows += function_breakpoints([breakpoint_])
    return next((problem for row in rows if (problem := problem_of(row)) is not None), None)


def _unmet(row: BreakpointRow) -> str:
    conditions = {"its condition": row.condition, "its hit count": row.hit_condition}
    texts = [f"{name} ({text})" for name, text in conditions.items() if text]
    reasons = [f"{' or '.join(texts)} was never met"] if texts else []
    reasons.append("the program did not come there")
    if isinstance(row, FunctionBreakpointRow):
        reasons.append("has no such function")
    return ", or ".join(reasons)
