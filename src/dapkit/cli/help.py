"""`dapkit help`: the commands of a topic, the exit codes, or a command with all its options."""

import click

from dapkit.cli import command_list, exit_codes
from dapkit.cli.help_form import HelpContext, HelpFormatter

EXIT_CODES = "exit-codes"
COMMANDS = "commands"


def topic_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as click has it
    """Complete topics and commands."""
    return [name for name in [*_topics(), *command_list.names()] if name.startswith(incomplete)]


@click.command(epilog="Example: dapkit help breakpoints")
@click.argument("topic", nargs=-1, shell_complete=topic_names)
def help(topic: tuple[str, ...]) -> None:  # noqa: A001 - the name of the command
    """Show the commands of a topic, or a command with all its options; without either, the topics."""
    formatter = HelpFormatter()
    name = " ".join(topic).replace("_", "-")
    rows = {key: (title, rows) for key, title, rows in command_list.by_topic()}
    if not name:
        with formatter.section("dapkit help TOPIC"):
            formatter.write_dl([*_topics().items(), ("COMMAND", "a command with all its options")])
    elif name == COMMANDS:
        for title, commands in rows.values():
            _write(formatter, title, commands)
    elif name == EXIT_CODES:
        _write(formatter, "Exit codes", [(str(code), meaning) for code, meaning in exit_codes.MEANINGS])
    elif name in rows or name.partition(" ")[0] in command_list.names():
        if name in rows:
            _write(formatter, *rows[name])
        if name not in rows or name in command_list.names():
            formatter.write_paragraph()
            formatter.write(_help_of_command(name))
    else:
        raise click.UsageError(f"There is no topic or command {name!r}; dapkit help lists the topics.")
    click.echo(formatter.getvalue().strip("\n"))


def _topics() -> dict[str, str]:
    topics = {key: ", ".join(name for name, _ in rows) for key, _, rows in command_list.by_topic()}
    return {COMMANDS: "all commands", **topics, EXIT_CODES: "of all commands"}


def _write(formatter: click.HelpFormatter, title: str, rows: list[tuple[str, str]]) -> None:
    with formatter.section(title):
        formatter.write_dl(rows)


def _help_of_command(name: str) -> str:
    from dapkit.cli.main import dapkit

    root = click.get_current_context().find_root()
    context, command = root, dapkit.get_command(root, name.partition(" ")[0])
    for word in name.split()[1:]:
        context = HelpContext(command, info_name=command.name, parent=context) if command is not None else context
        command = command.get_command(context, word) if isinstance(command, click.Group) else None
    if command is None:
        raise click.UsageError(f"There is no command {name}.")
    return command.get_help(HelpContext(command, info_name=name.rpartition(" ")[2], parent=context))
