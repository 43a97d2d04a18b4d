"""`dapkit dump`: what all threads of a Python process do, without a word from the process."""

import json

import click

from dapkit.cli import exit_codes
from dapkit.cli.display import page


@click.command(epilog="Example: dapkit dump 4711")
@click.argument("pid", type=click.IntRange(min=1))
@click.option("--native", is_flag=True, help="Show calls of native code as well.")
@click.option("--all", "everything", is_flag=True, help="Show every call, also of libraries, and every thread.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, which has everything.")
def dump(*, pid: int, native: bool, everything: bool, as_json: bool) -> None:
    """Show the stacks of all threads of the Python process PID, also if it is stuck; it is not attached to.

    Calls of libraries are folded. Where the source says so, it is shown which lock a thread waits for and which one has
    it; tasks of asyncio are shown for Python 3.14. Values of variables are not. py-spy reads the process: it comes with
    dapkit[dump].
    """
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
        click.echo(json.dumps(dumps.as_json(found), indent=2))
    else:
        from dapkit.agent.text.escaping import one_line

        lines = dumps.as_lines(found, everything=everything or native)
        page("".join(f"{one_line(line)}\n" for line in lines))
