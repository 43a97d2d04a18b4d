"""Options of every command that carries out an action: the session, the project, and the form of the answer.

Options of ours that stand after the program are given to the program; a hint says so.
"""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Self

import click

from dapkit.cli.parameter_types import PathParameter


def session_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as click has it
    """Complete the names of sessions, if a hub runs."""
    from dapkit import hub
    from dapkit.cli.action_call import ask

    try:
        if hub.status() is None:
            return []
    except hub.HubError:
        return []
    details = ask("sessions", {}, read_only=True).get("details")
    sessions = details.get("sessions", []) if isinstance(details, dict) else []
    return [session["id"] for session in sessions if session["id"].startswith(incomplete)]


COMMON_OPTIONS: tuple[click.Option, ...] = (
    click.Option(
        ["-s", "--session"],
        metavar="NAME",
        envvar="DAPKIT_SESSION",
        shell_complete=session_names,
        help="Name of the session; by default the only one.",
    ),
    click.Option(
        ["--project"],
        type=PathParameter(),
        envvar="DAPKIT_PROJECT",
        help="Folder whose sessions are meant; by default the project around the current folder.",
    ),
    click.Option(
        ["--read-only"], is_flag=True, envvar="DAPKIT_READ_ONLY", help="Reject commands that run or change the program."
    ),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object: action, success, text, details."),
)
"""Options of every such command."""


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """Values of these options."""

    session: str | None
    project: str | None
    read_only: bool
    as_json: bool

    @classmethod
    def taken_from(cls, values: dict[str, Any]) -> Self:
        """Take them out of everything that was given."""
        return cls(values.pop("session"), values.pop("project"), values.pop("read_only"), values.pop("as_json"))


_OF_MANY_PROGRAMS = ("-m",)


def note_our_options(args: Sequence[str], command: click.Command, *, common: Collection[str] = ()) -> None:
    """Say on stderr which of a program's arguments are options of this command, unless `--` has shown who is meant.

    Nothing is said of `common` ones, which many programs have.
    """
    if "--" in sys.argv or click.get_current_context().resilient_parsing:
        return
    ours = {flag: option for option in command.params if isinstance(option, click.Option) for flag in option.opts}
    for place, word in enumerate(args):
        option = ours.get(word.partition("=")[0])
        if option is None or word in (*common, *_OF_MANY_PROGRAMS):
            continue
        has_value = not option.is_flag and "=" not in word and place + 1 < len(args)
        given_option = f"{word} {args[place + 1]}" if has_value else word
        click.echo(
            f"Note: {given_option} after the program was given to it. Options of dapkit stand before it;"
            " -- before the program says that this is meant.",
            err=True,
        )
