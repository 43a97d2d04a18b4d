"""Options of every diagnostics command: the session, the project, the form of the answer, and the display of errors."""

import contextlib
import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

import click

from dapkit.cli import exit_codes
from dapkit.cli.common_options import COMMON_OPTIONS
from dapkit.cli.display import as_json_text, complain, page

_TAKEN = ("session", "project", "as_json")


def menu_command(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `-s`, `--project` and `--json`, as `where` and `as_json`, and let it end with a clear error.

    Example:
        @click.command()
        @menu_command
        def system(where: Where, *, as_json: bool) -> None:
            "Show the machine."

    """

    @functools.wraps(command)
    def run(session: str | None, project: str | None, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401 - options of the command
        from dapkit.diagnostics.errors import DiagnosticsError
        from dapkit.diagnostics.sessions import Where

        try:
            command(Where.of(project, session), as_json=as_json, **values)
        except DiagnosticsError as error:
            fail(error.code, error.message, error.hint, as_json=as_json)

    params = [option for option in COMMON_OPTIONS if option.name in _TAKEN]
    run.__click_params__ = [*getattr(command, "__click_params__", []), *reversed(params)]  # type: ignore[attr-defined] # where click's decorators collect them
    return run


def fail(code: str, message: str, hint: str = "", *, as_json: bool) -> NoReturn:
    """Show an error and end with its exit code."""
    answer: dict[str, object] = {
        "success": False,
        "text": f"{message}\n{hint}" if hint else message,
        "error": {"code": code, "message": message, "hint": hint},
    }
    if as_json:
        sys.stdout.write(f"{as_json_text(answer)}\n")
    else:
        complain(answer)
    raise click.exceptions.Exit(exit_codes.code_of(answer))


def show_json(value: object) -> None:
    """Print one JSON object."""
    sys.stdout.write(f"{as_json_text(value, indent=2 if sys.stdout.isatty() else None)}\n")
    sys.stdout.flush()


def show_page(text: str) -> None:
    """Show a result: it may contain names of the program and of files, with any characters in them."""
    from dapkit.agent.text.escaping import printable

    page(printable(text))


@contextlib.contextmanager
def interruptible(*earlier: threading.Event) -> Iterator[tuple[Callable[[str, float | None], None], threading.Event]]:
    """Show progress on stderr. The first Ctrl-C ends the work with its partial result; the second one ends the command.

    Work of several parts has events for the `earlier` ones: each Ctrl-C ends the present part.

    Yields the arguments of the work: a function for its progress, and the event that ends it early.
    """
    from dapkit.cli.progress import ProgressLine

    stop = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        present = next((event for event in (*earlier, stop) if not event.is_set()), None)
        if present is None:
            signal.default_int_handler(number, frame)
        else:
            present.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with ProgressLine() as line:
            yield line.show, stop
    finally:
        signal.signal(signal.SIGINT, before)
