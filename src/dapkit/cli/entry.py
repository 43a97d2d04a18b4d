"""Entry of the command: the plainest lines are carried out here, within milliseconds, and all others by click.

A command lives as long as one call of the hub takes, so imports are most of its time.
"""

import io
import os
import sys

from dapkit.cli import exit_codes
from dapkit.cli.arguments import WrongWords, parameters
from dapkit.cli.fast_parser import FOR_CLICK, Unclear, read
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
        try:
            code = _carry_out(sys.argv[1:])
        except (Unclear, WrongWords):
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


def _carry_out(words: list[str]) -> int:
    """Carry out an action, and return the exit code.

    Raises:
        Unclear, WrongWords: click has to; nothing was done.

    """
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
