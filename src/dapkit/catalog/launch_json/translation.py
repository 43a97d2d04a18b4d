"""The translation that VS Code's extensions apply to a configuration before an adapter reads it.

The keys of a configuration belong to an extension, which is not present here. Mostly the adapter knows the same keys;
the others are translated here into its own, and keys that cannot be translated are reported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from dapkit.catalog.choice import Choice
from dapkit.catalog.errors import CatalogError
from dapkit.catalog.preparation import with_commands, with_sources_mapped

_EDITORS_OWN = {
    "presentation",
    "preLaunchTask",
    "postDebugTask",
    "internalConsoleOptions",
    "serverReadyAction",
    "debugServer",
    "suppressMultipleSessionWarning",
    "linux",
    "osx",
    "windows",
}

CPPTOOLS = "cppdbg"
"""The type of Microsoft's C++ extension, whose adapter is not free to use elsewhere."""


@dataclass(slots=True)
class TranslatedConfiguration:
    """The arguments for an adapter, and the keys that got lost on the way."""

    arguments: dict[str, object]
    choice: Choice
    notes: list[str] = field(default_factory=list)


def flattened(configuration: Mapping[str, object]) -> dict[str, object]:
    """Return a configuration with its settings for Linux over the others."""
    own = configuration.get("linux")
    return {**configuration, **own} if isinstance(own, Mapping) else dict(configuration)


def translate(configuration: Mapping[str, object], choice: Choice) -> TranslatedConfiguration:
    """Return the arguments of a configuration for the chosen adapter."""
    translated = TranslatedConfiguration(
        {key: value for key, value in configuration.items() if key not in _EDITORS_OWN}, choice
    )
    for key in ("preLaunchTask", "postDebugTask"):
        if configuration.get(key):
            translated.notes.append(f"{key} {configuration[key]!r} is not run: run it yourself")
    how = _HOW.get(str(configuration.get("type")))
    if how is not None:
        how(translated, choice)
    return translated


def _cpptools(translated: TranslatedConfiguration, choice: Choice) -> None:
    arguments = translated.arguments
    known_keys = {
        "name",
        "type",
        "request",
        "program",
        "args",
        "cwd",
        "environment",
        "stopAtEntry",
        "processId",
        "MIMode",
    }
    known_keys |= {"coreDumpPath", "sourceFileMap", "setupCommands", "miDebuggerPath"}
    if lost_keys := sorted(set(arguments) - known_keys):
        translated.notes.append(f"{choice.definition.name} does not know {', '.join(lost_keys)}, which {CPPTOOLS} does")
    translated.choice = choice = _prepared(translated, choice)
    program = str(arguments["program"]) if "program" in arguments else None
    if core := arguments.get("coreDumpPath"):
        translated.arguments = choice.core_arguments(Path(str(core)))
        return
    if arguments.get("request") == "attach":
        process = arguments.get("processId")
        pid = int(str(process)) if str(process).isdigit() else None
        translated.arguments = choice.attach_arguments(pid=pid, more={} if program is None else {"program": program})
        return
    listed = arguments.get("environment")
    pairs = [pair for pair in listed if isinstance(pair, Mapping)] if isinstance(listed, list) else []
    args = arguments.get("args")
    translated.arguments = choice.launch_arguments(
        program,
        [str(arg) for arg in args] if isinstance(args, list) else [],
        env={str(pair.get("name")): str(pair.get("value")) for pair in pairs} or None,
        stop_on_entry=arguments.get("stopAtEntry") is True,
        more={"cwd": str(arguments["cwd"])} if "cwd" in arguments else {},
    )


def _prepared(translated: TranslatedConfiguration, choice: Choice) -> Choice:
    """Apply the debugger options of a cpptools configuration to the adapter, as far as possible."""
    arguments = translated.arguments
    if (debugger := arguments.get("miDebuggerPath")) is not None:
        if any(fnmatchcase(Path(str(debugger)).name, way[0]) for way in choice.definition.command):
            choice = replace(choice, command=(str(debugger), *choice.command[1:]))
        else:
            translated.notes.append(f"{choice.definition.name} is not the debugger of miDebuggerPath, {debugger}")
    listed = arguments.get("setupCommands")
    commands = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    texts = [str(each["text"]) for each in commands if "text" in each]
    mapped = arguments.get("sourceFileMap")
    try:
        choice = with_sources_mapped(choice, _source_map(mapped) if isinstance(mapped, Mapping) else {})
        choice = with_commands(choice, [_command(text) for text in texts])
    except CatalogError as error:
        translated.notes.append(str(error))
    return choice


def _source_map(mapping: Mapping[str, object]) -> dict[str, str]:
    """Read `sourceFileMap`, whose values are paths or say more."""
    paths = {
        str(there): here.get("editorPath") if isinstance(here, Mapping) else here for there, here in mapping.items()
    }
    return {there: str(here) for there, here in paths.items() if here}


def _command(text: str) -> str:
    """Make a command line of a setup command, which may be one of GDB/MI."""
    return f'interpreter-exec mi "{text.replace(chr(34), chr(92) + chr(34))}"' if text.startswith("-") else text


def _javascript(translated: TranslatedConfiguration, _: Choice) -> None:
    kind = str(translated.arguments["type"])
    translated.arguments["type"] = kind if kind.startswith("pwa-") else f"pwa-{kind}"


def _go(translated: TranslatedConfiguration, choice: Choice) -> None:
    if translated.arguments.get("request") == "launch" and translated.arguments.get("mode", "auto") == "auto":
        own = choice.launch_arguments(str(translated.arguments.get("program", ".")))
        translated.arguments |= {"mode": own["mode"], "program": own["program"]}
    if str(process := translated.arguments.get("processId")).isdigit():
        translated.arguments["processId"] = int(str(process))
    _tell_of_env_file(translated, choice)


def _lldb(translated: TranslatedConfiguration, _: Choice) -> None:
    if "cargo" in translated.arguments:
        translated.notes.append("cargo is not run: build it yourself, and write the executable as program")
        del translated.arguments["cargo"]


def _tell_of_env_file(translated: TranslatedConfiguration, choice: Choice) -> None:
    if "envFile" in translated.arguments and not choice.definition.reads_env_file:
        translated.notes.append(f"{choice.definition.name} does not read envFile: write its variables as env")


_HOW: Mapping[str, Callable[[TranslatedConfiguration, Choice], None]] = {
    CPPTOOLS: _cpptools,
    "node": _javascript,
    "chrome": _javascript,
    "msedge": _javascript,
    "extensionHost": _javascript,
    "go": _go,
    "lldb": _lldb,
    "python": _tell_of_env_file,
    "debugpy": _tell_of_env_file,
}
