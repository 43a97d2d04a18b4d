"""`dapkit transcript`: the session as a text and a page to read."""

import sys
from pathlib import Path

import click

from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json
from dapkit.cli.parameter_types import PathParameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from dapkit.diagnostics.sessions import Where

_STDOUT = "-"


class _OutputParameter(PathParameter):
    """A path, or - for stdout."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Make a path absolute."""
        return value if value == _STDOUT else super().convert(value, param, ctx)


@click.command(epilog="Example: dapkit transcript --open")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["markdown", "html", "both"]),
    help="The format; by default the one that the file's name implies, or both.",
)
@click.option(
    "-o",
    "--output",
    type=_OutputParameter(),
    help="File or folder to write to, - for stdout; by default the session's folder.",
)
@click.option("--wire", is_flag=True, help="With the messages between dapkit and the adapter, shown on demand.")
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser, where there is a desktop.")
@menu_command
def transcript(
    where: "Where", *, kind: str | None, output: str | None, wire: bool, opened: bool, as_json: bool
) -> None:
    """Write the history of the session as Markdown and as a page: actions, stops, changed values, output.

    The page is one file that needs nothing else, for a phone as well. Secrets are left out. It works for a session that
    has ended, as long as the hub knows it. --json prints the transcript as an object, and writes nothing.
    """
    from dapkit.diagnostics import transcript as transcripts

    if as_json:
        if output is not None or opened or kind is not None:
            raise click.UsageError("--json prints the transcript: leave --format, --output and --open out.")
        show_json(transcripts.transcript_of(where, with_wire=wire).as_json())
        return
    formats = _formats(kind, output)
    if opened and (output == _STDOUT or "html" not in formats):
        raise click.UsageError("--open opens the page: write it, into a file.")
    if output == _STDOUT:
        _print(where, formats, wire=wire)
        return
    with interruptible() as (on_progress, _):
        folder = Path(output) if output is not None and Path(output).is_dir() else None
        if output is None or folder is not None:
            paths = transcripts.write(where, folder, formats=formats, with_wire=wire, on_progress=on_progress)
        else:
            paths = transcripts.write_to(where, Path(output), kind=formats[0], with_wire=wire, on_progress=on_progress)
    click.echo(paths.as_text())
    if opened:
        _open(paths.paths["html"])


def _formats(kind: str | None, output: str | None) -> "list[str]":
    from dapkit.diagnostics.transcript.files import FORMATS

    if output == _STDOUT:
        if kind == "both":
            raise click.UsageError("Only one format goes to stdout: choose it with --format.")
        return [kind or "markdown"]
    if output is None or Path(output).is_dir():
        return [*FORMATS] if kind in (None, "both") else [str(kind)]
    if kind == "both":
        raise click.UsageError(f"Both formats need a folder, and {output} does not exist.")
    ending = Path(output).suffix.lower()
    by_name = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}.get(ending)
    if kind is None and by_name is None:
        raise click.UsageError("Unknown format: give --format, or a name that ends with .md or .html.")
    return [str(kind or by_name)]


def _print(where: "Where", formats: "Collection[str]", *, wire: bool) -> None:
    from dapkit.diagnostics.transcript import transcript_of
    from dapkit.diagnostics.transcript.files import written_as

    (kind,) = formats
    sys.stdout.write(written_as(transcript_of(where, with_wire=wire), kind))
    sys.stdout.flush()


def _open(page: Path) -> None:
    from dapkit.diagnostics.desktop_opener import open_path

    if not open_path(page):
        click.echo("It was not opened: there is no desktop here.", err=True)
