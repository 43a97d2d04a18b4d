"""Actions as words of a command line: which parameters are given by their place, and how options are written.

Here is how a line is written; how one is read is decided in `dapkit.cli`. Imported by every command: nothing else is.
"""

import os

from dapkit.agent.table import ACTIONS, PARAMETERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dapkit.agent.table import ParameterRow

WHERE = "where"
"""A word that stands for `file` and `line`, or for `function`."""

POSITIONAL = {
    "probe": ("location", "expressions"),
    "trace": ("location",),
    "autopsy": ("program", "args"),
    "launch": ("program", "args"),
    "attach": ("pid",),
    "core": ("program", "core"),
    "set_breakpoint": (WHERE,),
    "remove_breakpoint": (WHERE,),
    "set_exception_breakpoints": ("filters",),
    "breakpoints": ("do", "numbers"),
    "step_over": ("count",),
    "step_in": ("count",),
    "step_out": ("count",),
    "step_back": ("count",),
    "run_to": (WHERE,),
    "goto": (WHERE,),
    "source": (WHERE,),
    "stdin": ("input",),
    "evaluate": ("expression",),
    "watch": ("expressions",),
    "diff": ("first", "second"),
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
    "job_where": ("job",),
    "job_break": ("job", "breakpoints"),
    "job_continue": ("job",),
    "job_focus": ("job", "member"),
    "job_release": ("job",),
}
"""Parameters that can be given without naming them, in this order."""

WITH_PROGRAM = ("probe", "trace", "autopsy")
"""Actions that see a program through, which may stand after `--`, with its arguments."""

PROGRAM_LAST = ("launch", "autopsy")
"""Actions whose words after the program belong to the program."""

OWN_COMMANDS = ("run", "stacks")
"""Actions whose command does more, and is written by hand."""

OF_JOB = ("job_where", "job_break", "job_continue", "job_focus", "job_release")
"""Actions on jobs, whose commands are `dapkit job where` and the like."""

OF_ADAPTERS = [name for name in ACTIONS if name not in OF_JOB]
"""Actions that a debug adapter takes part in."""

OPTION_OF_RUN = "compare_runs"
"""An action that is not a command by itself: `dapkit run --compare`."""

SHORT = {"breakpoints": "-b", "exceptions": "-x", "condition": "-c", "expressions": "-e", "module": "-m"}
"""Short forms of the options that are typed most."""

ALIASES = {
    "b": "set-breakpoint",
    "break": "set-breakpoint",
    "tbreak": "run-to",
    "until": "run-to",
    "delete": "remove-breakpoint",
    "c": "continue",
    "cont": "continue",
    "n": "step-over",
    "next": "step-over",
    "s": "step-in",
    "step": "step-in",
    "finish": "step-out",
    "return": "step-out",
    "rn": "step-back",
    "reverse-next": "step-back",
    "rc": "reverse-continue",
    "bt": "stack-trace",
    "backtrace": "stack-trace",
    "where": "stacks",
    "w": "stack-trace",
    "up": "stack-trace",
    "down": "stack-trace",
    "frame": "stack-trace",
    "p": "evaluate",
    "pp": "evaluate",
    "print": "evaluate",
    "display": "watch",
    "locals": "variables",
    "l": "source",
    "list": "source",
    "jump": "goto",
    "q": "terminate",
    "quit": "terminate",
    "kill": "terminate",
}
"""Words of pdb and gdb, and the command that each stands for."""

_LISTS = ("strings", "integers", "breakpoints", "variables")


def is_list(row: "ParameterRow") -> bool:
    """Return whether the option may be given several times."""
    return row["type"] in _LISTS


def flags(name: str) -> list[str]:
    """Return how the option of a parameter is written: `--hit-condition`, and `--breakpoint` for one of many."""
    dashed = name.replace("_", "-")
    short = [SHORT[name]] if name in SHORT else []
    has_single = is_list(PARAMETERS[name]) and name not in ("args", "expressions")  # evaluate has an `expression`, too
    single = [f"--{dashed.removesuffix('s')}"] if has_single else []
    other = ["--when"] if name == "condition" else []
    return [*short, *(flag for flag in single if flag != f"--{dashed}"), f"--{dashed}", *other]


def command_line(action: str, arguments: "Mapping[str, object]", *, folder: str | None = None) -> str:
    """Return an action as one would type it.

    >>> command_line("set_breakpoint", {"file": "/work/app.py", "line": 12, "condition": "n > 2"}, folder="/work")
    "dapkit set-breakpoint -c 'n > 2' app.py:12"

    Args:
        action: its name.
        arguments: of it; those that it does not have are left out.
        folder: in which it is typed: files in it are named from there.

    """
    options: dict[str, object] = {
        name: _from(folder, value) if PARAMETERS[name]["type"] == "path" else value
        for name, value in arguments.items()
        if name in ACTIONS[action]["parameters"] and value is not None and (name, value) != ("cwd", folder)
    }
    program: list[str] = []
    if action in WITH_PROGRAM and action not in PROGRAM_LAST:
        words = [options.pop(name, None) for name in ("program", "args")]
        program = [_word(each) for word in words if word is not None for each in _listed(word)]
    by_place = [*_by_place(action, options)]
    line = ["dapkit", action.replace("_", "-")]
    for name, value in options.items():
        line += _options(name, value)
    if any(word.startswith("-") for word in by_place[: 1 if action in PROGRAM_LAST else None]):
        line.append("--")
    return " ".join(map(_quoted, [*line, *by_place, *(["--", *program] if program else [])]))


def _by_place(action: str, arguments: "dict[str, object]") -> "Iterator[str]":
    """Take the positional arguments out of the arguments, as words."""
    for name in POSITIONAL.get(action, ()):
        if name == WHERE:
            yield from _place(action, arguments)
        elif name in arguments:
            yield from map(_word, _listed(arguments.pop(name)))
        elif action not in PROGRAM_LAST:
            return  # the next word would be taken for it


def _place(action: str, arguments: "dict[str, object]") -> "Iterator[str]":
    if "function" in arguments:
        yield str(arguments.pop("function"))
    elif "file" in arguments:
        parts = [arguments.pop("file")]
        for name in ("line", "column"):
            if name not in arguments or name not in ACTIONS[action]["parameters"]:
                break
            parts.append(arguments.pop(name))
        yield ":".join(map(str, parts))


def _options(name: str, value: object) -> "Iterator[str]":
    flag = flags(name)[-1 if name == "module" else 0]  # options may follow --module, and none may follow -m
    if isinstance(value, bool):
        yield flag if value else flag.replace("--", "--no-", 1)
    elif isinstance(value, dict) and PARAMETERS[name]["type"] == "variables":
        for key, text in value.items():
            yield from (flag, str(key) if text is None else f"{key}={text}")
    else:
        for each in _listed(value):
            yield from (flag, _word(each))


def _listed(value: object) -> "list[object]":
    return [*value] if isinstance(value, list | tuple) else [value]


def _from(folder: str | None, path: object) -> object:
    """Name a file from a folder that it is in."""
    if folder is None or not isinstance(path, str) or not path.startswith(folder.rstrip(os.sep) + os.sep):
        return path
    return path[len(folder.rstrip(os.sep)) + 1 :]


def _word(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    import json

    return json.dumps(value, ensure_ascii=False)


def _quoted(word: str) -> str:
    r"""Quote a word for a shell; a line end stays readable, as `$'yes\n'`."""
    import shlex

    if "\n" in word:
        return f"${word!r}"
    plain = "'" not in word or any(character in word for character in '"$`\\!')
    return shlex.quote(word) if plain else f'"{word}"'
