"""Diagnostics whose result is a text: the work, and its display."""

import functools
import threading

from textual.screen import Screen

from dapkit import limits
from dapkit.diagnostics.cache import counted, old_folders, remove
from dapkit.diagnostics.desktop_opener import open_path
from dapkit.diagnostics.session_files import session_files
from dapkit.diagnostics.sessions import OnProgress, Where
from dapkit.diagnostics.system import system
from dapkit.settings import Settings
from dapkit.tui.task_screen import Question, TaskScreen

_TRANSCRIPT_LINES_SHOWN = 200
"""Lines of a transcript that the menu shows; all are in its file."""
_HEAP_ROWS_ON_SCREEN = 10
"""Rows of a snapshot of the heap that the menu shows, and of its comparison with an earlier one."""


def system_screen(where: Where) -> Screen[None]:
    """Show this machine."""
    return TaskScreen("system", lambda report, _stop: system(where, on_progress=report).as_text())


def dump_screen(where: Where) -> Screen[None]:
    """Write a report."""
    from dapkit.diagnostics.report import write_report

    def write(report: OnProgress, stop: threading.Event) -> str:
        return write_report(where, on_progress=report, stop=stop).as_text()

    return TaskScreen("dump", write)


def work_screen(where: Where) -> Screen[None]:
    """Record a work profile, and open its flame graph."""
    from dapkit.diagnostics.profiling.work import work

    def record(report: OnProgress, stop: threading.Event) -> str:
        profile = work(where, on_progress=_hinting(report, "Escape"), stop=stop)
        remark = "It was opened." if open_path(profile.path) else "There is no desktop to open it."
        return f"Flame graph: {profile.path}\n{remark}\n\n{profile.as_text()}"

    return TaskScreen("work", record)


def performance_screen(where: Where) -> Screen[None]:
    """Record a CPU profile until a key is pressed, then a work profile, and write both into a report."""
    from dapkit.diagnostics.profiling.performance import performance

    until = threading.Event()

    def record(report: OnProgress, stop: threading.Event) -> str:
        return performance(where, until=until, on_progress=_hinting(report, "Any key"), stop=stop).as_text()

    return TaskScreen("performance", record, any_key=True, earlier=[until])


def _hinting(report: OnProgress, key: str) -> OnProgress:
    """Report progress, with the key that ends the work."""

    def shown(text: str, percentage: float | None) -> None:
        report(f"{text}. {key} ends it early, with a partial result.", percentage)

    return shown


def memory_screen(where: Where) -> Screen[None]:
    """Take a snapshot of the heap, and compare it with the last one; then memray is offered, if the program runs."""
    from dapkit.diagnostics import memory as heap

    def take(report: OnProgress, stop: threading.Event, *, attach: bool = False) -> str:
        earlier = heap.saved(where)[-1:]
        snapshot = heap.memory(where, attach=attach, on_progress=_hinting(report, "Escape"), stop=stop)
        parts = [snapshot.as_text(most=_HEAP_ROWS_ON_SCREEN)]
        parts += [heap.compare(heap.load(path), snapshot).as_text(most=_HEAP_ROWS_ON_SCREEN) for path in earlier]
        return "\n\n".join(parts)

    def ask(report: OnProgress, stop: threading.Event) -> str | Question:
        text = take(report, stop)
        if not heap.can_attach(where):
            return text
        seconds = f"{limits.HEAP_ATTACH_SECONDS:g} s"
        return Question(
            text, f"Trace the allocations of the next {seconds} with memray?", functools.partial(take, attach=True)
        )

    return TaskScreen("memory", ask)


def open_artifacts_screen(where: Where) -> Screen[None]:
    """Open the session's folder, or list its contents."""

    def show(_report: OnProgress, _stop: threading.Event) -> str:
        files = session_files(where)
        opened = bool(files.files) and open_path(files.folder)
        return f"{files.as_text()}\n\nIt was opened." if opened else files.as_text()

    return TaskScreen("open-artifacts", show)


def transcript_screen(where: Where) -> Screen[None]:
    """Write the session as Markdown and as a page, and show how it begins."""
    from dapkit.diagnostics.transcript import as_markdown, write

    def work(report: OnProgress, _stop: threading.Event) -> str:
        paths = write(where, on_progress=report)
        lines = as_markdown(paths.transcript).splitlines()
        rest = len(lines) - _TRANSCRIPT_LINES_SHOWN
        lines_shown = [*lines[:_TRANSCRIPT_LINES_SHOWN], *([f"(and {rest} more lines)"] if rest > 0 else [])]
        return "\n".join([paths.as_text(), "", *lines_shown])

    return TaskScreen("transcript", work)


def clear_cache_screen(where: Where) -> Screen[None]:
    """Remove old folders, after a question."""

    def find(_report: OnProgress, _stop: threading.Event) -> str | Question:
        old = old_folders(where, days=Settings.load(None).artifacts_days)
        if not old.folders:
            return old.as_text()

        def clear(report: OnProgress, stop: threading.Event) -> str:
            return remove(where, old, on_progress=report, stop=stop).as_text()

        return Question(old.as_text(), f"Remove {counted(len(old.folders))}?", clear)

    return TaskScreen("clear-cache", find)
