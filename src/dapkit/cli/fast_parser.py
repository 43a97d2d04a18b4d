"""The plainest command lines: an action, its options in words of their own, its parameters by their place.

To import click takes longer than everything else that such a command does, so that they are read without it. Nothing
is decided here that click would not decide alike: whatever is not certain, or is wrong, is left to it.
"""

import os

from dapkit.agent.command_words import (
    ALIASES,
    OPTION_OF_RUN,
    OWN_COMMANDS,
    POSITIONAL,
    WHERE,
    WITH_PROGRAM,
    flags,
    is_list,
)
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.cli.arguments import ASIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dapkit.agent.table import ParameterRow

type GivenArguments = dict[str, object]
"""The parsed values, by click's names for them."""

FOR_CLICK = frozenset({"_DAPKIT_COMPLETE", "DAPKIT_READ_ONLY"})
"""Variables that have click look at the line."""


class Unclear(Exception):  # noqa: N818 - not an error: click reads the line then
    """The command line needs click's parser."""


def read(words: "Sequence[str]") -> tuple[str, GivenArguments]:
    """Read an action and its arguments, its session and its project.

    Raises:
        Unclear: click has to read it.

    """
    name = ALIASES.get(words[0], words[0]).replace("-", "_") if words else ""
    if name not in ACTIONS or name in (*OWN_COMMANDS, OPTION_OF_RUN, *WITH_PROGRAM) or os.environ.keys() & FOR_CLICK:
        raise Unclear
    arguments, by_place = _options(name, iter(words[1:]))
    for parameter in POSITIONAL.get(name, ()):
        row = _STRING if parameter == WHERE else PARAMETERS[parameter]
        if is_list(row):
            arguments[parameter + ASIDE] = tuple(_value(row, word) for word in by_place)
            by_place = []
        elif by_place:
            arguments[parameter + ASIDE] = _value(row, by_place.pop(0))
    if by_place or "configuration" in arguments:  # which may ask the user something
        raise Unclear
    arguments.setdefault("session", os.environ.get("DAPKIT_SESSION") or None)
    project = os.environ.get("DAPKIT_PROJECT")
    arguments.setdefault("project", _value(_PATH, project) if project else None)
    return name, arguments


def _options(name: str, words: "Iterator[str]") -> tuple[GivenArguments, list[str]]:
    """Take options from the words; return the options and the remaining words."""
    valued, switches = dict(_VALUED), dict(_SWITCHES)
    for parameter in ACTIONS[name]["parameters"]:
        row = PARAMETERS[parameter]
        if row["type"] == "boolean":
            (flag,) = flags(parameter)
            switches |= {flag: (parameter, True), flag.replace("--", "--no-", 1): (parameter, False)}
        else:
            valued |= dict.fromkeys(flags(parameter), (parameter, row))
    arguments: GivenArguments = {"read_only": False, "as_json": False}
    by_place: list[str] = []
    for word in words:
        if word in switches:
            parameter, switched = switches[word]
            arguments[parameter] = switched
        elif word in valued:
            _take(arguments, *valued[word], next(words, ""))
            if word == "-m":  # all words after the module belong to it
                by_place += words
        else:
            by_place.append(word)
            if name == "launch":  # all words after the program belong to the program
                by_place += words
    return arguments, by_place


def _take(arguments: GivenArguments, parameter: str, row: "ParameterRow", word: str) -> None:
    """Take one option with its value."""
    value, before = _value(row, word), arguments.get(parameter)
    if not is_list(row):
        if before is not None:
            raise Unclear
        arguments[parameter] = value
    else:
        arguments[parameter] = (*(before if isinstance(before, tuple) else ()), value)


def _value(row: "ParameterRow", word: str) -> object:
    """Return the value of one word for a parameter."""
    if not word or word.startswith("-") or (row["choices"] and word not in row["choices"]):
        raise Unclear
    digits = word.isascii() and word.replace(".", "", 1).isdecimal()
    match row["type"]:
        case "string" | "strings":
            return word
        case "path":
            return os.path.abspath(os.path.expanduser(word))
        case "integer" | "integers" if digits and "." not in word:
            return int(word)
        case "integer_or_string":
            return int(word) if word.isdecimal() else word
        case "number" if digits:
            return float(word)
        case "breakpoints" if not word.startswith("{"):
            return word
    raise Unclear


_STRING: "ParameterRow" = {"type": "string", "choices": (), "meaning": ""}
_PATH: "ParameterRow" = {"type": "path", "choices": (), "meaning": ""}

# Parameters of every command beside those in its action (`common_options`)
_SWITCHES = {"--read-only": ("read_only", True), "--json": ("as_json", True)}
_VALUED = {"-s": ("session", _STRING), "--session": ("session", _STRING), "--project": ("project", _PATH)}
