"""Keys of a configuration that do nothing here, or less than elsewhere: which are reported, and which are not.

Configurations are written for several debuggers and editors. Every known key is a field of the arguments, or in one of
these tables; any other is a mistake and is reported once, with the most similar key.
"""

from collections.abc import Mapping
from typing import Final

from dapkit.protocol import to_json_value
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch

EDITOR_KEYS: Final = frozenset(
    {
        "$schema",
        "adapterSocket",
        "debugServer",
        "internalConsoleOptions",
        "linux",
        "name",
        "order",
        "osx",
        "postDebugTask",
        "preLaunchTask",
        "presentation",
        "purpose",
        "request",
        "serverReadyAction",
        "suppressMultipleSessionWarning",
        "trace",
        "type",
        "windows",
    }
)
"""Keys that are for the editor; those that begin with `__` are its own as well."""

NOT_NEEDED: Final = frozenset(
    {
        "adapterAccessToken",
        "autoStartBrowser",
        "clientOS",
        "debugAdapterHost",
        "debugAdapterPath",
        "debugAdapterPython",
        "debugLauncherPath",
        "debugLauncherPython",
        "expandModules",
        "gevent",
        "isOutputRedirected",
        "linuxAttachPreferLldb",
        "onTerminate",
        "processName",
        "pyramid",
        "qt",
        "resolveSymlinks",
        "terminalQuoteCharacter",
        "terminateChildProcesses",
        "vmType",
    }
)
"""Keys whose purpose is met without them, or that say how a debugger works inside."""

REMARKS: Final[Mapping[str, str]] = {
    "debugpyArgs": "there is no other debugger to pass them to",
    "logToFile": "start the adapter with --log FILE instead",
    "options": "it is read no more; give each option as a key of its own",
    "waitOnAbnormalExit": "the terminal is not kept open by the debugger; a setting of the editor may do that",
    "waitOnNormalExit": "the terminal is not kept open by the debugger; a setting of the editor may do that",
}
"""The report about a key whose request cannot be met; values that request nothing are not reported."""

_ASKS_FOR_NOTHING: Final[tuple[object, ...]] = (None, False, "", "none", [], {})

_OF_THE_OTHER: Final = {
    "launch": frozenset(PythonAttach.__struct_encode_fields__),
    "attach": frozenset(PythonLaunch.__struct_encode_fields__),
}


def remark_on(args: PythonLaunch | PythonAttach) -> str:
    """Report the keys without their requested effect, and the unknown ones; an empty text if there are no such keys."""
    value = to_json_value(args)
    given_keys = value if isinstance(value, dict) else {}
    lines = [f"{key}: {text}" for key, text in REMARKS.items() if given_keys.get(key) not in _ASKS_FOR_NOTHING]
    unknown = [key for key in args.extra if not (key in KNOWN or key.startswith("__"))]
    if unknown:
        keys = ", ".join(_with_hint(key, args) for key in unknown)
        lines.append(f"{args.command.capitalize()} arguments that dapkit does not know: {keys}")
    return "".join(f"{line}\n" for line in lines)


KNOWN: Final = EDITOR_KEYS | NOT_NEEDED | REMARKS.keys()


def _with_hint(key: str, args: PythonLaunch | PythonAttach) -> str:
    if key in _OF_THE_OTHER[args.command]:
        other = "attach" if args.command == "launch" else "launch"
        return f'"{key}" (it is for {other})'
    import difflib

    similar = difflib.get_close_matches(key, args.__struct_encode_fields__, n=1)
    return f'"{key}" (did you mean "{similar[0]}"?)' if similar else f'"{key}"'
