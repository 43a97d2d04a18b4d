"""`dapkit run`: a whole small session in one call.

This module decides the meaning of the words; `whole_session` does the work and shows it.
"""

import os
from typing import Any

import click

from dapkit import limits
from dapkit.agent.table import PARAMETERS
from dapkit.cli import parameter_types
from dapkit.cli.arguments import value_of
from dapkit.cli.common_options import note_our_options
from dapkit.cli.own_input import STANDS_FOR_IT, input_to_pass_on, path_of_own_input
from dapkit.cli.whole_session import WholeSession
from dapkit.hub.folder import project_of

_LAUNCH = ("breakpoints", "exceptions", "adapter", "cwd", "env", "stdin_file", "source_map")


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: dapkit run -b 'app.py:12 if n > 9' -e n -e 'len(items)' --stops 3 app.py --fast",
)
@click.argument("program", metavar="PROGRAM [ARGS]...")
@click.argument("args", nargs=-1, metavar="")
@click.option(
    "-e",
    "--expression",
    "expressions",
    multiple=True,
    help="Evaluate this at each stop, in the program, which it can change.",
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
@click.option("--python", help="The interpreter of a Python program.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds for all of it; the setting request.timeout_seconds says how many by default.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: stops, output, exitCode, signal, breakpoints."
)
def run(
    *,
    program: str,
    args: tuple[str, ...],
    expressions: tuple[str, ...],
    stops: int,
    output_lines: int,
    python: str | None,
    timeout: float | None,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the options of launch
) -> None:
    """Debug a program from start to end in one call, and show its state at breakpoints.

    The program reads our standard input, if that is a pipe, a file or a terminal.

    A program that still runs when the time is up is ended: exit code 7. A breakpoint that could not be set is named
    at the end: exit code 10, unless the program itself failed. Otherwise the exit code is the program's. Breakpoints
    that were set and never hit are named too.
    """
    note_our_options(args, click.get_current_context().command)
    launch = {
        name: value_of(PARAMETERS[name], value) for name, value in values.items() if value is not None and value != ()
    }
    launch = {"cwd": os.getcwd(), "stop_on_entry": False, **launch, "program": program, "args": list(args)}
    if python is not None:
        launch["options"] = {"python": python}
    if launch.get("stdin_file") in STANDS_FOR_IT:
        launch["stdin_file"] = path_of_own_input()
    seconds = _usual_seconds() if timeout is None else timeout
    session = WholeSession(
        f"run-{os.getpid()}", expressions, most=stops, lines=output_lines, seconds=seconds, as_json=as_json
    )
    raise click.exceptions.Exit(session.run(launch, own_input=input_to_pass_on()))


run.params += [parameter_types.option(name, PARAMETERS[name]) for name in _LAUNCH]


def _usual_seconds() -> float:
    from pathlib import Path

    from dapkit.settings import Settings

    return Settings.load(Path(project_of(os.getcwd()))).request_timeout_seconds
