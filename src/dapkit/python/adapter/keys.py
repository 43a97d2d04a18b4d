"""Keys of a launch configuration that have no meaning here: which are reported, and which are not.

Editors put keys of their own among the arguments, and configurations written for debugpy have some
that have no effect here. Those are not reported. Any other key is a mistake and is reported once, with what
may have been meant.
"""

from dapkit.python.adapter.arguments import PythonAttach, PythonLaunch

EDITOR_KEYS = frozenset(
    {
        "consoleName",
        "consoleTitle",
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
        "linux",
        "osx",
        "windows",
    }
)
"""Keys that are for the editor; those that begin with `__` are its own as well."""

WITHOUT_EFFECT = frozenset(
    {
        "autoStartBrowser",
        "clientOS",
        "debugAdapterPath",
        "debugAdapterPython",
        "debugLauncherPath",
        "debugLauncherPython",
        "debugOptions",
        "django",
        "expandModules",
        "gevent",
        "guiEventLoop",
        "jinja",
        "logToFile",
        "maxExceptionStackFrames",
        "processName",
        "purpose",
        "pyramid",
        "variablePresentation",
        "vmType",
        "workspaceFolder",
    }
)
"""Keys of configurations for debugpy that change nothing here."""

_OF_THE_OTHER = {
    "launch": frozenset(PythonAttach.__struct_encode_fields__),
    "attach": frozenset(PythonLaunch.__struct_encode_fields__),
}


def remark_on(args: PythonLaunch | PythonAttach) -> str:
    """Name the unknown keys; an empty text if there are none."""
    unknown = [
        key for key in args.extra if key not in EDITOR_KEYS and key not in WITHOUT_EFFECT and not key.startswith("__")
    ]
    if not unknown:
        return ""
    keys = ", ".join(_with_hint(key, args) for key in unknown)
    return f"{args.command.capitalize()} arguments that dapkit does not know: {keys}\n"


def _with_hint(key: str, args: PythonLaunch | PythonAttach) -> str:
    if key in _OF_THE_OTHER[args.command]:
        other = "attach" if args.command == "launch" else "launch"
        return f'"{key}" (it is for {other})'
    import difflib

    similar = difflib.get_close_matches(key, args.__struct_encode_fields__, n=1)
    return f'"{key}" (did you mean "{similar[0]}"?)' if similar else f'"{key}"'
