"""Write the tables of docs/reference/commands.md, from the commands themselves.

python tools/commands_page.py            write them
python tools/commands_page.py --check    fail if the page says anything else
"""

import sys
from collections.abc import Iterator

import click

from dapkit.agent.table import ACTIONS
from dapkit.cli import exit_codes
from dapkit.cli.common_options import COMMON_OPTIONS
from dapkit.cli.main import dapkit
from made_files import ROOT, run, with_tables

PAGE = ROOT / "docs/reference/commands.md"
EXAMPLE = "Example: "


def main() -> int:
    """Write or check the page."""
    tables = {"commands": commands, "options": options, "exit codes": exit_code_rows}
    return run("Write the tables of the page about commands.", lambda: {PAGE: with_tables(PAGE, tables)})


def commands() -> Iterator[str]:
    """Yield every command with what it does and its example."""
    yield from ("| command | | example |", "| --- | --- | --- |")
    context = click.Context(dapkit)
    for name in dapkit.list_commands(context):
        command = dapkit.get_command(context, name)
        if command is not None:
            yield from _rows(name, command)


def _rows(name: str, command: click.Command) -> Iterator[str]:
    _, found, example = (command.epilog or "").partition(EXAMPLE)
    if not found:
        raise SystemExit(f"the help of dapkit {name} has no example")
    action = ACTIONS.get(name.replace("-", "_"))
    reads = "" if action is None or action["approval"] == "read" else " *execute*"
    text = (command.help or "").strip().partition("\n")[0]
    yield f"| `{name}` | {_cell(text)}{reads} | `{_cell(example)}` |"
    if isinstance(command, click.Group):
        for inner, subcommand in command.commands.items():
            yield from _rows(f"{name} {inner}", subcommand)


def options() -> Iterator[str]:
    """Yield the options that every action has."""
    yield from ("| option | | variable |", "| --- | --- | --- |")
    for option in COMMON_OPTIONS:
        name = ", ".join(f"`{flag}`" for flag in option.opts)
        variable = f"`{option.envvar}`" if isinstance(option.envvar, str) else ""
        yield f"| {name} | {_cell(option.help or '')} | {variable} |"


def exit_code_rows() -> Iterator[str]:
    """Yield the exit codes, and the codes of errors that each is for."""
    yield from ("| exit code | | `error.code` |", "| --- | --- | --- |")
    for number, meaning in exit_codes.MEANINGS:
        codes = ", ".join(f"`{code}`" for code, its in exit_codes.OF_CODE.items() if its == number)
        yield f"| {number} | {_cell(meaning)} | {'any other' if number == exit_codes.FAILED else codes} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
