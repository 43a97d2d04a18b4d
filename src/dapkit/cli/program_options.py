"""Options of ours that stand after the program, and so were given to it."""

import sys
from collections.abc import Sequence

import click


def note_our_options(args: Sequence[str], command: click.Command) -> None:
    """Say on stderr which of a program's arguments are options of this command, unless `--` has shown who is meant."""
    if "--" in sys.argv or click.get_current_context().resilient_parsing:
        return
    ours = {flag: option for option in command.params if isinstance(option, click.Option) for flag in option.opts}
    for place, word in enumerate(args):
        option = ours.get(word.partition("=")[0])
        if option is None:
            continue
        has_value = not option.is_flag and "=" not in word and place + 1 < len(args)
        given_option = f"{word} {args[place + 1]}" if has_value else word
        click.echo(
            f"Note: {given_option} after the program was given to it. Options of dapkit stand before it;"
            " -- before the program says that this is meant.",
            err=True,
        )
