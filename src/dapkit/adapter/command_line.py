"""The command line that every adapter needs, ready-made.

if __name__ == "__main__":
    run(MyAdapter)
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio

from dapkit.adapter.serving import MakeAdapter, serve, serve_tcp, serve_unix
from dapkit.transport import TransportError, read_token

log = logging.getLogger(__name__)


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
        arguments: of the command line, without the program; those of this process by default.
        program: how people start it; the name of the script by default.
        distribution: the installed package whose version `--version` tells; without it there is no such option.

    Raises:
        SystemExit: always.

    """
    parser = _parser(make, program, distribution)
    options = parser.parse_args(arguments)
    if options.token_file is not None and options.listen is None:
        parser.error("--token-file is for --listen")
    try:
        _log_to(options.log)
        anyio.run(partial(_serve, make, options))
    except (TransportError, OSError) as error:
        parser.error(str(error))
    except Exception:
        log.exception("the adapter failed")
        sys.exit(1)
    sys.exit(0)


async def _serve(make: MakeAdapter, options: argparse.Namespace) -> None:
    if options.listen is not None:
        host, port = options.listen
        token = None if options.token_file is None else read_token(options.token_file)
        tell = partial(_tell_address, host)
        await serve_tcp(make, host, port, token=token, on_listening=tell, transcript=options.transcript)
    elif options.socket is not None:
        await serve_unix(make, options.socket, on_listening=_tell, transcript=options.transcript)
    else:
        await serve(make, transcript=options.transcript)


def _tell_address(host: str, port: int) -> None:
    _tell(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def _tell(place: object) -> None:
    # Delve's words, for which editors already wait.
    print(f"DAP server listening at: {place}", flush=True)  # noqa: T201 - nothing else uses this standard output


class _Version(argparse.Action):
    """Tell the version of a distribution, which is looked up only now: that takes longer than to start."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002 - what actions are called with
        values: object,  # noqa: ARG002 - the same
        option_string: str | None = None,  # noqa: ARG002 - the same
    ) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"{self.const} {version(self.const)}\n")
        parser.exit()


def _parser(make: MakeAdapter, program: str | None, distribution: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description=(make.__doc__ or "").partition("\n")[0] or None,
        epilog="Without --listen or --socket it serves one client on standard input and output.",
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--listen", type=_address, metavar="HOST:PORT", help="serve every client that connects to this port"
    )
    place.add_argument(
        "--socket", type=Path, metavar="PATH", help="serve every client that connects to this unix socket"
    )
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="the secret that clients of --listen show first"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="log everything to a file, not only trouble to stderr")
    parser.add_argument("--transcript", type=Path, metavar="FILE", help="write all messages to a file, as JSON lines")
    if distribution is not None:
        parser.add_argument("--version", action=_Version, nargs=0, const=distribution, help="show the version and exit")
    return parser


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def _log_to(path: Path | None) -> None:
    if path is None:
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    else:
        form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
        logging.basicConfig(level=logging.DEBUG, filename=path, format=form)
