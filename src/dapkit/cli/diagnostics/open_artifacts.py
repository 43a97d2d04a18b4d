"""`dapkit open-artifacts`: the folder with the files about a session."""

import sys

import click

from dapkit.cli.diagnostics.common import menu_command, show_json, show_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(name="open-artifacts", epilog="Example: dapkit open-artifacts")
@menu_command
def open_artifacts(where: "Where", *, as_json: bool) -> None:
    """Open the folder with the session's files: reports, profiles, transcripts.

    Without a desktop, in a pipe, and with --json its path and its files are printed.
    """
    from dapkit.diagnostics.desktop_opener import open_path
    from dapkit.diagnostics.session_files import session_files

    files = session_files(where)
    if as_json:
        show_json(files.as_json())
        return
    show_page(files.as_text())
    if files.files and sys.stdout.isatty():
        open_path(files.folder)
