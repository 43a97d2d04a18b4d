"""`dapkit config`: every setting, its value, and where that is from."""

import os
from pathlib import Path

import click

from dapkit.cli.display import page
from dapkit.hub.folder import project_of


@click.command(epilog="Example: DAPKIT_TEXT_BYTES=20000 dapkit config")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object by name of setting.")
def config(*, as_json: bool) -> None:
    """Show all settings, their values and where these are from.

    They stand in ~/.config/dapkit/config.toml, in .dapkit.toml of a project, or in variables such as
    DAPKIT_REQUEST_TIMEOUT_SECONDS; the later wins.
    """
    from dapkit.settings import Settings

    settings = Settings.load(Path(project_of(os.getcwd())))
    rows = settings.rows()
    if as_json:
        import json

        table = {row.name: {"value": row.value, "origin": row.origin, "unit": row.setting.unit} for row in rows}
        click.echo(json.dumps(table, indent=2))
    else:
        page(
            "\n".join(
                f"{row.name:32} {row.value!s:>8} {row.setting.unit:10} {row.setting.meaning}{_from(row.origin)}"
                for row in rows
            )
        )
    for problem in settings.problems:
        click.echo(f"Warning: {problem}", err=True)


def _from(origin: str) -> str:
    return "" if origin == "default" else f" (from {origin})"
