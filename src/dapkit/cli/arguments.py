"""The values of a command line as the parameters of an action.

How the line is taken apart is left to others, as is the type of each word: to click (`actions`), and for the plainest
lines to `plain`, which is why nothing here imports click.
"""

import os

from dapkit.agent.breakpoint_forms.short_form import UnreadableBreakpoint, place_of
from dapkit.agent.command_words import POSITIONAL, PROGRAM_LAST, WHERE, WITH_PROGRAM
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.cli.own_input import STANDS_FOR_IT, path_of_own_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from dapkit.agent.table import ParameterRow

ASIDE = "_word"
"""Ends the name under which a parameter is kept that was given by its place."""


class WrongWords(ValueError):  # noqa: N818 - it is the words that are wrong
    """Values of a command line that contradict each other."""


def parameters(name: str, values: "Mapping[str, object]") -> dict[str, object]:
    """Return the parameters of an action: its options and its positional arguments.

    Raises:
        WrongWords: something was given twice, or is not a location.

    """
    by_name = {parameter: values.get(parameter) for parameter in ACTIONS[name]["parameters"]}
    arguments = {
        parameter: value_of(PARAMETERS[parameter], value)
        for parameter, value in by_name.items()
        if value not in (None, ())
    }
    for parameter, value in _by_place(name, values, arguments).items():
        if parameter not in ACTIONS[name]["parameters"]:
            raise WrongWords(f"expected FILE:LINE, found {value!r}")
        if parameter in arguments:
            raise WrongWords(f"{parameter} was given twice: {arguments[parameter]!r} and {value!r}")
        arguments[parameter] = value
    if arguments.get("stdin_file") in STANDS_FOR_IT:
        arguments["stdin_file"] = path_of_own_input()
    if name == "evaluate" and "expression" not in arguments:
        expressions = arguments.pop("expressions", None)
        first, *rest = expressions if isinstance(expressions, list) and expressions else [None]
        arguments |= {parameter: value for parameter, value in (("expression", first), ("expressions", rest)) if value}
    if name in ("launch", "attach", "core", *WITH_PROGRAM):
        arguments.setdefault("cwd", os.getcwd())
    return arguments


def value_of(row: "ParameterRow", word_or_value: object) -> object:
    """Return the action's parameters for the values of the command line."""
    if not isinstance(word_or_value, tuple):
        return word_or_value
    return dict(word_or_value) if row["type"] == "variables" else list(word_or_value)


def place(word: str) -> dict[str, object]:
    """Read `FILE:LINE` or `FILE:LINE:COLUMN`; anything else is a file where it exists, or a function's name.

    A number alone is a line of the file in which the program is stopped.

    Raises:
        WrongWords: it looks like neither.

    """
    if word.isdecimal() and not os.path.isfile(word):
        return {"line": int(word)}
    if (os.sep in word and ":" not in word) or os.path.isfile(word):
        return {"file": os.path.abspath(word)}
    try:
        place = place_of(word, [os.getcwd()])
    except UnreadableBreakpoint as wrong:
        raise WrongWords(f"{wrong}. {wrong.hint}") from None
    return {**place, "file": os.path.abspath(str(place["file"]))} if "file" in place else place


def _by_place(name: str, values: "Mapping[str, object]", arguments: "Mapping[str, object]") -> dict[str, object]:
    by_place: dict[str, object] = {}
    for parameter in POSITIONAL.get(name, ()):
        value = values.get(parameter + ASIDE)
        if value in (None, ()):
            continue
        if parameter == WHERE:
            by_place |= place(str(value))
        else:
            by_place[parameter] = value_of(PARAMETERS[parameter], value)
    if name in PROGRAM_LAST and "program" in by_place and arguments.keys() & {"module", "test", "configuration"}:
        rest = by_place.get("args", [])
        by_place["args"] = [by_place.pop("program"), *(rest if isinstance(rest, list) else [])]
    return by_place
