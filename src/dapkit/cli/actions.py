"""A command for each action, made from the generated table."""

from typing import Any

import click

from dapkit.agent.command_words import POSITIONAL, PROGRAM_LAST, WHERE, WITH_PROGRAM, command_line, is_list
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.cli import exit_codes, parameter_types
from dapkit.cli.action_call import ask
from dapkit.cli.arguments import ASIDE, WrongWords, parameters
from dapkit.cli.common_options import COMMON_OPTIONS, CommonOptions
from dapkit.cli.display import show
from dapkit.cli.module_option import ModuleOptionCommand

_ABOUT_OPTIONS = "Options must precede PROGRAM: words after it belong to the program.\n\n"


def command(name: str) -> click.Command:
    """Make the command of an action."""
    row = ACTIONS[name]
    positional = POSITIONAL.get(name, ())
    arguments = [_argument(parameter) for parameter in positional]
    options = [parameter_types.option(parameter, PARAMETERS[parameter]) for parameter in row["parameters"]]

    def run(**values: Any) -> None:  # noqa: ANN401 - click's value
        around = CommonOptions.taken_from(values)
        try:
            arguments = parameters(name, values)
        except WrongWords as error:
            raise click.UsageError(str(error)) from error
        if "configuration" in arguments:
            from dapkit.cli.inputs import with_answers

            arguments = with_answers(arguments)
        if name in PROGRAM_LAST:
            from dapkit.cli.common_options import note_our_options

            given_args = arguments.get("args")
            note_our_options(given_args if isinstance(given_args, list) else [], click.get_current_context().command)
        if name in WITH_PROGRAM:
            from dapkit.cli.whole_program import ask_about_program

            answer = ask_about_program(name, arguments, around)
        else:
            answer = ask(name, arguments, session=around.session, project=around.project, read_only=around.read_only)
        show(answer, as_json=around.as_json)
        raise click.exceptions.Exit(exit_codes.code_of(answer))

    return _kind(name)(
        name.replace("_", "-"),
        params=[*arguments, *options, *COMMON_OPTIONS],
        callback=run,
        help=row["summary"],
        epilog=(
            "Options must precede PROGRAM: words after it belong to the program.\n\n" if name in PROGRAM_LAST else ""
        )
        + f"Example: {example(name)}",
        context_settings={"allow_interspersed_args": name not in PROGRAM_LAST},
    )


def _kind(name: str) -> type[click.Command]:
    if name in WITH_PROGRAM:
        from dapkit.cli.whole_program import CommandWithProgram

        return CommandWithProgram
    return ModuleOptionCommand if name in PROGRAM_LAST else click.Command


def _argument(name: str) -> click.Argument:
    if name == WHERE:
        return click.Argument(
            [WHERE + ASIDE], metavar="[FILE:LINE]", required=False, type=parameter_types.LocationParameter()
        )
    row = PARAMETERS[name]
    listed = is_list(row)
    return click.Argument(
        [name + ASIDE],
        metavar=f"[{name.upper()}]" + ("..." if listed else ""),
        nargs=-1 if listed else 1,
        required=False,
        type=parameter_types.type_of(row),
        shell_complete=parameter_types.filter_names if name == "filters" else None,
    )


def example(name: str) -> str:
    """Return the example of an action as a command line."""
    return command_line(name, ACTIONS[name]["example"])
