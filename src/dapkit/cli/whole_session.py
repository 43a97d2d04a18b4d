"""A session from launch to end, and its display.

The program is launched with its breakpoints; at each of them the expressions are evaluated and it goes on, until it
ends. A stop at an uncaught exception is shown with source, variables and stack. After as many stops as are to
be shown it runs on without any. One deadline holds for all of it. At the end, the outcome of each breakpoint is shown,
and a list of those that never took effect.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from dapkit import hub, limits
from dapkit.cli import exit_codes
from dapkit.cli.action_call import ActionAnswer, ask, unanswered
from dapkit.cli.display import as_json_text, coloured, complain
from dapkit.cli.stop_report import body_of, is_exit, is_failed_import, last_lines, place_of
from dapkit.hub.folder import project_of


@dataclass(frozen=True, slots=True)
class BreakpointOutcome:
    """One breakpoint at the end.

    Attributes:
        row: as the action `breakpoints` shows it.
        place: where it was asked for.

    """

    row: Mapping[str, Any]
    place: str

    @property
    def was_set(self) -> bool:
        """Whether the adapter has verified it."""
        return bool(self.row.get("verified"))

    @property
    def hits(self) -> int:
        """How often it was hit, as far as its adapter reports that."""
        return int(self.row.get("hits", 0))

    @property
    def logs(self) -> bool:
        """Whether it writes instead of stopping, which its adapter need not report as a hit."""
        return self.row.get("logMessage") is not None

    def problem(self, *, within: int | None = None) -> str | None:
        """Return the breakpoint's fault as text; None if it was hit at the requested place.

        Args:
            within: after how many stops the program no longer stopped, if it did not any more.

        """
        message = self.row.get("message")
        if not self.was_set:
            return f"{self.place} was not set{f': {message}' if message else ''}"
        if self.hits or self.logs:
            return None if "requestedLine" not in self.row else f"{self.place} was set on line {self.row['line']}"
        limited = "" if within is None else f" within the first {within} stops"
        return f"{self.place} was never hit{limited}: {f'{message}; ' if message else ''}{self._unmet}"

    def shown(self, *, within: int | None = None) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "breakpoint": self.place,
            "verified": self.was_set,
            "hits": self.hits,
            "problem": self.problem(within=within),
        }

    @property
    def _unmet(self) -> str:
        conditions = {"its condition": self.row.get("condition"), "its hit count": self.row.get("hitCondition")}
        texts = [f"{name} ({text})" for name, text in conditions.items() if text]
        reasons = [f"{' or '.join(texts)} was never met"] if texts else []
        reasons.append("the program did not come there")
        if "name" in self.row:
            reasons.append("has no such function")
        return ", or ".join(reasons)


def breakpoint_outcomes(details: Mapping[str, Any]) -> list[BreakpointOutcome]:
    """Read the result of the action `breakpoints`."""
    lines, functions = details.get("breakpoints", ()), details.get("functionBreakpoints", ())
    return [
        *(BreakpointOutcome(row, f"{row['path']}:{row.get('requestedLine', row['line'])}") for row in lines),
        *(BreakpointOutcome(row, str(row["name"])) for row in functions),
    ]


_COMMAND_MARK = "`"
"""First characters of a debugger command, see the action `evaluate`."""

_SILENT = "hub_silent"


class WholeSession:
    """One such session.

    Args:
        name: of the session.
        expressions: to be evaluated at each stop.
        most: how many stops are shown.
        lines: of the program's output that are shown, its last ones; 0 for all.
        seconds: until the program is ended.
        as_json: whether one object is printed at the end, and nothing before.

    """

    def __init__(
        self, name: str, expressions: tuple[str, ...], *, most: int, lines: int, seconds: float, as_json: bool
    ) -> None:
        self._name = name
        self._expressions = expressions
        self._most = most
        self._lines = lines
        self._has_filters = False  # the exceptions to stop at were chosen
        self._has_breakpoints = False
        self._hits: dict[str, int] = {}  # by place
        self._place = ""  # of the latest stop
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self._as_json = as_json
        self._stops: list[dict[str, object]] = []
        self._breakpoints: list[BreakpointOutcome] | None = None

    def run(self, launch: dict[str, object], *, own_input: str | None = None) -> int:
        """Carry out the whole session, and return the exit code; a signal that ends this process ends the session.

        The program reads `own_input`, unless `launch` names its input, or its adapter cannot redirect it.
        """
        try:
            with hub.hold_session(self._name, project=project_of(os.getcwd())):
                return self._run(launch, own_input)
        except hub.HubError as error:
            answer = unanswered("run", self._name, error)
            self._show_failure(answer)
            return exit_codes.code_of(answer)

    def _run(self, launch: dict[str, object], own_input: str | None) -> int:
        self._has_filters = bool(launch.get("exceptions"))
        self._has_breakpoints = bool(launch.get("breakpoints"))
        try:
            answer = self._launch(launch, own_input)
            if not answer["success"] and not self._is_late(answer):
                self._show_failure(answer)
                return exit_codes.code_of(answer)
            while True:
                if _status(answer) == "stopped":
                    answer = self._pass_stop(answer)
                elif _status(answer) == "running" and self._left > 0:
                    answer = self._proceed("wait", {})
                else:
                    return self._end(answer)
        finally:
            self._ask("terminate", {})

    def _pass_stop(self, answer: ActionAnswer) -> ActionAnswer:
        """Show a stop, and let the program go on; where it stops once more than is shown, it is not to stop again."""
        if self._has_filters or not is_exit(_stop(answer)):
            if len(self._stops) < self._most:
                self._show_stop(answer)
            elif self._breakpoints is None:
                self._breakpoints = self._outcomes()
                self._ask("breakpoints", {"do": "disable"})
                self._ask("set_exception_breakpoints", {"filters": []})
        return self._proceed("continue", {})

    # Asking

    def _launch(self, launch: dict[str, object], own_input: str | None) -> ActionAnswer:
        answer = self._proceed("launch", launch, stdin=own_input)
        details = answer.get("details")
        if isinstance(details, dict) and details.get("unreadInput") and not os.isatty(0):  # where perhaps no user types
            adapter = details.get("adapter")
            note = (
                f"Note: under {adapter} the program reads nothing; --stdin-file - chooses an adapter that has it read."
            )
            click.echo(note, err=True)
        return answer

    @property
    def _left(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def _proceed(self, action: str, arguments: dict[str, object], *, stdin: str | None = None) -> ActionAnswer:
        """Let the program continue, at most until the deadline."""
        seconds = self._left
        if seconds >= limits.ACTION_SECONDS_LEAST:
            return self._ask(action, {**arguments, "timeout": seconds}, stdin=stdin)
        return self._ask(action, arguments, patience=seconds, stdin=stdin)

    def _ask(
        self,
        action: str,
        arguments: dict[str, object],
        *,
        patience: float | None = None,
        stdin: str | None = None,
    ) -> ActionAnswer:
        return ask(action, arguments, session=self._name, patience=patience, stdin=stdin)

    def _is_late(self, answer: ActionAnswer) -> bool:
        """Whether there is no answer since the time is up."""
        return self._left <= 0 and _error(answer).get("code") == _SILENT

    def _outcomes(self) -> list[BreakpointOutcome]:
        details = self._ask("breakpoints", {}).get("details")
        return breakpoint_outcomes(details if isinstance(details, dict) else {})

    # Showing

    def _show_stop(self, answer: ActionAnswer) -> None:
        stop = _stop(answer)
        is_exception = _snapshot(answer).get("stopReason") == "exception"
        # Expressions are of the places with breakpoints: elsewhere their names mostly mean nothing.
        expressions = () if is_exception and self._has_breakpoints else self._expressions
        values = {
            expression: self._ask("evaluate", _evaluation(expression), patience=max(self._left, 1.0))
            for expression in expressions
        }
        record: dict[str, object] = {"stop": stop or None}
        if values:
            record["values"] = {
                expression: value.get("details", value.get("error")) for expression, value in values.items()
            }
        self._stops.append(record)
        if self._as_json:
            return
        lines = [f"{expression} = {_value(value)}" for expression, value in values.items()]
        where, is_again = self._where(place_of(stop))
        if is_again and lines and not is_exception and len("  ".join(lines)) <= limits.RUN_LINE_CHARACTERS:
            self._say(f"{where}: {'  '.join(lines)}")
            return
        self._say(f"hit {where}" if is_again else where)
        if is_exception or not values:
            self._say(body_of(str(answer["text"])))
        for line in lines:
            self._say(f"  {line}")
        if is_exception and is_failed_import(stop):
            interpreter = self._ask("evaluate", _evaluation("__import__('sys').executable"))
            self._say(f"Interpreter: {_value(interpreter)}; --python chooses another.")

    def _where(self, place: str) -> tuple[str, bool]:
        """Return the first line about a stop, with the hit that it is, and whether it is where the stop before was."""
        hits = self._hits[place] = self._hits.get(place, 0) + 1
        is_same, self._place = place == self._place, place
        if hits == 1:
            return place, False
        return (str(hits) if is_same else f"{place} (hit {hits})"), is_same

    def _end(self, answer: ActionAnswer) -> int:
        """Show the rest, and return the exit code."""
        failed = not answer["success"] and not self._is_late(answer)
        output, console = self._ask("output", {"category": "program"}), self._ask("output", {"category": "console"})
        limited = self._breakpoints is not None
        outcomes = self._outcomes() if self._breakpoints is None else self._breakpoints
        problems = [problem for each in outcomes if (problem := each.problem(within=self._most if limited else None))]
        late = not failed and _status(output) != "terminated"
        snapshot = {} if late else _snapshot(output)
        ended, killed_by = snapshot.get("exitCode"), snapshot.get("exitSignal")
        if self._as_json:
            self._print_json(
                None if not failed else answer,
                output=_output(output)[0],
                console=_output(console)[0],
                exitCode=ended,
                signal=killed_by,
                breakpoints=[each.shown(within=self._most if limited else None) for each in outcomes],
            )
        else:
            logs = any(each.logs for each in outcomes)
            self._show_output(*_output(output))
            if logs or problems or failed:
                self._section("From the debugger", *_output(console))
            self._section("Breakpoints", "\n".join(f"- {problem}" for problem in problems))
            if failed:
                complain(answer)
            else:
                self._say(self._too_late(_status(output)) if late else self._ending(ended, killed_by, limited=limited))
        if failed:
            return exit_codes.code_of(answer)
        if late:
            return exit_codes.TIMED_OUT
        if not isinstance(ended, int):
            return exit_codes.NOT_KNOWN
        if ended != 0:
            return ended
        return exit_codes.NOT_SET if any(not each.was_set for each in outcomes) else exit_codes.DONE

    def _show_failure(self, answer: ActionAnswer) -> None:
        if self._as_json:
            self._print_json(answer)
        else:
            complain(answer)

    def _too_late(self, status: object) -> str:
        what = "ran" if status in ("running", "stopped") else "had not begun"
        return f"The program still {what} when {self._seconds:g} s were over, and is ended. --timeout gives it more."

    def _ending(self, exit_code: object, killed_by: object, *, limited: bool) -> str:
        text = f"It ran on without stopping after stop {self._most}: --stops shows more.\n" if limited else ""
        if exit_code is None:
            return f"{text}The program has ended; whether it failed is not known: its adapter reports no exit code."
        return f"{text}Exit code: {exit_code}{f' ({killed_by})' if killed_by else ''}"

    def _show_output(self, text: str, characters: int) -> None:
        tail, lines = last_lines(text, self._lines)
        if lines:
            more = "more than " if characters else ""
            tail = f"({more}{lines} earlier lines left out; --output-lines 0 shows all)\n{tail}"
        self._section("Output", tail, 0 if lines else characters)

    def _section(self, title: str, text: str, left_out: int = 0) -> None:
        from dapkit.agent.text.escaping import printable

        before = f"({left_out} earlier characters left out)\n" if left_out else ""
        if text:
            self._say(f"{title}:\n{before}{printable(text)}" + ("" if text.endswith("\n") else "\n"))

    def _say(self, text: str) -> None:
        click.echo(coloured(text))

    def _print_json(self, failure: ActionAnswer | None, **more: object) -> None:
        whole = {"success": failure is None, "stops": self._stops, **more}
        if failure is not None:
            whole["error"] = failure.get("error")
        click.echo(as_json_text(whole))


def _snapshot(answer: ActionAnswer) -> dict[str, Any]:
    details = answer.get("details")
    snapshot = details.get("snapshot") if isinstance(details, dict) else None
    return snapshot if isinstance(snapshot, dict) else {}


def _stop(answer: ActionAnswer) -> dict[str, Any]:
    details = answer.get("details")
    stop = details.get("stop") if isinstance(details, dict) else None
    return stop if isinstance(stop, dict) else {}


def _status(answer: ActionAnswer) -> object:
    return _snapshot(answer).get("status")


def _error(answer: ActionAnswer) -> dict[str, Any]:
    error = answer.get("error")
    return error if isinstance(error, dict) else {}


def _evaluation(expression: str) -> dict[str, object]:
    """Ask for a value, never for a statement; only a debugger command is not a value."""
    arguments: dict[str, object] = {"expression": expression}
    return arguments if expression.startswith(_COMMAND_MARK) else {**arguments, "context": "watch"}


def _output(answer: ActionAnswer) -> tuple[str, int]:
    """Return the output, and the number of characters before it that are left out."""
    details = answer.get("details")
    if not isinstance(details, dict):
        return "", 0
    return str(details.get("output", "")), details.get("omitted", 0) + details.get("lost", 0)


def _value(answer: ActionAnswer) -> str:
    if not answer["success"]:
        return f"({_error(answer).get('message', answer.get('text'))})"
    from dapkit.agent.text.escaping import printable  # with it come all texts, which other commands do without
    from dapkit.agent.text.values import with_contents

    details = answer.get("details")
    evaluation = details.get("evaluation") if isinstance(details, dict) else None
    if not isinstance(evaluation, dict):
        return str(answer["text"])
    result, kind, contents = evaluation.get("result"), evaluation.get("type"), evaluation.get("contents")
    if contents is not None:
        return printable(with_contents(result or "", kind, contents))
    return printable(result or f"({kind})")  # gdb does not report values of structures
