"""The values of a command line as the parameters of an action.

How the line is taken apart is left to others, as is the type of each word: to click (`actions`), and for the plainest
lines to `plain`, which is why nothing here imports click.
"""

import os

from dapkit.agent.breakpoint_forms.short_form import UnreadableBreakpoint, place_of
from dapkit.agent.command_words import POSITIONAL, WHERE
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


def parameters(name: str, given: "Mapping[str, object]") -> dict[str, object]:
    """Return the parameters of an action: its options and its positional arguments.

    Raises:
        WrongWords: something was given twice, or is not a location.

    """
    named = {parameter: given.get(parameter) for parameter in ACTIONS[name]["parameters"]}
    chosen = {
        parameter: value_of(PARAMETERS[parameter], value)
        for parameter, value in named.items()
        if value not in (None, ())
    }
    for parameter, value in _by_place(name, given, chosen).items():
        if parameter not in ACTIONS[name]["parameters"]:
            raise WrongWords(f"expected FILE:LINE, found {value!r}")
        if parameter in chosen:
            raise WrongWords(f"{parameter} was given twice: {chosen[parameter]!r} and {value!r}")
        chosen[parameter] = value
    if chosen.get("stdin_file") in STANDS_FOR_IT:
        chosen["stdin_file"] = path_of_own_input()
    if name in ("launch", "attach", "core"):
        chosen.setdefault("cwd", os.getcwd())
    return chosen


def value_of(row: "ParameterRow", given: object) -> object:
    """Return the action's parameters for the values of the command line."""
    if not isinstance(given, tuple):
        return given
    return dict(given) if row["type"] == "variables" else list(given)


def place(word: str) -> dict[str, object]:
    """Read `FILE:LINE` or `FILE:LINE:COLUMN`; anything else is a file where it exists, or a function's name.

    Raises:
        WrongWords: it looks like neither.

    """
    if (os.sep in word and ":" not in word) or os.path.isfile(word):
        return {"file": os.path.abspath(word)}
    try:
        found = place_of(word, [os.getcwd()])
    except UnreadableBreakpoint as wrong:
        raise WrongWords(f"{wrong}. {wrong.hint}") from None
    return {**found, "file": os.path.abspath(str(found["file"]))} if "file" in found else found


def _by_place(name: str, given: "Mapping[str, object]", chosen: "Mapping[str, object]") -> dict[str, object]:
    found: dict[str, object] = {}
    for parameter in POSITIONAL.get(name, ()):
        value = given.get(parameter + ASIDE)
        if value in (None, ()):
            continue
        if parameter == WHERE:
            found |= place(str(value))
        else:
            found[parameter] = value_of(PARAMETERS[parameter], value)
    if name == "launch" and "program" in found and chosen.keys() & {"module", "test", "configuration"}:
        rest = found.get("args", [])
        found["args"] = [found.pop("program"), *(rest if isinstance(rest, list) else [])]
    return found
