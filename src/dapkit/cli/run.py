"""`dapkit run`: a whole small session in one call.

The program is launched with its breakpoints; at each stop the expressions are evaluated and it goes on, until it
ends or has stopped often enough. What stops it otherwise, such as an exception that nobody catches, is shown whole.
"""

import os
from typing import Any

import click

from dapkit import hub, limits
from dapkit.agent.table import PARAMETERS
from dapkit.cli import exit_codes, parameter_types
from dapkit.cli.action_call import ActionAnswer, ask, unanswered
from dapkit.cli.arguments import value_of
from dapkit.cli.display import coloured, complain
from dapkit.hub.project import project_of

_LAUNCH = ("breakpoints", "exceptions", "adapter", "cwd", "env", "stdin_file", "timeout")


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: dapkit run -b app.py:12 -e total -e 'len(items)' -- app.py --fast",
)
@click.argument("program", metavar="PROGRAM [ARGS]...")
@click.argument("args", nargs=-1, metavar="")
@click.option("-e", "--expression", "expressions", multiple=True, help="Evaluate this at each stop.")
@click.option(
    "--stops", type=click.IntRange(min=1), default=limits.RUN_STOPS, show_default=True, help="End after so many stops."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: stops, output, exitCode, signal.")
def run(
    *,
    program: str,
    args: tuple[str, ...],
    expressions: tuple[str, ...],
    stops: int,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the options of launch
) -> None:
    """Debug a program from start to end in one call, and show what it does at breakpoints.

    The program is ended when it has stopped often enough, or runs for longer than the timeout without a stop (exit
    code 7). The exit code is that of the program if it ended by itself.
    """
    launch = {
        name: value_of(PARAMETERS[name], value) for name, value in given.items() if value is not None and value != ()
    }
    launch = {"cwd": os.getcwd(), "stop_on_entry": False, **launch, "program": program, "args": list(args)}
    small = _SmallSession(f"run-{os.getpid()}", expressions, stops, as_json=as_json)
    raise click.exceptions.Exit(small.run(launch))


run.params += [parameter_types.option(name, PARAMETERS[name]) for name in _LAUNCH]


class _SmallSession:
    """A session from launch to end, and what is shown of it."""

    def __init__(self, name: str, expressions: tuple[str, ...], stops: int, *, as_json: bool) -> None:
        self._name = name
        self._expressions = expressions
        self._most = stops
        self._as_json = as_json
        self._stops: list[dict[str, object]] = []

    def run(self, launch: dict[str, object]) -> int:
        """Do all of it, and return the exit code; what ends this process ends the session."""
        try:
            with hub.hold_session(self._name, project=project_of(os.getcwd())):
                return self._run(launch)
        except hub.HubError as error:
            answer = unanswered("run", self._name, error)
            self._show_failure(answer)
            return exit_codes.code_of(answer)

    def _run(self, launch: dict[str, object]) -> int:
        timeout = {"timeout": launch["timeout"]} if "timeout" in launch else {}
        answer = self._ask("launch", launch)
        try:
            if _status(answer) == "running":  # a launch waits a few seconds only for the first stop
                answer = self._ask("wait", timeout)
            while _status(answer) == "stopped":
                self._shown_stop(answer)
                if len(self._stops) >= self._most:
                    break
                answer = self._ask("continue", timeout)
            return self._end(answer)
        finally:
            self._ask("terminate", {})

    def _ask(self, action: str, arguments: dict[str, object]) -> ActionAnswer:
        return ask(action, arguments, session=self._name)

    def _shown_stop(self, answer: ActionAnswer) -> None:
        values = {
            expression: self._ask("evaluate", {"expression": expression, "context": "watch"})
            for expression in self._expressions
        }
        details = answer["details"]
        self._stops.append(
            {"stop": details.get("stop") if isinstance(details, dict) else None}
            | (
                {
                    "values": {
                        expression: value.get("details", value.get("error")) for expression, value in values.items()
                    }
                }
                if values
                else {}
            )
        )
        if self._as_json:
            return
        snapshot = _snapshot(answer)
        if snapshot.get("stopReason") == "exception" or not values:
            self._say(str(answer["text"]))
        else:
            source = snapshot.get("source")
            path = source.get("path") if isinstance(source, dict) else "?"
            self._say(f"{path}:{snapshot.get('line')} in {snapshot.get('frameName')}")
        for expression, value in values.items():
            self._say(f"  {expression} = {_value(value)}")

    def _end(self, answer: ActionAnswer) -> int:
        if not answer["success"]:
            self._show_failure(answer)
            return exit_codes.code_of(answer)
        output = self._ask("output", {})
        snapshot = _snapshot(output)
        ended = snapshot.get("exitCode")
        if self._as_json:
            self._print_json(answer, output=output)
        else:
            if str(output["text"]):
                self._say("Output:\n" + str(output["text"]))
            self._say(self._ending(snapshot))
        if isinstance(ended, int):
            return ended
        return exit_codes.TIMED_OUT if _status(answer) == "running" else exit_codes.DONE

    def _show_failure(self, answer: ActionAnswer) -> None:
        if self._as_json:
            self._print_json(answer)
        else:
            complain(answer)

    def _ending(self, snapshot: dict[str, Any]) -> str:
        if (code := snapshot.get("exitCode")) is not None:
            killed_by = snapshot.get("exitSignal")
            return f"Exit code: {code}" + (f" ({killed_by})" if killed_by else "")
        if snapshot.get("status") == "terminated":
            return "The program has ended; its adapter did not report an exit code."
        if snapshot.get("status") == "running":
            return "The program still ran when the time was up, and is ended. --timeout gives it more."
        return f"The program is ended after {len(self._stops)} stops; --stops allows more."

    def _say(self, text: str) -> None:
        click.echo(coloured(text))

    def _print_json(self, answer: ActionAnswer, *, output: ActionAnswer | None = None) -> None:
        import json

        details = output.get("details") if output else None
        whole = {"success": answer["success"], "stops": self._stops}
        if isinstance(details, dict):
            snapshot = _snapshot(output or answer)
            whole |= {
                "output": details.get("output"),
                "exitCode": snapshot.get("exitCode"),
                "signal": snapshot.get("exitSignal"),
            }
        if not answer["success"]:
            whole["error"] = answer.get("error")
        click.echo(json.dumps(whole, ensure_ascii=False))


def _snapshot(answer: ActionAnswer) -> dict[str, Any]:
    details = answer.get("details")
    snapshot = details.get("snapshot") if isinstance(details, dict) else None
    return snapshot if isinstance(snapshot, dict) else {}


def _status(answer: ActionAnswer) -> object:
    return _snapshot(answer).get("status")


def _value(answer: ActionAnswer) -> str:
    if not answer["success"]:
        error = answer.get("error")
        return f"({error.get('message') if isinstance(error, dict) else answer.get('text')})"
    from dapkit.agent.text.escaping import printable  # with it come all texts, which other commands do without

    details = answer.get("details")
    evaluation = details.get("evaluation") if isinstance(details, dict) else None
    if not isinstance(evaluation, dict):
        return str(answer["text"])
    return printable(
        evaluation.get("result") or f"({evaluation.get('type')})"
    )  # gdb does not report values of structures
