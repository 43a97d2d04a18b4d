"""`dapkit system`: this machine, and the versions of all that takes part."""

import click

from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit system")
@menu_command
def system(where: "Where", *, as_json: bool) -> None:
    """Show this machine, the versions of Python, dapkit and each adapter, the terminal, and the environment.

    Secrets are left out.
    """
    from dapkit.diagnostics import system as found

    with interruptible() as (on_progress, _):
        report = found.system(where, on_progress=on_progress)
    if as_json:
        show_json(report.as_json())
    else:
        show_page(report.as_text())
