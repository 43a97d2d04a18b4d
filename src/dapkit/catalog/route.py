"""From a choice to the way that a client session takes to its adapter."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dapkit.catalog.choice import Choice
from dapkit.catalog.definition import NOTHING, ArgumentTemplate
from dapkit.catalog.errors import MissingArgument
from dapkit.catalog.templates import UNKNOWN, fill, fill_command, placeholders

if TYPE_CHECKING:
    from dapkit.client.routes import Route

_MAY_BE_NOTHING = {"args", "program_if_any"}
_TRANSPORTS_OWN = {"port", "socket", "callback"}


def route_to(
    choice: Choice, arguments: ArgumentTemplate = NOTHING, *, host: str = "127.0.0.1", port: int | None = None
) -> "Route":
    """Return the way to an adapter; opening it starts the processes that it needs.

    Args:
        choice: of `Catalog.choose`.
        arguments: the arguments of launch or attach; some adapters run inside the program, and are started with it.
        host: of `port`.
        port: the port to attach to, if the adapter was chosen for a port.

    Raises:
        MissingArgument: the program is part of the command, and the arguments do not name it.

    Example:
        arguments = choice.launch_arguments()
        async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
            await session.start(str(arguments["request"]), arguments)

    """
    from dapkit.client.routes import Listening, Spawned, Tcp

    definition = choice.definition
    if definition.transport == "connect":
        return Tcp(definition.host, definition.port)
    if port is not None and definition.port_is_adapter:
        return Tcp(host, port)

    def value(name: str) -> object:
        if name in _TRANSPORTS_OWN:
            return UNKNOWN
        if name == "program_if_any":
            return [str(program)] if (program := arguments.get("program")) else []
        if name == "program_folder":
            return _folder(arguments, choice)
        return arguments.get(name, [] if name == "args" else None)

    command = fill_command(choice.command, value)
    if command is None:
        names = ", ".join(sorted(placeholders(choice.command) - _TRANSPORTS_OWN - _MAY_BE_NOTHING))
        raise MissingArgument(f"{definition.name} is started with the program, so its arguments have to have `{names}`")
    folder = fill(definition.cwd, value) if definition.cwd else None
    cwd = choice.cwd if folder is None or not Path(str(folder)).is_dir() else Path(str(folder))
    env = _environment(choice, arguments)
    if definition.transport == "stdio":
        return Spawned(command, cwd, env)
    return Listening(command, cwd, env, definition.ready)


def _folder(arguments: ArgumentTemplate, choice: Choice) -> str:
    program = Path(choice.cwd, str(arguments.get("program") or choice.program or choice.cwd))
    return str(program if program.is_dir() else program.parent)


def _environment(choice: Choice, arguments: ArgumentTemplate) -> Mapping[str, str]:
    """Environment of the adapter: the user's, or the program's if the program is the adapter itself."""
    env = arguments.get("env")
    if not isinstance(env, Mapping) or not {"program", "program_folder"} & placeholders(choice.command):
        return choice.env
    merged = {**choice.env, **env}
    return {name: str(value) for name, value in merged.items() if value is not None}
