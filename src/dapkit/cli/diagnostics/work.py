"""`dapkit work`: where the threads of a program spend their time."""

import sys

import click

from dapkit import limits
from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit work --seconds 10")
@click.option(
    "--seconds",
    type=click.FloatRange(1, limits.PROFILE_SECONDS_MOST),
    default=limits.PROFILE_SECONDS,
    show_default=True,
    help="Duration of the profile. Ctrl-C ends it early and keeps its data.",
)
@click.option(
    "--open/--no-open", "opens", default=True, help="Whether to open the flame graph, in a terminal on a desktop."
)
@menu_command
def work(where: "Where", *, seconds: float, opens: bool, as_json: bool) -> None:
    """Profile where the program's threads spend their time, and draw it as a flame graph (SVG).

    For Python, threads that wait are in it, marked as waiting. Of native programs and Go, only time on a processor is
    seen. The program has to run; it goes on as if nothing had been.
    """
    from dapkit.diagnostics.profiling.work import work as profiled

    with interruptible() as (on_progress, stop):
        profile = profiled(where, seconds=seconds, on_progress=on_progress, stop=stop)
    if as_json:
        show_json(profile.as_json())
        return
    in_terminal = sys.stdout.isatty()
    if in_terminal and opens:
        from dapkit.diagnostics.desktop_opener import open_path

        open_path(profile.path)
    show_page(profile.as_text())
    click.echo(f"Flame graph: {profile.path}", err=not in_terminal)
