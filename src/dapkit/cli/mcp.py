"""`dapkit mcp`: the debug tool for an agent."""

import os
from functools import partial
from pathlib import Path

import click

from dapkit.cli.parameter_types import PathParameter
from dapkit.hub.folder import project_of
from dapkit.mcp.serve_stdio import serve_stdio
from dapkit.system.gc_freeze import frozen_imports


@click.command(epilog="Example: dapkit mcp --http --read-only")
@click.option("--http", is_flag=True, help="Serve streamable HTTP on this machine instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of --http; by default any that is free.")
@click.option(
    "--project", type=PathParameter(), help="Folder whose programs are debugged; by default the one around this."
)
@click.option("--read-only", is_flag=True, envvar="DAPKIT_READ_ONLY", help="Offer only the actions that look.")
def mcp(*, http: bool, port: int, project: str | None, read_only: bool) -> None:
    """Serve the debug tool to an agent over the Model Context Protocol, on stdin and stdout.

    With --http the address and the file that holds the token go to stdout, one a line.
    """
    folder = project or project_of(os.getcwd())
    if http:
        _serve_http(Path(folder), port, read_only=read_only)
    else:
        serve_stdio(folder, read_only=read_only)


def _serve_http(project: Path, port: int, *, read_only: bool) -> None:
    try:
        with frozen_imports():
            import anyio

            from dapkit.mcp.http_transport import serve_http
            from dapkit.mcp.sdk_server import DebugServer
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed: pip install 'dapkit[mcp]'") from error
    server = DebugServer(project, read_only=read_only)
    anyio.run(partial(serve_http, server, port=port, announce=_announce))


def _announce(address: str, token: Path) -> None:
    click.echo(f"address: {address}\ntoken: {token}")
