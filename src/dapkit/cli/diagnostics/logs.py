"""`dapkit logs`: the log of the hub."""

import re
import sys
from collections.abc import Sequence
from typing import Any

import click

from dapkit import limits
from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page
from dapkit.cli.display import as_json_text, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.log_lines import Level, LogLine
    from dapkit.diagnostics.sessions import Where

_LEVELS = ("debug", "info", "warning", "error", "critical")


class RangeParameter(click.ParamType[tuple[int, int]]):
    """FIRST:LAST, numbers of lines."""

    name = "first:last"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:  # noqa: ANN401 - as click has it
        """Take it apart."""
        match = re.fullmatch(r"(\d{1,9}):(\d{1,9})", value)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"expected the numbers of two lines, such as 120:140, found {value!r}", param, ctx)
        return int(match[1]), int(match[2])


def _days(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as click has it
    """Complete the days that have a log."""
    from dapkit.diagnostics.errors import DiagnosticsError
    from dapkit.diagnostics.logs import logged_days

    try:
        return [day for day in logged_days() if day.startswith(incomplete)]
    except DiagnosticsError:
        return []


@click.command(epilog="Example: dapkit logs --level warning")
@click.option("--day", metavar="YYYY-MM-DD", shell_complete=_days, help="Another day than today.")
@click.option(
    "--pid", "pids", type=click.IntRange(min=1), multiple=True, help="Lines of this process of the hub; more than once."
)
@click.option("--level", type=click.Choice(_LEVELS), help="Lines of at least this level.")
@click.option(
    "--lines",
    type=click.IntRange(min=0, max=limits.LOG_LINES),
    default=limits.LOG_WINDOW_LINES,
    show_default=True,
    help="How many lines, the last ones.",
)
@click.option("--range", "numbers", type=RangeParameter(), help="Lines by their numbers, instead of the last ones.")
@click.option("-f", "--follow", is_flag=True, help="Show later records too, until Ctrl-C.")
@menu_command
def logs(
    where: "Where",
    *,
    day: str | None,
    pids: tuple[int, ...],
    level: "Level | None",
    lines: int,
    numbers: tuple[int, int] | None,
    follow: bool,
    as_json: bool,
) -> None:
    """Show the log of the hub, each line with its number in the file of the day.

    Of a day the last 5000 lines, and 2 MiB, can be shown. The hub keeps the logs of 30 days. A further line of a
    message, or of a traceback, belongs to the line before it. Secrets are left out unless the setting redact.enabled
    is off.
    """
    from dapkit.diagnostics import logs as found

    if follow:
        if numbers is not None or day not in (None, found.today()):
            raise click.UsageError("--follow is for the log of today, and not for --range.")
        _follow(where, pids, level, lines, as_json=as_json)
        return
    report = found.logs(where, day=day, pids=pids, level=level, lines=lines, numbers=numbers)
    if as_json:
        show_json(report.as_json())
        return
    for problem in report.problems:
        complain({"error": {"message": f"Not read: {problem}"}})
    show_page(report.as_numbered_text())


def _follow(where: "Where", pids: tuple[int, ...], level: "Level | None", lines: int, *, as_json: bool) -> None:
    """Print lines as they come; with --json one JSON object for each record or outcome, on a line."""
    from dapkit.diagnostics.log_following import follow
    from dapkit.diagnostics.log_lines import as_records, numbered

    def show(added: "Sequence[LogLine]") -> None:
        texts = map(as_json_text, as_records(added)) if as_json else numbered(added)
        sys.stdout.write("".join(f"{text}\n" for text in texts))
        sys.stdout.flush()

    with interruptible() as (_, stop):
        follow(where, show, stop=stop, pids=pids, level=level, lines=lines)
