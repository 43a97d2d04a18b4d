"""`dapkit diagnose`: the menu of all entries."""

import sys

import click

from dapkit.cli import exit_codes
from dapkit.cli.diagnostics.common import fail, menu_command
from dapkit.diagnostics.menu import MENU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit diagnose")
@menu_command
def diagnose(where: "Where", *, as_json: bool) -> None:
    """Show a menu of diagnostics: logs, messages, profiles, memory, reports.

    An entry is chosen with the arrow keys, or by typing its name. Without a terminal the entries are listed: each is a
    command, too.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        fail(
            "no_terminal",
            "The menu needs a terminal. Each of its entries is a command, too:",
            _listed(),
            as_json=as_json,
        )
    try:
        from dapkit.tui.app import run
    except ModuleNotFoundError as error:
        if error.name != "textual":
            raise
        message = "The menu is drawn by Textual, which is not installed: pip install 'dapkit[tui]'"
        fail("not_installed", message, f"Each of its entries is a command, too:\n{_listed()}", as_json=as_json)
    run(where)
    raise click.exceptions.Exit(exit_codes.DONE)


def _listed() -> str:
    width = max(map(len, MENU))
    return "\n".join(f"  dapkit {name:{width}}  {summary}" for name, summary in MENU.items())
