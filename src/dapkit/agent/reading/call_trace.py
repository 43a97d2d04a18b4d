"""The lines of a call in the order in which they were carried out, each with its changes.

A trace is made from the places before each line: the changes of a line are seen at the next place of the same call.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.calls.session_notes import ShownValue
from dapkit.agent.results.trace import TraceRow
from dapkit.agent.results.values import VariableRow
from dapkit.protocol import changed
from dapkit.protocol.call_traces import TracedLine, TracedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePlace:
    """A line of a call before it is carried out.

    Attributes:
        level: calls between the traced one and this.
        values: the variables.
        arguments: those that are shown where a call begins.
        returned: values that calls of the line before have returned.

    """

    level: int
    line: int
    text: str
    function: str | None
    path: str | None
    values: Mapping[str, ShownValue]
    arguments: Sequence[VariableRow]
    returned: Sequence[VariableRow] = ()


def traced_place(line: TracedLine, before: Mapping[str, ShownValue]) -> TracePlace:
    """Return a place that our adapter has noted; `before` are the variables at the place before of the same call."""
    values = {**before, **{each.name: (each.value, each.fields) for each in line.variables}}
    return TracePlace(
        level=line.level,
        line=line.line,
        text=line.text,
        function=line.function,
        path=line.path,
        values=values,
        arguments=[row_of(name, value) for name, value in values.items()],
        returned=[_returned(each) for each in line.returned],
    )


def _returned(value: TracedValue) -> VariableRow:
    return row_of(value.name, (value.value, value.fields))


@dataclass
class TraceRows:
    """The rows of a trace that is being made.

    Attributes:
        rows: the lines that were carried out so far.
        place: of the line that comes next.

    """

    place: TracePlace
    rows: list[TraceRow] = field(default_factory=list)
    _values: dict[int, Mapping[str, ShownValue]] = field(default_factory=dict)
    _returned_before: Sequence[VariableRow] = ()  # debugpy shows them at further stops

    def __post_init__(self) -> None:
        """Note the variables at the beginning."""
        self._values[self.place.level] = self.place.values

    def values_before(self, level: int) -> Mapping[str, ShownValue]:
        """Return the variables at the place before of a call that goes on, at a level; none of one that begins."""
        return self._values.get(level, {}) if level <= self.place.level else {}

    @property
    def own_values(self) -> Mapping[str, ShownValue]:
        """The variables of the traced call itself, as they were seen last."""
        return self._values[0]

    def go_to(self, following: TracePlace) -> None:
        """Add the line that comes next, which has led to another place."""
        place, level = self.place, following.level
        is_same = level == place.level
        self._add(_changes(self._values[place.level], following.values) if is_same else [], following.returned)
        if level > place.level:
            self.rows.append(
                TraceRow(
                    level=level,
                    line=following.line,
                    function=following.function,
                    path=following.path,
                    changes=[*following.arguments] or None,
                )
            )
        elif not is_same and (changes := _changes(self._values.get(level, {}), following.values)):
            self.rows.append(TraceRow(level=level, line=0, changes=changes))
        self._values[level] = following.values
        self.place = following

    def end(self, returned: Sequence[VariableRow] = ()) -> None:
        """Add the line that comes next, which has led out of the call, or to no place that is known."""
        self._add([], returned)

    def _add(self, changes: list[VariableRow], reported: Sequence[VariableRow]) -> None:
        place = self.place
        new = [row for row in reported if row not in self._returned_before or _is_called(row, place.text)]
        returned = [row for row in new if not row.name.endswith("__init__")]
        self._returned_before = reported
        self.rows.append(
            TraceRow(
                level=place.level,
                line=place.line,
                text=place.text,
                changes=changes or None,
                returned=returned or None,
            )
        )


def _is_called(row: VariableRow, text: str) -> bool:
    """Whether a line names the function that has returned a value."""
    return row.name.rpartition(".")[2] in text


def _changes(before: Mapping[str, ShownValue], after: Mapping[str, ShownValue]) -> list[VariableRow]:
    rows = []
    for name, (value, contents) in after.items():
        earlier = before.get(name)
        same_contents = earlier is not None and (None in (earlier[1], contents) or earlier[1] == contents)
        if earlier is None or earlier[0] != value:
            rows.append(row_of(name, (value, contents)))
        elif not same_contents:
            rows.append(row_of(name, (value, _changed_members(earlier[1] or "", contents or ""))))
    return rows


def _changed_members(before: str, after: str) -> str:
    """Return the contents of an object with the members alone that have changed, in braces.

    >>> _changed_members("{a = 1, b = {2, 3}, c = 4}", "{a = 1, b = {2, 5}, c = 4}")
    '{b = {2, 5}}'
    """
    members = _members(before)
    new = [each for each in _members(after) if each not in members]
    return f"{{{', '.join(new)}}}" if new else after


def _members(contents: str) -> list[str]:
    """Split contents in braces at the commas that are in no brackets and no text."""
    return [match[0].strip() for match in _MEMBER.finditer(contents[1:-1])]


_MEMBER = re.compile(
    r"""(?: "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'                   # texts
          | \{[^{}]*(?:\{[^{}]*\}[^{}]*)*\} | \[[^\[\]]*\] | \([^()]*\)   # brackets
          | [^,"'{\[(] | ["'{\[(] )+""",
    re.VERBOSE,
)


def row_of(name: str, value: ShownValue) -> VariableRow:
    """Return a variable as a trace shows it."""
    text, length = shortened(value[0], limits.CUT_VALUE_CHARACTERS)
    return VariableRow(name=name, value=text, contents=value[1], length=length, variables_reference=0)


_DECIDES = re.compile(r"(?:\} *)?(?:if|elif|elsif|else if|while|unless|until)\b.*[:{]\s*$")
"""A line after which the next one tells which way it went: its body is below it."""


def with_branches(
    rows: Sequence[TraceRow], path: str | None, lines_of: Callable[[str], Sequence[str]]
) -> list[TraceRow]:
    """Say of each line that decides whether the next line of its call is in the body below it.

    Args:
        rows: the lines of a call in this file, and of calls below it in the files that their first rows name.
        path: the file; None if it is not known.
        lines_of: reads a file, nothing of one that cannot be read.

    """
    files = {0: path}
    result = []
    for index, row in enumerate(rows):
        if row.function is not None:
            files[row.level] = row.path
        following = next((each for each in rows[index + 1 :] if each.level <= row.level and each.line), None)
        if following is None or following.level < row.level or not _DECIDES.match(row.text.strip()):
            result.append(row)
        else:
            file = files.get(row.level)
            result.append(changed(row, branch=_is_in_body(row, following, [] if file is None else lines_of(file))))
    return result


def _is_in_body(row: TraceRow, following: TraceRow, source: Sequence[str]) -> bool | None:
    """Whether a line is in the body of one that decides, and not in one after it, as of `else`; None if unknown."""
    if following.line <= row.line or _indent(following.text) <= _indent(row.text):
        return False
    between = source[row.line : following.line - 1]
    if len(between) < following.line - 1 - row.line:
        return None
    return all(_indent(line) > _indent(row.text) for line in between if line.strip())


def _indent(text: str) -> int:
    expanded = text.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())
