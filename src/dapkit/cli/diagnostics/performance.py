"""`dapkit performance`: a CPU profile until a key is pressed, then a work profile, both in a report."""

import threading
from typing import TYPE_CHECKING

import click

from dapkit import limits
from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page
from dapkit.system.pressed_keys import ended_by_keys

if TYPE_CHECKING:
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit performance --seconds 10")
@click.option(
    "--seconds",
    type=click.FloatRange(1, limits.PROFILE_SECONDS_MOST),
    default=limits.PROFILE_SECONDS_MOST,
    show_default=True,
    help="How long the CPU profile takes, if nothing ends it before.",
)
@click.option(
    "--work-seconds",
    type=click.FloatRange(1, limits.PROFILE_SECONDS_MOST),
    default=limits.PROFILE_SECONDS,
    show_default=True,
    help="How long the work profile takes after that.",
)
@menu_command
def performance(where: "Where", *, seconds: float, work_seconds: float, as_json: bool) -> None:
    """Profile the program's processor time until a key is pressed, then the time of its threads.

    Both profiles, as text, JSON, folded stacks and flame graphs, come into a report with all else that is known of the
    session; secrets are left out. A key, or Ctrl-C, ends the present profile and keeps its data.
    """
    from dapkit.diagnostics.profiling.performance import performance as profiled

    until = threading.Event()
    with interruptible(until) as (show, stop), ended_by_keys(until, stop) as has_keys:
        hint = " (any key ends it)" if has_keys else ""
        profiles = profiled(
            where,
            until=until,
            seconds=seconds,
            work_seconds=work_seconds,
            on_progress=lambda text, percentage: show(f"{text}{hint}", percentage),
            stop=stop,
        )
    if as_json:
        show_json(profiles.as_json())
    else:
        show_page(profiles.as_text())
