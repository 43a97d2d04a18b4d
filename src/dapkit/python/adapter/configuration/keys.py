"""Keys of a configuration, and their effect on the adapter's capabilities.

Configurations are written for several debuggers and editors. Every known key is a field of the arguments, or in one of
these tables; any other is a mistake and is reported once, with the most similar key. Older keys are said by those that
have replaced them:

    debugOptions             a list of flags, each of which stands for a key
    debugStdLib              `justMyCode`, the other way round, where `justMyCode` is missing
    stopAllThreadsOnSuspend  `stopAllThreads`

Where a program runs without debugging (`noDebug`), the capabilities that need a stop are taken back. Breakpoints may be
set all the same, and are answered as not verified: clients do so before they know.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from dapkit.protocol import BreakpointMode, Capabilities, to_json_value
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.debuggee.requests.capabilities import ONLY_WHEN_DEBUGGING, details

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


FLAGS: Final[Mapping[str, str]] = {
    "BreakOnSystemExitZero": "break_on_system_exit_zero",
    "DebugStdLib": "debug_std_lib",
    "Django": "django",
    "Flask": "flask",
    "Jinja": "jinja",
    "Multiprocess": "sub_process",
    "RedirectOutput": "redirect_output",
    "ShowReturnValue": "show_return_value",
    "StopOnEntry": "stop_on_entry",
}
"""Fields that are true if a flag is among `debugOptions`; others say nothing that matters here."""


def without_older_keys[Start: PythonLaunch | PythonAttach](args: Start) -> Start:
    """Return arguments that say the same without older keys."""
    flags = (FLAGS[flag] for flag in args.debug_options if flag in FLAGS)
    args = msgspec.structs.replace(args, **dict.fromkeys((name for name in flags if hasattr(args, name)), True))
    changes: dict[str, bool] = {}
    if args.just_my_code is None and args.debug_std_lib:
        changes["just_my_code"] = False
    if args.stop_all_threads_on_suspend is not None:
        changes["stop_all_threads"] = args.stop_all_threads_on_suspend
    return msgspec.structs.replace(args, **changes)


ANNOUNCED = msgspec.structs.replace(
    msgspec.convert(details(), Capabilities),
    supports_ansi_styling=True,  # the program's output is sent unchanged, and values are not styled
    breakpoint_modes=[
        BreakpointMode(
            mode="once",
            label="Once",
            description="Stop at the first hit, then remove the breakpoint.",
            applies_to=["source", "data", "instruction"],
        )
    ],
)
"""Capabilities that do not follow from the adapter's own handlers."""


def abilities(start: PythonLaunch | PythonAttach) -> Capabilities:
    """Return those capabilities that depend on how the program is started."""
    debugs = start.no_debug is not True if isinstance(start, PythonLaunch) else True
    able = msgspec.convert(dict.fromkeys(ONLY_WHEN_DEBUGGING, debugs), Capabilities)
    travels = debugs and isinstance(start, PythonLaunch) and start.travels
    return msgspec.structs.replace(able, supports_step_back=True) if travels else able
