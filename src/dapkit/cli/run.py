"""`dapkit run`: a whole small session in one call.

The hub does the work (`dapkit.agent.actions.run`) and sends the text of each stop as it comes. This module decides the
meaning of the words, and the exit code.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from dapkit import limits
from dapkit.agent.table import PARAMETERS
from dapkit.cli import exit_codes, parameter_types
from dapkit.cli.action_call import ActionAnswer, ask
from dapkit.cli.arguments import value_of
from dapkit.cli.common_options import note_our_options
from dapkit.cli.display import as_json_text, coloured, complain, show
from dapkit.cli.module_option import module_apart
from dapkit.cli.own_input import STANDS_FOR_IT, input_to_pass_on, path_of_own_input
from dapkit.cli.whole_program import usual_seconds

_LAUNCH = ("breakpoints", "exceptions", "module", "test", "adapter", "cwd", "env", "stdin_file", "source_map", "python")

_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
"""How a variable of the environment begins."""

_ORDER = "dapkit.cli.run.order"
"""Names of the breakpoints and expressions of the command line, in their order."""


class _RunCommand(click.Command):
    """A command that knows which expression stands after which breakpoint."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words, and remember their order."""
        args = args if "--compare" in args else module_apart(self, ctx, args)
        _, _, order = self.make_parser(ctx).parse_args([*args])
        ctx.meta[_ORDER] = [param.name for param in order if param.name in ("breakpoints", "expressions")]
        return super().parse_args(ctx, args)


@click.command(
    cls=_RunCommand,
    context_settings={"allow_interspersed_args": False},
    epilog="Example: dapkit run -b 'app.py:12 if n > 9' -e n -e 'len(items)' --stops 3 app.py --fast",
)
@click.argument("words", metavar="PROGRAM [ARGS]...", nargs=-1)
@click.option(
    "-e",
    "--expression",
    "expressions",
    multiple=True,
    help="Evaluate this at the -b before it, or at all; in the program, which it can change.",
)
@click.option(
    "--stops",
    type=click.IntRange(min=1),
    default=limits.RUN_STOPS,
    show_default=True,
    help="Show so many stops; then the program runs to its end without stopping.",
)
@click.option(
    "--output-lines",
    type=click.IntRange(min=0),
    default=limits.RUN_OUTPUT_LINES,
    show_default=True,
    help="Show so many last lines of the output; 0 for all.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds for all of it; the setting request.timeout_seconds says how many by default.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Run PROGRAM ... -- PROGRAM ..., and show only the stops that differ; NAME=VALUE before one sets a variable.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: stops, output, exitCode, signal, breakpoints."
)
def run(
    *,
    words: tuple[str, ...],
    expressions: tuple[str, ...],
    stops: int,
    output_lines: int,
    timeout: float | None,
    compare: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the options of launch
) -> None:
    """Debug a program from start to end in one call, and show its state at breakpoints.

    The program reads our standard input, if that is a pipe, a file or a terminal.

    An -e after a -b, or after several of them, is evaluated at these; one before all of them at each. If all of them
    come after the last -b, they are evaluated at each, too.

    A program that still runs when the time is up is ended: exit code 7. A breakpoint that could not be set is named
    at the end: exit code 10, unless the program itself failed. Otherwise the exit code is the program's. Breakpoints
    that were set and never hit are named too.
    """
    context = click.get_current_context()
    arguments = {
        name: value_of(PARAMETERS[name], value) for name, value in values.items() if value is not None and value != ()
    }
    if compare:
        arguments |= {"stops": stops, "timeout": usual_seconds() if timeout is None else timeout}
        raise click.exceptions.Exit(_compare(words, arguments, expressions, context, as_json=as_json))
    program, args = (None, words) if arguments.keys() & {"module", "test"} else (next(iter(words), None), words[1:])
    if program is None and not arguments.keys() & {"module", "test"}:
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    note_our_options(args, context.command)
    places, everywhere = _belonging(context.meta[_ORDER], arguments.pop("breakpoints", []), expressions)
    seconds = usual_seconds() if timeout is None else timeout
    arguments = {
        "cwd": os.getcwd(),
        **arguments,
        "args": list(args),
        "breakpoints": places,
        "expressions": everywhere,
        "stops": stops,
        "output_lines": output_lines,
        "timeout": seconds,
    }
    if program is not None:
        arguments["program"] = program
    if arguments.get("stdin_file") in STANDS_FOR_IT:
        arguments["stdin_file"] = path_of_own_input()
    answer = ask(
        "run",
        arguments,
        session=f"run-{os.getpid()}",
        patience=seconds + limits.HUB_CALL_SECONDS,
        stdin=input_to_pass_on(),
        on_part=None if as_json else _say,
    )
    raise click.exceptions.Exit(_finished(answer, as_json=as_json))


run.params += [parameter_types.option(name, PARAMETERS[name]) for name in _LAUNCH]


def _compare(
    words: Sequence[str],
    arguments: dict[str, object],
    expressions: Sequence[str],
    context: click.Context,
    *,
    as_json: bool,
) -> int:
    """Run two programs, and show the differences; the exit code is 1 if there are any."""
    if "--" not in words:
        raise click.UsageError("--compare needs two programs with -- between them: PROGRAM ... -- PROGRAM ...", context)
    at = words.index("--")
    first, second = (_with_variables(part, context) for part in (words[:at], words[at + 1 :]))
    env = arguments.pop("env", {})
    places, everywhere = _belonging(context.meta[_ORDER], arguments.pop("breakpoints", []), expressions)
    first["env"] = {**(env if isinstance(env, dict) else {}), **first["env"]}
    second["env"] = {**(env if isinstance(env, dict) else {}), **second["env"]}
    if context.get_parameter_source("stops") is ParameterSource.DEFAULT:
        del arguments["stops"]  # which has another default there
    common = {"cwd": os.getcwd(), **arguments, "breakpoints": places, "expressions": everywhere}
    seconds = float(str(arguments["timeout"])) + limits.HUB_CALL_SECONDS
    name = f"run-{os.getpid()}"
    answer = ask("compare_runs", {**common, **first, "other": second}, session=name, patience=seconds)
    show(answer, as_json=as_json)
    if not answer["success"]:
        return exit_codes.code_of(answer)
    details = answer.get("details")
    if not isinstance(details, dict):
        return exit_codes.FAILED
    codes = details["exitCodes"]
    differs = details["differences"] or details.get("outputLines") is not None or codes[0] != codes[1]
    return exit_codes.FAILED if differs else exit_codes.DONE


def _with_variables(words: Sequence[str], context: click.Context) -> dict[str, Any]:
    """Read a program with its arguments, and the variables before it."""
    count = next((at for at, word in enumerate(words) if not _VARIABLE.match(word)), len(words))
    if count == len(words):
        raise click.UsageError("--compare: there is no program before or after --", context)
    variables = dict(word.split("=", 1) for word in words[:count])
    return {"env": variables, "program": words[count], "args": [*words[count + 1 :]]}


def _belonging(order: Sequence[str], breakpoints: object, expressions: Sequence[str]) -> tuple[list[object], list[str]]:
    """Say which expressions belong to which breakpoints, and which to all of them."""
    places = iter(breakpoints if isinstance(breakpoints, list) else [])
    texts = iter(expressions)
    groups: list[tuple[list[object], list[str]]] = [([], [])]
    for name in order:
        if name == "breakpoints":
            if groups[-1][1]:
                groups.append(([], []))
            groups[-1][0].append(next(places))
        else:
            groups[-1][1].append(next(texts))
    if len(groups) == 1:
        return groups[0]
    everywhere = [] if groups[0][0] else groups.pop(0)[1]
    return [_with_expressions(place, own) for of_group, own in groups for place in of_group], everywhere


def _with_expressions(place: object, expressions: list[str]) -> dict[str, object]:
    fields = place if isinstance(place, dict) else {"breakpoint": place}
    return {**fields, "expressions": expressions}


def _finished(answer: ActionAnswer, *, as_json: bool) -> int:
    """Show the rest of an answer, and return the exit code."""
    details = answer.get("details")
    details = details if isinstance(details, dict) else {}
    if as_json:
        empty: dict[str, object] = {"stops": [], "output": "", "console": "", "exitCode": None, "signal": None}
        rows = [{"problem": None, **row} for row in details.get("breakpoints", [])]
        whole = {"success": answer["success"], **empty, **details, "breakpoints": rows}
        click.echo(as_json_text(whole if answer["success"] else {**whole, "error": answer.get("error")}))
    elif not answer["success"]:
        complain(answer)
    if details.get("unreadInput") and not os.isatty(0):  # where perhaps no user types
        adapter = details["snapshot"]["adapter"]
        note = f"Note: under {adapter} the program reads nothing; --stdin-file - chooses an adapter that has it read."
        click.echo(note, err=True)
    return _exit_code(details) if answer["success"] else exit_codes.code_of(answer)


def _exit_code(details: Mapping[str, Any]) -> int:
    if details.get("failure") is not None:
        return exit_codes.FAILED
    if details.get("seconds") is not None:
        return exit_codes.TIMED_OUT
    code = details.get("exitCode")
    if not isinstance(code, int):
        return exit_codes.NOT_KNOWN
    if code:
        return code
    return exit_codes.DONE if all(each["verified"] for each in details["breakpoints"]) else exit_codes.NOT_SET


def _say(text: str) -> None:
    click.echo(coloured(text))
