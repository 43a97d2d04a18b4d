"""`dapkit stacks`: the stacks of all threads and tasks, of a Python process without a debugger, or of a session."""

import os
from typing import Any

import click

from dapkit.cli import exit_codes
from dapkit.cli.action_call import ask
from dapkit.cli.common_options import COMMON_OPTIONS, CommonOptions
from dapkit.cli.diagnostics.common import show_json
from dapkit.cli.display import page, show


@click.command(epilog="Example: dapkit stacks 4711")
@click.argument("pid", type=click.IntRange(min=1), required=False)
@click.option("--attach", is_flag=True, help="Attach for a moment: any language, and which thread has which lock.")
@click.option("--native", is_flag=True, help="Show calls of native code as well.")
@click.option("--all", "everything", is_flag=True, help="Show every call and every thread.")
def stacks(*, pid: int | None, attach: bool, native: bool, everything: bool, **values: Any) -> None:  # noqa: ANN401 - click's value
    """Show the stacks of all threads and tasks of a process, or of the session.

    A Python process is read from outside: nothing is attached to it, and it may be stuck. Calls of libraries are
    folded, equal stacks are shown once. If the source says so, the lock that a thread waits for is shown, with the
    thread that holds it. Tasks are shown with the coroutines they await and the tasks that await them. py-spy reads the
    stacks; install it with dapkit[dump]. Stacks of Python 3.15 are read without it, except with --native.

    Without PID, the program of the session is paused for a moment; with --attach, a process is attached to for it.
    Under dapkit's own adapter the locks themselves say which thread has them, also one that has ended.
    """
    around = CommonOptions.taken_from(values)
    if pid is None or attach:
        answer = ask(
            "stacks",
            {} if pid is None else {"pid": pid},
            session=f"stacks-{os.getpid()}" if around.session is None and pid is not None else around.session,
            project=around.project,
            read_only=around.read_only,
        )
        show(answer, as_json=around.as_json)
        raise click.exceptions.Exit(exit_codes.code_of(answer))
    _read_from_outside(pid, native=native, everything=everything, as_json=around.as_json)


stacks.params += COMMON_OPTIONS


def _read_from_outside(pid: int, *, native: bool, everything: bool, as_json: bool) -> None:
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
