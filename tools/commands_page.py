"""Write the tables of docs/reference/commands.md, from the commands themselves.

python tools/commands_page.py            write them
python tools/commands_page.py --check    fail if the page says anything else
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dapkit.agent.table import ACTIONS
from dapkit.cli import exit_codes
from dapkit.cli.common_options import COMMON_OPTIONS
from dapkit.cli.main import dapkit

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/commands.md"
EXAMPLE = "Example: "


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description="Write the tables of the page about commands.")
    parser.add_argument("--check", action="store_true", help="fail if the page says anything else")
    asked = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = page
    for name, rows in {"commands": commands(), "options": options(), "exit codes": exit_code_rows()}.items():
        wanted = with_table(wanted, name, rows)
    if asked.check:
        if page != wanted:
            print(f"{PAGE} does not say what the commands do: run python tools/commands_page.py", file=sys.stderr)
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


def with_table(page: str, name: str, rows: Iterator[str]) -> str:
    """Return the page with one table as it has to be."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, begun, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise SystemExit(f"the page lacks the marks {begin.strip()} and {end.strip()}")
    return f"{before}{begin}\n{'\n'.join(rows)}\n\n{end}{after}"


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
