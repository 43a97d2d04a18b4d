"""The words of an adapter's command line; imported only where there are any."""

import argparse
import sys
from pathlib import Path


def parser_of(program: str | None, description: str | None, distribution: str | None) -> argparse.ArgumentParser:
    """Make the parser; its results are the fields of `command_line.ServerOptions`."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=description,
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
        "--token-file",
        type=Path,
        metavar="FILE",
        help="the secret that clients of --listen have to know; without it one is made, and left where clients find it",
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="log everything to a file, not only trouble to stderr")
    parser.add_argument("--transcript", type=Path, metavar="FILE", help="write all messages to a file, as JSON lines")
    if distribution is not None:
        parser.add_argument(
            "--version",
            action=_Version,
            nargs=0,
            const=distribution,
            default=argparse.SUPPRESS,
            help="show the version and exit",
        )
    return parser


class _Version(argparse.Action):
    """Tell the version of a distribution, which is looked up only now: that takes longer than to start."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002 - the signature of argparse actions
        values: object,  # noqa: ARG002 - the same
        option_string: str | None = None,  # noqa: ARG002 - the same
    ) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"{self.const} {version(self.const)}\n")
        parser.exit()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)
