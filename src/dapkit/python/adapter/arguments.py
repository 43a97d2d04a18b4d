"""Launch arguments of the Python adapter.

Names are those that existing launch configurations for Python use. Keys that are
not among them are ignored, and told of once.
"""

import difflib
from typing import Literal

from msgspec import field

from dapkit.protocol import LaunchRequestArguments

EDITOR_KEYS = frozenset(
    {
        "debugServer",
        "internalConsoleOptions",
        "name",
        "order",
        "postDebugTask",
        "preLaunchTask",
        "presentation",
        "request",
        "serverReadyAction",
        "suppressMultipleSessionWarning",
        "type",
    }
)
"""Keys of a launch configuration that are for the editor; those that begin with `__` are its own as well."""

type Console = Literal["internalConsole", "integratedTerminal", "externalTerminal"]


class PythonLaunch(LaunchRequestArguments, frozen=True, kw_only=True):
    """How to start a Python program: exactly one of `program`, `module` and `code`.

    Attributes:
        program: path of the file to run, relative to `cwd`.
        module: name of the module to run, as with `python -m`.
        code: program text, as with `python -c`; a list is joined as lines.
        args: arguments of the program.
        cwd: folder to run in; the adapter's own if it is missing.
        env: variables added to the adapter's environment; null takes one away.
        python: the interpreter, alone or with arguments of its own; CPython 3.12 or later.
            Missing: the one that runs the adapter.
        python_args: arguments for the interpreter, such as `-X dev`.
        stop_on_entry: whether to stop before the first line of the program.
        console: where the program's input and output are: with the adapter, or in a terminal
            that the client opens (`runInTerminal`).
        just_my_code: whether stepping and exceptions pass over library code.
        evaluate_timeout: seconds that an input of the console may run before it is interrupted; 0 is for ever.

    """

    program: str | None = None
    module: str | None = None
    code: str | list[str] | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: dict[str, str | None] = field(default_factory=dict)
    python: str | list[str] | None = None
    python_args: tuple[str, ...] = ()
    stop_on_entry: bool = False
    console: Console = "internalConsole"
    just_my_code: bool = True
    evaluate_timeout: float = 30.0


def unknown_keys(launch: PythonLaunch) -> str:
    """List the keys that nobody knows, with what may have been meant; an empty text if there are none."""
    unknown = [key for key in launch.extra if key not in EDITOR_KEYS and not key.startswith("__")]
    return ", ".join(map(_with_hint, unknown))


def _with_hint(key: str) -> str:
    similar = difflib.get_close_matches(key, PythonLaunch.__struct_encode_fields__, n=1)
    return f'"{key}" (did you mean "{similar[0]}"?)' if similar else f'"{key}"'
