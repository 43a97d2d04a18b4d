"""`dapkit job`: the processes of one job, which a launcher such as mpiexec or torchrun has started."""

import sys
import time
from pathlib import Path
from typing import Any

import click

from dapkit.agent.command_words import OF_JOB
from dapkit.cli import actions, exit_codes
from dapkit.cli.action_call import ask
from dapkit.cli.common_options import CommonOptions
from dapkit.cli.display import coloured, complain, show
from dapkit.cli.help_form import HelpContext, with_our_help


class _JobCommands(click.Group):
    """The actions on jobs, without their first word, and `watch`."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """Return their names."""
        return [*(name.removeprefix("job_") for name in OF_JOB), "watch"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as click has it
        """Make a command."""
        if cmd_name == "watch":
            return with_our_help(watch)
        if f"job_{cmd_name}" not in OF_JOB:
            return None
        command = actions.command(f"job_{cmd_name}")
        command.name = f"job {cmd_name}"  # as `dapkit help` has it
        command.epilog = f"Example: {actions.example(f'job_{cmd_name}').replace('job-', 'job ', 1)}"
        if cmd_name == "where":
            _with_flame_graph(command)
        return with_our_help(command)


@click.group(cls=_JobCommands, epilog="Example: dapkit job where 4711")
def job() -> None:
    """Debug a job of many processes: MPI, torchrun, Slurm, multiprocessing.

    `dapkit job where PID` of the launcher shows where all its processes are, and which are late.
    """


def _with_flame_graph(command: click.Command) -> None:
    """Let the command write a picture of the stacks as well."""
    option = click.Option(
        ["--flame-graph"],
        type=click.Path(dir_okay=False, writable=True, path_type=Path),
        metavar="FILE",
        help="Write the stacks of all members as an SVG, too.",
    )
    option.expose_value = True
    command.params.insert(len(command.params) - 1, option)
    plain = command.callback

    def where(*, flame_graph: Path | None, **values: Any) -> None:  # noqa: ANN401 - click's value
        if flame_graph is None:
            assert plain is not None  # noqa: S101 - every command of an action has one
            plain(**values)
        else:
            _draw(values, flame_graph)

    command.callback = where


def _draw(values: dict[str, Any], file: Path) -> None:
    from dapkit.cli.arguments import parameters
    from dapkit.cluster import JobStacks
    from dapkit.diagnostics.profiling.member_stacks import flame_graph_of
    from dapkit.protocol import from_json_value

    around = CommonOptions.taken_from(values)
    answer = ask("job_where", parameters("job_where", values), project=around.project, read_only=around.read_only)
    show(answer, as_json=around.as_json)
    if answer["success"]:
        drawing = flame_graph_of(from_json_value(JobStacks, answer["details"]))
        try:
            file.write_text(drawing)
        except OSError as error:
            raise click.ClickException(f"{file} cannot be written: {error.strerror}") from error
        click.echo(f"The stacks are drawn in {file}.", err=True)
    raise click.exceptions.Exit(exit_codes.code_of(answer))


@click.command(epilog="Example: dapkit job watch 4711")
@click.argument("job", required=False)
@click.option("--members", default="all", help="Only these, such as 0-31,40 or rank % 8 == 0.")
@click.option("--every", type=click.FloatRange(min=0.2), default=2.0, show_default=True, help="Seconds between looks.")
@click.option("--via", default="", help="Command that reaches another machine, such as 'ssh {host}'.")
def watch(*, job: str | None, members: str, every: float, via: str) -> None:
    """Show where all processes of a job are, again and again, until Ctrl-C, or until none is left."""
    arguments: dict[str, object] = {"members": members}
    arguments |= {name: value for name, value in (("job", job), ("via", via)) if value}
    while True:
        start = time.monotonic()
        answer = ask("job_where", arguments)
        if not answer["success"]:
            complain(answer)
            raise click.exceptions.Exit(exit_codes.code_of(answer))
        in_terminal = sys.stdout.isatty()
        if in_terminal:
            sys.stdout.write("\x1b[H\x1b[2J")
        sys.stdout.write(
            f"{time.strftime('%H:%M:%S')}  {coloured(str(answer['text']))}\n{'' if in_terminal else chr(10)}"
        )
        sys.stdout.flush()
        time.sleep(max(0.0, every - (time.monotonic() - start)))
