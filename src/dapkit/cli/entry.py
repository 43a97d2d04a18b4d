"""Entry of the command: the plainest lines are carried out here, within milliseconds, and all others by click.

A command lives as long as one call of the hub takes, so imports are most of its time.
"""

import io
import os
import sys

from dapkit.cli import exit_codes
from dapkit.system.platform_support import end_if_unsupported
from dapkit.system.standard_streams import notice_broken_output


def main() -> None:
    """Run the command of this process's arguments, and end with its exit code."""
    notice_broken_output()
    for stream in (sys.stdout, sys.stderr):  # which can be any encoding's
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end_if_unsupported(exit_codes.FAILED)
    try:
        words = sys.argv[1:]
        code = _record(words[1:]) if words[:1] == ["record"] else _carry_out(words)
        if code is None:
            from dapkit.cli.main import main as by_click

            by_click()
    except FileNotFoundError:
        code = _without_folder()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        code = exit_codes.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, which ends us quietly
        sys.stderr.close()
        code = exit_codes.DONE
    sys.exit(code)


def _without_folder() -> int:
    """Report that the current folder was removed, if that is why something was not found."""
    try:
        os.getcwd()
    except FileNotFoundError:
        sys.stderr.write("Error: the current folder was removed: change to another one.\n")
        return exit_codes.FAILED
    raise  # noqa: PLE0704 - the exception being handled


def _record(words: list[str]) -> int | None:
    """Record a program, and return the exit code; None if click has to do it, and nothing was done."""
    from dapkit.cli.recorded_run import CannotRecord, RecordedCommand, RecordOptions

    plain = RecordOptions.of_words(words)
    if plain is None or "_DAPKIT_COMPLETE" in os.environ:
        return None
    try:
        command = RecordedCommand.of(*plain)
    except CannotRecord:
        return None
    try:
        return command.run()
    except CannotRecord as error:
        sys.stderr.write(f"Error: {error}\n")
        return exit_codes.FAILED


def _carry_out(words: list[str]) -> int | None:
    """Carry out an action, and return the exit code; None if click has to do it, and nothing was done."""
    from dapkit.cli.arguments import WrongWords
    from dapkit.cli.fast_parser import Unclear

    try:
        return _carry_out_plain(words)
    except (Unclear, WrongWords):
        return None


def _carry_out_plain(words: list[str]) -> int:
    """Carry out an action, and return the exit code.

    Raises:
        Unclear, WrongWords: click has to; nothing was done.

    """
    from dapkit.cli.arguments import parameters
    from dapkit.cli.fast_parser import FOR_CLICK, read

    if words in (["mcp"], ["mcp", "--read-only"]) and not os.environ.keys() & FOR_CLICK:
        return _serve_agent(read_only=len(words) > 1)
    name, arguments = read(words)
    from dapkit.cli.action_call import ask  # not for commands that click carries out
    from dapkit.cli.display import show

    project, session = arguments.pop("project"), arguments.pop("session")
    answer = ask(
        name,
        parameters(name, arguments),
        session=None if session is None else str(session),
        project=None if project is None else str(project),
        read_only=bool(arguments.pop("read_only")),
    )
    show(answer, as_json=bool(arguments.pop("as_json")))
    return exit_codes.code_of(answer)


def _serve_agent(*, read_only: bool) -> int:
    """Carry out `dapkit mcp`, whose client waits for its first answer."""
    from dapkit.hub.folder import project_of
    from dapkit.mcp.serve_stdio import serve_stdio

    serve_stdio(project_of(os.getcwd()), read_only=read_only)
    return exit_codes.DONE
