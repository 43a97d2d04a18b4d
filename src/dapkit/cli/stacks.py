"""`dapkit stacks PID`: the stacks of all threads and tasks of a Python process."""

import click

from dapkit.cli import exit_codes
from dapkit.cli.diagnostics.common import show_json
from dapkit.cli.display import page


@click.command(epilog="Example: dapkit stacks 4711")
@click.argument("pid", type=click.IntRange(min=1))
@click.option("--native", is_flag=True, help="Show calls of native code as well.")
@click.option("--all", "everything", is_flag=True, help="Show every call and every thread.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stacks(*, pid: int, native: bool, everything: bool, as_json: bool) -> None:
    """Show the stacks of all threads and asyncio tasks of a Python process.

    The process may be stuck; nothing is attached to it. Calls of libraries are folded. If the source says so, the
    lock that a thread waits for is shown, with the thread that holds it. Tasks are shown with the coroutines they await
    and the tasks that await them. Values of variables are not shown. py-spy reads the stacks; install it with
    dapkit[dump]. Stacks of Python 3.15 are read without it, except with --native.
    """
    from dapkit.adapter import RequestFailed
    from dapkit.python import stacks as process_stacks

    try:
        stacks_of_threads = process_stacks.stacks_of_process(pid, native=native)
    except process_stacks.NoPySpy as error:
        click.echo(f"Error: {error}", err=True)
        raise click.exceptions.Exit(exit_codes.NO_ADAPTER) from None
    except RequestFailed as error:
        click.echo(f"Error: {error.text}", err=True)
        raise click.exceptions.Exit(exit_codes.FAILED) from None
    if as_json:
        show_json(process_stacks.as_json(stacks_of_threads))
    else:
        from dapkit.agent.text.escaping import one_line

        lines = process_stacks.as_lines(stacks_of_threads, everything=everything or native)
        page("".join(f"{one_line(line)}\n" for line in lines))
