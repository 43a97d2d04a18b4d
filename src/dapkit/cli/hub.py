"""`dapkit hub`: the process that keeps the sessions."""

from collections.abc import Callable

import click

from dapkit import hub as callers
from dapkit.cli import exit_codes


@click.group(epilog="Example: dapkit hub status")
def hub() -> None:
    """Show or end the hub, the process that keeps the sessions. It is started by the first command that needs it."""


@hub.command(epilog="Example: dapkit hub status --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(*, as_json: bool) -> None:
    """Show whether a hub runs, and its sessions."""
    answer = _reached(callers.status)
    if as_json:
        import json

        click.echo(json.dumps({"running": answer is not None, **(answer or {})}))
    elif answer is None:
        click.echo("No hub runs.")
    else:
        for key, value in answer.items():
            click.echo(f"{key.replace('_', ' ')}: {value}")


@hub.command(epilog="Example: dapkit hub stop")
def stop() -> None:
    """End the hub with all its sessions; programs that were attached to are released."""
    click.echo("The hub has ended." if _reached(callers.stop) else "No hub runs.")


def _reached[T](call: Callable[[], T]) -> T:
    try:
        return call()
    except callers.HubError as error:
        click.echo(f"Error: {error}", err=True)
        raise click.exceptions.Exit(exit_codes.NO_HUB) from error
