"""Commands that take a program: after `-m MODULE` all words belong to the module, as after `python -m`."""

import click


class ModuleOptionCommand(click.Command):
    """A command whose options end with `-m MODULE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words."""
        return super().parse_args(ctx, module_apart(self, ctx, args))


def module_apart(command: click.Command, ctx: click.Context, words: list[str]) -> list[str]:
    """Return the words with `--module MODULE --` in place of `-m MODULE`."""
    place = place_of_module(command, ctx, words)
    return words if place is None else [*words[:place], "--module", words[place + 1], "--", *words[place + 2 :]]


def place_of_module(command: click.Command, ctx: click.Context, words: list[str]) -> int | None:
    """Return where `-m` stands with a module after it; None if it is not there as an option of ours."""
    for place, word in enumerate(words[:-1]):
        if word == "--":
            break
        if word == "-m" and _is_option_at(command, ctx, words[:place]):
            return place
    return None


def _is_option_at(command: click.Command, ctx: click.Context, before: list[str]) -> bool:
    """Return whether the word after some is read as an option of ours, and not as a value or a word of a program."""
    try:
        values, rest, _ = command.make_parser(ctx).parse_args([*before])
    except click.UsageError:  # the last of them needs a value
        return False
    by_place = [values.get(str(param.name)) for param in command.params if isinstance(param, click.Argument)]
    has_program = bool(rest) or any(isinstance(value, str | tuple) and value for value in by_place)
    return ctx.allow_interspersed_args or not has_program
