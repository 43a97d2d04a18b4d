"""`dapkit open-artifacts` and `dapkit clear-cache`: the files about sessions, shown and removed."""

import sys

import click

from dapkit.cli import exit_codes
from dapkit.cli.diagnostics.common import fail, interruptible, menu_command, show_json, show_page

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


@click.command(name="clear-cache", epilog="Example: dapkit clear-cache --days 7")
@click.option(
    "--days",
    type=click.FloatRange(min=0),
    help="Age in days of the files to remove; by default the setting artifacts.days (30).",
)
@click.option("-y", "--yes", is_flag=True, help="Remove it without asking.")
@click.option("-n", "--dry-run", is_flag=True, help="List it, and remove nothing.")
@menu_command
def clear_cache(where: "Where", *, days: float | None, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Remove files about sessions of all projects that are older than 30 days, after listing them.

    Files that a running session may use are kept.
    """
    from dapkit.diagnostics.cache import counted, old_folders, remove
    from dapkit.settings import Settings

    old = old_folders(where, days=Settings.load(None).artifacts_days if days is None else days)
    if not old.folders or dry_run:
        if as_json:
            show_json({**old.as_json(), "removed": [], "size": 0, "failed": []})
        else:
            show_page(old.as_text())
        return
    if not as_json:
        show_page(old.as_text())
    if not yes:
        if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            fail("refused", "Nothing was removed: no terminal to confirm it.", "--yes removes it.", as_json=as_json)
        if not click.confirm(f"Remove {counted(len(old.folders))}?"):
            click.echo("Nothing was removed.")
            return
    with interruptible() as (on_progress, stop):
        removal = remove(where, old, on_progress=on_progress, stop=stop)
    if as_json:
        show_json({**old.as_json(), **removal.as_json()})
    else:
        show_page(removal.as_text())
    if removal.failed:
        raise click.exceptions.Exit(exit_codes.FAILED)
