"""`dapkit proxy`: relay and record the messages between an editor and an adapter."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dapkit.cli.parameter_types import PathParameter

if TYPE_CHECKING:
    from dapkit.endpoint import Role
    from dapkit.protocol import AnyMessage
    from dapkit.proxy import Edit


class _AddressParameter(click.ParamType[tuple[str, int]]):
    """HOST:PORT; without a host it is this machine."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:  # noqa: ANN401 - as click has it
        """Split host and port."""
        host, _, port = value.rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            self.fail(f"expected HOST:PORT, such as 127.0.0.1:4711, found {value!r}", param, ctx)
        return host.strip("[]") or "127.0.0.1", int(port)


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: dapkit proxy --transcript wire.jsonl -- python -m debugpy.adapter",
)
@click.option("--transcript", type=PathParameter(), metavar="FILE", help="Write all messages to FILE, as JSON lines.")
@click.option(
    "--connect",
    type=_AddressParameter(),
    metavar="HOST:PORT",
    help="The adapter listens on this port; no command is given.",
)
@click.option(
    "--listen",
    type=_AddressParameter(),
    metavar="HOST:PORT",
    help="Serve every client that connects to this port, instead of one on stdin and stdout.",
)
@click.option("--socket", type=PathParameter(), metavar="PATH", help="The same on a unix socket.")
@click.argument("adapter", nargs=-1, type=click.UNPROCESSED)
def proxy(
    *,
    transcript: str | None,
    connect: tuple[str, int] | None,
    listen: tuple[str, int] | None,
    socket: str | None,
    adapter: tuple[str, ...],
) -> None:
    """Relay between an editor and the debug adapter with the command ADAPTER, and show the messages.

    Give it to an editor in place of the adapter. Messages pass as they are. An adapter that speaks on a socket says
    so in its command: ${port}, ${socket} or ${callback}. Each line of the transcript has the time, the sender and the
    message.
    """
    if (connect is None) == (not adapter):
        raise click.UsageError("expected the command of an adapter after --, or --connect HOST:PORT")
    if listen is not None and socket is not None:
        raise click.UsageError("expected --listen or --socket, found both")
    from dapkit.client import Tcp
    from dapkit.proxy import run, unchanged
    from dapkit.transport import TransportError

    try:
        run(
            list(adapter) if connect is None else Tcp(*connect),
            edit=unchanged if connect is not None else _warning_of_children(),
            transcript=Path(transcript) if transcript else None,
            listen=listen,
            socket=Path(socket) if socket else None,
        )
    except (TransportError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _warning_of_children() -> "Edit":
    """Return an edit that says once that a child session cannot reach its adapter, and changes nothing.

    js-debug expects a connection to its own port for each child, where each client of the proxy gets an adapter anew.
    """
    from dapkit.protocol import Request
    from dapkit.proxy import members

    warned = False

    def edit(message: "AnyMessage", _sender: "Role") -> "AnyMessage":
        nonlocal warned
        if warned or not isinstance(message, Request) or message.command != "startDebugging":
            return message
        configuration = members(message).get("configuration")
        if isinstance(configuration, dict) and "__pendingTargetId" in configuration:
            warned = True
            click.echo(
                "Warning: this session has a child session, which has to reach the same adapter, and gets another one. "
                "Start the adapter on a port, and give that port to the proxy: "
                "dapkit proxy --listen 127.0.0.1:4711 --connect 127.0.0.1:PORT",
                err=True,
            )
        return message

    return edit
