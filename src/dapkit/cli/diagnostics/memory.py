"""`dapkit memory`: the holders of a Python program's memory."""

from pathlib import Path

import click

from dapkit.cli.diagnostics.common import interruptible, menu_command, show_json, show_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.diagnostics.memory.snapshot import By
    from dapkit.diagnostics.sessions import Where


@click.command(epilog="Example: dapkit memory --compare last")
@click.option("--by", type=click.Choice(["type", "line"]), help="Show only that; by default all that is known.")
@click.option("--compare", metavar="FILE|last", help="Show the changes since a snapshot, or since the last one.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Rows of each table.")
@click.option("--attach", is_flag=True, help="Trace later allocations of the running program with memray.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1, max=3600),
    default=10.0,
    show_default=True,
    help="With --attach: how long.",
)
@menu_command
def memory(
    where: "Where",
    *,
    by: "By | None",
    compare: str | None,
    limit: int,
    attach: bool,
    seconds: float,
    as_json: bool,
) -> None:
    """Show the memory of a Python program: by type, by holder, and by line.

    The program stands still for it, about a second for a million objects, and is the same afterwards. Each snapshot is
    kept in the session's folder. Lines are known if the program traces its allocations (-X tracemalloc); with --attach,
    memray (of dapkit[profile]) traces the allocations of the next seconds.
    """
    from dapkit.diagnostics import memory as heap

    before = None if compare is None else heap.last(where) if compare == "last" else heap.load(Path(compare))
    with interruptible() as (on_progress, stop):
        snapshot = heap.memory(where, attach=attach, seconds=seconds, on_progress=on_progress, stop=stop)
    if before is None:
        if as_json:
            show_json(snapshot.as_json())
        else:
            show_page(snapshot.as_text(by=by, most=limit))
        return
    changes = heap.compare(before, snapshot)
    if as_json:
        show_json(changes.as_json())
    else:
        show_page(f"{changes.as_text(by=by, most=limit)}\n\nKept in {snapshot.path}")
