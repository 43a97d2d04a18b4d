"""`dapkit adapters` and `dapkit doctor`: which debug adapters there are, which one fits, and which work."""

import json
import os
from pathlib import Path
from typing import Any

import click

from dapkit.cli import exit_codes
from dapkit.cli.display import page
from dapkit.cli.parameter_types import PathParameter
from dapkit.hub.folder import project_of

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class _Adapters(click.Group):
    """Explains the choice for a program that is given in place of a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take a word that is not a command as the program of `why`."""
        is_program = args[0] not in self.commands and (os.path.exists(args[0]) or "." in args[0])
        return super().resolve_command(ctx, ["why", *args] if is_program else args)


@click.group(cls=_Adapters, invoke_without_command=True, epilog="Example: dapkit adapters app.py")
@click.option("--all", "everything", is_flag=True, help="Also say how to install those that are missing.")
@_JSON
@click.pass_context
def adapters(context: click.Context, *, everything: bool, as_json: bool) -> None:
    """List the installed debug adapters, or explain which one a program gets: dapkit adapters PROGRAM."""
    if context.invoked_subcommand is not None:
        return
    from dapkit import catalog as catalogs

    _warn_of_settings()
    catalog = catalogs.load(Path.cwd())
    adapter_states = catalogs.states(catalog, cwd=Path.cwd())
    if as_json:
        click.echo(json.dumps([_state(state) for state in adapter_states], indent=2))
    else:
        page(catalogs.render_states(adapter_states, catalog, everything=everything))


@adapters.command(epilog="Example: dapkit adapters why app.py")
@click.argument("program", required=False, type=PathParameter())
@click.option("--adapter", help="Ask for this adapter instead of the one that fits.")
@click.option("--pid", type=int, help="Ask for the adapter that attaches to this process.")
@click.option("--port", type=int, help="Ask for the adapter that attaches to this port.")
@_JSON
def why(*, program: str | None, adapter: str | None, pid: int | None, port: int | None, as_json: bool) -> None:
    """Explain which adapter PROGRAM gets, or what is missing; exit code 6 if no adapter fits."""
    from dapkit import catalog as catalogs

    explained = catalogs.why(
        catalogs.load(Path.cwd()),
        Path(program) if program else None,
        cwd=Path.cwd(),
        adapter=adapter,
        pid=pid,
        port=port,
    )
    if as_json:
        choice = explained.choice
        answer = {
            "adapter": choice.definition.name if choice else None,
            "command": list(choice.command) if choice else [],
            "reasons": list(explained.reasons),
            "problem": explained.problem,
        }
        click.echo(json.dumps(answer, indent=2))
    else:
        page(catalogs.render_why(explained))
    if explained.choice is None:
        raise click.exceptions.Exit(exit_codes.NO_ADAPTER)


@click.command(epilog="Example: dapkit doctor --json")
@_JSON
def doctor(*, as_json: bool) -> None:
    """Start every installed adapter, shake hands, and report the results; exit code 1 if one fails."""
    import anyio

    from dapkit import catalog as catalogs

    _warn_of_settings()
    catalog = catalogs.load(Path.cwd())

    async def check() -> list[catalogs.Checkup]:
        return await catalogs.doctor(catalog, cwd=Path.cwd())

    results = anyio.run(check)
    if as_json:
        rows = [
            {
                **_state(checkup.state),
                "verdict": checkup.verdict,
                "seconds": checkup.seconds,
                "problem": checkup.problem,
            }
            for checkup in results
        ]
        click.echo(json.dumps(rows, indent=2))
    else:
        page(catalogs.render_doctor(results, catalog))
    if any(checkup.verdict not in ("works", "missing") for checkup in results):
        raise click.exceptions.Exit(exit_codes.FAILED)


def _warn_of_settings() -> None:
    from dapkit.settings import Settings

    for problem in Settings.load(Path(project_of(os.getcwd()))).problems:
        click.echo(f"Warning: {problem}", err=True)


def _state(state: Any) -> dict[str, object]:  # noqa: ANN401 - a State, whose module takes long to import
    return {
        "name": state.name,
        "installed": state.installed,
        "version": state.version,
        "languages": list(state.definition.languages),
        "path": str(state.path) if state.path else None,
        "problem": state.problem,
        "skipped": list(state.skipped),
    }
