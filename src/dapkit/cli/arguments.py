"""What was given on a command line, as the parameters of an action.

How the line is taken apart is left to others, as is the type of each word: to click (`actions`), and for the plainest
lines to `plain`, which is why nothing here imports click.
"""

import os

from dapkit.agent.breakpoint_text import UnreadableBreakpoint, place_of
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.cli.own_input import STANDS_FOR_IT, path_of_own_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from dapkit.agent.table import ParameterRow

WHERE = "where"
"""A word that stands for `file` and `line`, or for `function`."""

POSITIONAL = {
    "launch": ("program", "args"),
    "attach": ("pid",),
    "core": ("program", "core"),
    "set_breakpoint": (WHERE,),
    "remove_breakpoint": (WHERE,),
    "set_exception_breakpoints": ("filters",),
    "breakpoints": ("do", "numbers"),
    "run_to": (WHERE,),
    "goto": (WHERE,),
    "source": (WHERE,),
    "stdin": ("input",),
    "evaluate": ("expression",),
    "why": ("expression",),
    "travel_to": ("clock",),
    "variables": ("variable_ref",),
    "set_variable": ("name", "value"),
    "set_expression": ("expression", "value"),
    "completions": ("expression",),
    "set_instruction_breakpoint": ("instruction_reference",),
    "remove_instruction_breakpoint": ("instruction_reference",),
    "data_breakpoint_info": ("name",),
    "set_data_breakpoint": ("name",),
    "remove_data_breakpoint": ("data_id",),
    "disassemble": ("instruction_count",),
    "read_memory": ("memory_reference", "count"),
    "write_memory": ("memory_reference", "data"),
    "custom_request": ("command", "arguments"),
}
"""Parameters that can be given without naming them, in this order."""

ASIDE = "_word"
"""Ends the name under which a parameter is kept that was given by its place."""

SHORT = {"breakpoints": "-b", "exceptions": "-x", "condition": "-c"}
"""Short forms of the options that are typed most."""

_LISTS = ("strings", "integers", "breakpoints", "variables")


class WrongWords(ValueError):  # noqa: N818 - it is the words that are wrong
    """What was given does not go together."""


def is_list(row: "ParameterRow") -> bool:
    """Say whether the option may be given several times."""
    return row["type"] in _LISTS


def flags(name: str) -> list[str]:
    """Return how the option of a parameter is written: `--hit-condition`, and `--breakpoint` for one of many."""
    dashed = name.replace("_", "-")
    short = [SHORT[name]] if name in SHORT else []
    single = [f"--{dashed.removesuffix('s')}"] if is_list(PARAMETERS[name]) and name != "args" else []
    return [*short, *(flag for flag in single if flag != f"--{dashed}"), f"--{dashed}"]


def parameters(name: str, given: "Mapping[str, object]") -> dict[str, object]:
    """Return the parameters of an action: the options, and what was given by its place.

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
    """Return what the action gets for what was given."""
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
