"""`dapkit wire`: the messages of a session, or of an MCP server, as they pass."""

import json
import os
import sys
from dataclasses import replace

import click

from dapkit.cli.common_options import session_names
from dapkit.cli.diagnostics.common import menu_command, show_page
from dapkit.system.files import CLOSE_IN_CHILDREN
from dapkit.system.standard_streams import has_lost_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from dapkit.diagnostics.sessions import Where
    from dapkit.diagnostics.wire import PairedMessage, WireFilter, WireKind
    from dapkit.diagnostics.wire_sources import WireSource

_ANY = 0
"""Port of --mcp without one."""


@click.command(epilog="Example: dapkit wire --follow --filter stopped")
@click.argument("session_name", metavar="[SESSION]", required=False, shell_complete=session_names)
@click.option("-f", "--follow", is_flag=True, help="Show messages as they pass, until the session ends or Ctrl-C.")
@click.option(
    "--mcp",
    type=click.IntRange(_ANY, 65535),
    metavar="[PORT]",
    is_flag=False,
    flag_value=_ANY,
    help="Show the requests and events of the MCP server by HTTP on this port, or of the only one.",
)
@click.option("--filter", "text", default="", metavar="TEXT", help="Show messages with this text in them.")
@click.option("--kind", type=click.Choice(["request", "response", "event"]), help="Show messages of this kind.")
@click.option("--failed", is_flag=True, help="Show responses that report a failure, and their requests.")
@click.option("--whole", is_flag=True, help="Show each message whole, over several lines.")
@menu_command
def wire(
    where: "Where",
    *,
    session_name: str | None,
    follow: bool,
    mcp: int | None,
    text: str,
    kind: "WireKind | None",
    failed: bool,
    whole: bool,
    as_json: bool,
) -> None:
    """Show the messages of a session, or the events of an MCP server: each on a line, responses with their time.

    With --json each line is a JSON object. Secrets are left out, unless the setting redact.enabled is off.
    """
    from dapkit.diagnostics.wire import WireFilter

    if session_name is not None:
        if where.session not in (None, session_name) and _given_here("session"):
            raise click.UsageError(f"There are two sessions, {session_name} and {where.session}: give one.")
        where = replace(where, session=session_name)
    source = _source(where, mcp)
    wire_filter = WireFilter(text, kind or "", failed)
    try:
        if follow:
            _follow(source, wire_filter, whole=whole, as_json=as_json)
        else:
            _show(source, wire_filter, whole=whole, as_json=as_json)
    except BrokenPipeError:  # the reader has exited, which is allowed; the remaining output is dropped
        os.dup2(os.open(os.devnull, os.O_WRONLY | CLOSE_IN_CHILDREN), sys.stdout.fileno())


def _given_here(option: str) -> bool:
    """Whether an option was given as such, and not by a variable of the environment."""
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.COMMANDLINE


def _source(where: "Where", mcp: int | None) -> "WireSource":
    from dapkit.diagnostics.wire_sources import SessionSource, server

    return SessionSource(where) if mcp is None else server(mcp or None)


def _show(source: "WireSource", wire_filter: "WireFilter", *, whole: bool, as_json: bool) -> None:
    from dapkit.diagnostics import wire as found

    page = found.wire(source, wire_filter)
    if as_json or not sys.stdout.isatty():
        _write(page.messages, whole=whole, as_json=as_json)
        sys.stderr.write(f"{page.summary}\n")
    else:
        show_page(page.as_text(whole=whole))


def _follow(source: "WireSource", wire_filter: "WireFilter", *, whole: bool, as_json: bool) -> None:
    from dapkit.diagnostics.wire import follow
    from dapkit.diagnostics.wire_sources import WireReader

    try:
        with WireReader(source) as reader:
            for messages in follow(reader, wire_filter):
                _write(messages, whole=whole, as_json=as_json)
                if not messages and has_lost_reader():
                    return
    except KeyboardInterrupt:
        return


def _write(messages: "Iterable[PairedMessage]", *, whole: bool, as_json: bool) -> None:
    for message in messages:
        if as_json:
            everything = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
            line = json.dumps(message.as_json(), ensure_ascii=not everything)
        else:
            line = f"{message.as_whole()}\n" if whole else message.as_line()
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
