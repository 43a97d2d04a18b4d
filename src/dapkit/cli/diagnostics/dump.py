"""`dapkit dump`: a report of the session as one archive; with a process, what its threads do."""

from pathlib import Path

import click

from dapkit.cli import exit_codes
from dapkit.cli.diagnostics.common import interruptible, route, show_json, show_page
from dapkit.cli.display import page
from dapkit.cli.parameter_types import PathParameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit dump")
@click.argument("pid", type=click.IntRange(min=1), required=False)
@click.option("-o", "--output", type=PathParameter(), help="File to write; by default one in the session's folder.")
@click.option("--native", is_flag=True, help="With PID: show calls of native code as well.")
@click.option("--all", "everything", is_flag=True, help="With PID: show every call and every thread.")
@route
def dump(where: "Where", *, pid: int | None, output: str | None, native: bool, everything: bool, as_json: bool) -> None:
    """Write a report of the session into one archive; or with PID, show what all threads of that process do.

    The report has the session's actions, its messages, the end of the log, the configuration, the system, and what was
    written about it before. Secrets are left out of its texts.

    With PID, the stacks of a Python process are shown, also if it is stuck; it is not attached to. Calls of libraries
    are folded. Where the source says so, it is shown which lock a thread waits for and which one has it. Tasks of
    asyncio are shown with what they await, and which tasks await them. Values of variables are not shown. py-spy reads
    the stacks: it comes with dapkit[dump]. Those of Python 3.15 are read without it, but for --native.
    """
    if pid is not None:
        if output is not None:
            raise click.UsageError("--output is for the report, which there is without PID.")
        _show_threads(pid, native=native, everything=everything, as_json=as_json)
        return
    if native or everything:
        raise click.UsageError("--native and --all are for the threads of a process: give its PID.")
    from dapkit.diagnostics.report import write_report

    with interruptible() as (on_progress, stop):
        file = None if output is None else Path(output)
        written = write_report(where, output=file, on_progress=on_progress, stop=stop)
    if as_json:
        show_json(written.as_json())
    else:
        show_page(written.as_text())


def _show_threads(pid: int, *, native: bool, everything: bool, as_json: bool) -> None:
    from dapkit.adapter import RequestFailed
    from dapkit.python import dump as dumps

    try:
        found = dumps.dump_of(pid, native=native)
    except dumps.NoPySpy as error:
        click.echo(f"Error: {error}", err=True)
        raise click.exceptions.Exit(exit_codes.NO_ADAPTER) from None
    except RequestFailed as error:
        click.echo(f"Error: {error.text}", err=True)
        raise click.exceptions.Exit(exit_codes.FAILED) from None
    if as_json:
        show_json(dumps.as_json(found))
    else:
        from dapkit.agent.text.escaping import one_line

        lines = dumps.as_lines(found, everything=everything or native)
        page("".join(f"{one_line(line)}\n" for line in lines))
