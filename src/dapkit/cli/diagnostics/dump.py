"""`dapkit dump`: a report of the session as one archive."""

from pathlib import Path

import click

from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page
from dapkit.cli.parameter_types import PathParameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit dump")
@click.argument("pid", required=False, metavar="", shell_complete=lambda *_: [])
@click.option("-o", "--output", type=PathParameter(), help="File to write; by default one in the session's folder.")
@menu_command
def dump(where: "Where", *, pid: str | None, output: str | None, as_json: bool) -> None:
    """Write a report of the session into one archive.

    The report has the session's actions, its messages, the end of the log, the configuration, the system, and the
    files that were written about the session before. Secrets are removed from its texts. `dapkit stacks PID` shows
    the threads of a process.
    """
    if pid is not None:
        raise click.UsageError(f"dump takes no argument. The threads of a process: dapkit stacks {pid}")
    from dapkit.diagnostics.report import write_report

    with interruptible() as (on_progress, stop):
        file = None if output is None else Path(output)
        report = write_report(where, output=file, on_progress=on_progress, stop=stop)
    if as_json:
        show_json(report.as_json())
    else:
        show_page(report.as_text())
