"""The command line that every adapter needs, ready-made.

if __name__ == "__main__":
    run(MyAdapter)
"""

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from dapkit.adapter.servers import MakeAdapter, serve, serve_tcp, serve_unix
from dapkit.system.files import open_private
from dapkit.system.platform_support import end_if_unsupported
from dapkit.transport import TransportError, read_token
from dapkit.transport.tasks import loop_options

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerOptions:
    """The parsed command line.

    Attributes:
        listen: host and port to serve every client at.
        socket: path of a unix socket to do so.
        token_file: holds the secret that clients of `listen` must know; None: one is made.
        log: file to log everything to.
        transcript: file to write all messages to.

    """

    listen: tuple[str, int] | None = None
    socket: Path | None = None
    token_file: Path | None = None
    log: Path | None = None
    transcript: Path | None = None


def run(
    make: MakeAdapter,
    arguments: Sequence[str] | None = None,
    *,
    program: str | None = None,
    distribution: str | None = None,
) -> None:
    """Serve as the command line says, then exit: with 1 if the adapter failed, with 2 if it could not begin.

    Args:
        make: makes the adapter of one session; usually its class.
        arguments: the command line without the program's name; by default, the arguments of this process.
        program: how people start it; the name of the script by default.
        distribution: the installed package whose version `--version` tells; without it there is no such option.

    Raises:
        SystemExit: always.

    """
    end_if_unsupported(2)
    words = sys.argv[1:] if arguments is None else arguments
    description = (make.__doc__ or "").partition("\n")[0] or None
    try:
        # Editors start adapters without any arguments: no need for argparse then, which takes 7 ms and 2 MB.
        options = _read(words, program, description, distribution) if words else ServerOptions()
        _log_to(options.log)
        anyio.run(partial(_serve, make, options), backend_options=loop_options())
    except (TransportError, OSError) as error:
        from dapkit.adapter.command_line_parser import parser_of

        parser_of(program, description, distribution).error(str(error))
    except Exception:
        log.exception("the adapter failed")
        sys.exit(1)
    sys.exit(0)


def _read(
    words: Sequence[str], program: str | None, description: str | None, distribution: str | None
) -> ServerOptions:
    from dapkit.adapter.command_line_parser import parser_of

    parser = parser_of(program, description, distribution)
    options = ServerOptions(**vars(parser.parse_args(words)))
    if options.token_file is not None and options.listen is None:
        parser.error("--token-file is for --listen")
    return options


async def _serve(make: MakeAdapter, options: ServerOptions) -> None:
    if options.listen is not None:
        host, port = options.listen
        token = None if options.token_file is None else read_token(options.token_file)
        tell = partial(announce_address, host)
        await serve_tcp(make, host, port, token=token, on_listening=tell, transcript=options.transcript)
    elif options.socket is not None:
        await serve_unix(make, options.socket, on_listening=announce, transcript=options.transcript)
    else:
        await serve(make, transcript=options.transcript)


def announce_address(host: str, port: int) -> None:
    """Print where an adapter listens."""
    announce(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def announce(place: object) -> None:
    """Print where an adapter listens, in delve's words, for which editors already wait."""
    print(f"DAP server listening at: {place}", flush=True)  # noqa: T201 - nothing else uses this standard output


def _log_to(path: Path | None) -> None:
    if path is None:
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    else:
        form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
        handle = open_private(path, os.O_WRONLY | os.O_APPEND)  # it has secrets
        logging.basicConfig(
            level=logging.DEBUG, stream=os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace"), format=form
        )
