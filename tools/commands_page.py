"""Write the tables of docs/reference/commands.md, and the man page, from the commands themselves.

python tools/commands_page.py            write them
python tools/commands_page.py --check    fail if the pages say anything else
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
MAN_PAGE = ROOT / "docs/reference/dapkit.1"
EXAMPLE = "Example: "


def main() -> int:
    """Write or check the pages."""
    tables = {"commands": commands, "options": options, "exit codes": exit_code_rows}
    return run(
        "Write the tables of the page about commands, and the man page.",
        lambda: {PAGE: with_tables(PAGE, tables), MAN_PAGE: "\n".join(man_page()) + "\n"},
    )


def commands() -> Iterator[str]:
    """Yield every command with what it does and its example."""
    yield from ("| command | | example |", "| --- | --- | --- |")
    for name, command in _all_commands():
        _, found, example = (command.epilog or "").partition(EXAMPLE)
        if not found:
            raise SystemExit(f"the help of dapkit {name} has no example")
        action = ACTIONS.get(name.replace("-", "_"))
        reads = "" if action is None or action["approval"] == "read" else " *execute*"
        text = (command.help or "").strip().partition("\n")[0]
        yield f"| `{name}` | {_cell(text)}{reads} | `{_cell(example)}` |"


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


def man_page() -> Iterator[str]:
    """Yield the lines of dapkit(1)."""
    yield from (r".\" Made by tools/commands_page.py.", '.TH DAPKIT 1 "" "dapkit" "User Commands"')
    yield from (".SH NAME", r"dapkit \- debug programs in any language, from a shell or an agent")
    yield from (".SH SYNOPSIS", r"\fBdapkit\fR [\fIoptions\fR] \fIcommand\fR [\fIarguments\fR]")
    yield from (".SH DESCRIPTION", ".nf")
    yield from map(_roff, (dapkit.help or "").replace("\b", "").strip().splitlines())
    yield from (".fi", ".SH COMMANDS")
    for name, command in _all_commands():
        text = (command.help or "").strip().partition("\n")[0]
        example = (command.epilog or "").partition(EXAMPLE)[2].strip()
        yield from (".TP", rf"\fB{_roff(name)}\fR", _roff(text), ".br", rf"\fI{_roff(example)}\fR")
    yield ".SH OPTIONS OF EACH ACTION"
    for option in COMMON_OPTIONS:
        yield from (".TP", rf"\fB{_roff(', '.join(option.opts))}\fR", _roff(option.help or ""))
        if isinstance(option.envvar, str):
            yield _roff(f"Variable: {option.envvar}.")
    yield ".SH EXIT STATUS"
    for number, meaning in exit_codes.MEANINGS:
        yield from (".TP", rf"\fB{number}\fR", _roff(meaning))
    yield from (".SH SEE ALSO", r"\fBdapkit help\fR, \fBdapkit\fR \fIcommand\fR \fB\-\-help\fR, \fBdapkit skill\fR")


def _all_commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its words, those of a group after the group."""
    context = click.Context(dapkit)
    for name in dapkit.list_commands(context):
        command = dapkit.get_command(context, name)
        if command is None:
            continue
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", subcommand) for inner, subcommand in command.commands.items())


def _roff(text: str) -> str:
    """Escape a line of text for roff."""
    escaped = text.rstrip().replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
