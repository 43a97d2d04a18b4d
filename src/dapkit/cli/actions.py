"""A command for each action, made from the generated table."""

import os
import shlex
from typing import Any, Final

import click

from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.cli import exits, words
from dapkit.cli.asking import Answer, ask
from dapkit.cli.showing import show
from dapkit.cli.surroundings import SURROUNDINGS, Surroundings

WHERE: Final = "where"
"""A word that stands for `file` and `line`, or for `function`."""

POSITIONAL: Final = {
    "launch": ("program", "args"),
    "attach": ("pid",),
    "set_breakpoint": (WHERE,),
    "remove_breakpoint": (WHERE,),
    "set_exception_breakpoints": ("filters",),
    "breakpoints": ("do", "numbers"),
    "run_to": (WHERE,),
    "goto": (WHERE,),
    "source": (WHERE,),
    "stdin": ("input",),
    "evaluate": ("expression",),
    "variables": ("variable_ref",),
    "set_variable": ("name", "value"),
    "set_expression": ("expression", "value"),
    "completions": ("expression",),
    "set_instruction_breakpoint": ("instruction_reference",),
    "remove_instruction_breakpoint": ("instruction_reference",),
    "data_breakpoint_info": ("name",),
    "set_data_breakpoint": ("data_id",),
    "remove_data_breakpoint": ("data_id",),
    "disassemble": ("instruction_count",),
    "read_memory": ("memory_reference", "count"),
    "write_memory": ("memory_reference", "data"),
    "custom_request": ("command", "arguments"),
}
"""Parameters that can be given without naming them, in this order."""

_ASIDE: Final = "_word"
"""Ends the name under which click keeps a parameter that was given by its place."""


def command(name: str) -> click.Command:
    """Make the command of an action."""
    row = ACTIONS[name]
    positional = POSITIONAL.get(name, ())
    arguments = [_argument(one) for one in positional]
    options = [words.option(one, PARAMETERS[one]) for one in row["parameters"]]

    def run(**given: Any) -> None:  # noqa: ANN401 - what click made of the words
        surroundings = Surroundings.taken_from(given)
        answer = carry_out(name, given, surroundings)
        show(answer, as_json=surroundings.as_json)
        raise click.exceptions.Exit(exit_code(answer))

    return click.Command(
        name.replace("_", "-"),
        params=[*arguments, *options, *SURROUNDINGS],
        callback=run,
        help=row["summary"],
        epilog=("Options stand before PROGRAM: what follows it is the program's.\n\n" if name == "launch" else "")
        + f"Example: {example(name)}",
        context_settings={"allow_interspersed_args": name != "launch"},
    )


def carry_out(name: str, given: dict[str, Any], surroundings: Surroundings) -> Answer:
    """Ask for an action with what click made of the words."""
    return ask(
        name,
        parameters(name, given),
        session=surroundings.session,
        project=surroundings.project,
        read_only=surroundings.read_only,
    )


def exit_code(answer: Answer) -> int:
    """Return the exit code for an answer."""
    if answer["success"]:
        return exits.DONE
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return exits.OF_CODE.get(str(code), exits.FAILED)


def parameters(name: str, given: dict[str, Any]) -> dict[str, object]:
    """Return the parameters of an action: the options, and what was given by its place.

    Raises:
        click.UsageError: something was given twice.

    """
    named = {one: given.get(one) for one in ACTIONS[name]["parameters"]}
    chosen = {
        one: words.value_of(PARAMETERS[one], value) for one, value in named.items() if value is not None and value != ()
    }
    for one, value in _by_place(name, given, chosen).items():
        if one not in ACTIONS[name]["parameters"]:
            raise click.UsageError(f"expected FILE:LINE, found {value!r}")
        if one in chosen:
            raise click.UsageError(f"{one} was given twice: {chosen[one]!r} and {value!r}")
        chosen[one] = value
    if name in ("launch", "attach"):
        chosen.setdefault("cwd", os.getcwd())
    return chosen


def _by_place(name: str, given: dict[str, Any], chosen: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in POSITIONAL.get(name, ()):
        value = given.get(one + _ASIDE)
        if value is None or value == ():
            continue
        if one == WHERE:
            found |= words.place(value)
        else:
            found[one] = words.value_of(PARAMETERS[one], value)
    if name == "launch" and "program" in found and chosen.keys() & {"module", "test", "configuration"}:
        rest = found.get("args", [])
        found["args"] = [found.pop("program"), *(rest if isinstance(rest, list) else [])]
    return found


def _argument(name: str) -> click.Argument:
    if name == WHERE:
        return click.Argument([WHERE + _ASIDE], metavar="[FILE:LINE]", required=False, type=words.FilePlace())
    row = PARAMETERS[name]
    listed = words.is_list(row)
    return click.Argument(
        [name + _ASIDE],
        metavar=f"[{name.upper()}]" + ("..." if listed else ""),
        nargs=-1 if listed else 1,
        required=False,
        type=words.type_of(row),
    )


def example(name: str) -> str:
    """Return the example of an action as a command line."""
    given = dict(ACTIONS[name]["example"])
    line = ["dapkit", name.replace("_", "-")]
    last: list[str] = []
    for one in POSITIONAL.get(name, ()):
        if one == WHERE and "file" in given:
            place = str(given.pop("file"))
            last.append(f"{place}:{given.pop('line')}" if "line" in given else place)
        elif one in given:
            value = given.pop(one)
            last += [_word(each) for each in value] if isinstance(value, list) else [_word(value)]
    for one, value in given.items():
        row = PARAMETERS[one]
        flag = next(text for text in reversed(words.option(one, row).opts))
        for each in value if isinstance(value, list) else [value]:
            line += [flag] if each is True else [flag, _word(each)]
    return shlex.join([*line, *last])


def _word(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
