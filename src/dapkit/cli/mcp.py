"""`dapkit mcp`: the debug tool for an agent."""

import os
from pathlib import Path

import click

from dapkit.cli.parameter_types import PathParameter
from dapkit.hub.folder import project_of
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
    try:
        with frozen_imports():
            import anyio

            from dapkit.mcp.server import DebugServer
            from dapkit.mcp.transports import serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed: pip install 'dapkit[mcp]'") from error
    server = DebugServer(Path(project or project_of(os.getcwd())), read_only=read_only)

    async def serve() -> None:
        if http:
            await serve_http(server, port=port, announce=_announce)
        else:
            await serve_stdio(server)

    anyio.run(serve)


def _announce(address: str, token: Path) -> None:
    click.echo(f"address: {address}\ntoken: {token}")
