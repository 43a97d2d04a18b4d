"""The debug tool as MCP has it: tools, a prompt and resources, as plain JSON objects, whatever carries them.

The definitions of the tools are the text that a model reads before it uses them: an action is described on demand.
"""

import math
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream

from dapkit import hub
from dapkit.agent import skill
from dapkit.agent.action_help import action_help, example_call, unknown_action
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.hub import async_client
from dapkit.mcp import limits
from dapkit.mcp.resources import OF_MACHINE, OF_SESSION, Look
from dapkit.transport import background_tasks

type Json = dict[str, Any]
type Report = Callable[[int, str], Awaitable[None]]
"""Sends one report of progress: its number, and a text."""

INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

NAME: Final = "debug"
LOOKS: Final = "debug_look"
"""The tool whose actions only look, which a client may allow without asking."""
HELP: Final = "help"
"""An action of both tools: the parameters of an action."""
PROMPT: Final = "debug"

_DESCRIPTION: Final = (
    "Debug programs in any language: launch with breakpoints reports source, locals, stack and output of the stop; "
    'then evaluate, step_over, continue; terminate at the end. {"action": "help", "parameters": {"name": ACTION}} '
    "describes an action."
)
_LOOKS_DESCRIPTION: Final = f"Look at the program that {NAME} has stopped. Nothing runs or changes."

ACTIONS_URI: Final = "dapkit://actions"
"""The reference of all actions: their parameters, and the schemas of their results."""

DETAILS: Final = "dapkit/details"
"""Key in `_meta` of a call that wants the answer as structured content, too."""

_OUTPUT: Final = "dapkit://sessions/{session}/output"
_SOURCE: Final = "dapkit://sessions/{session}/source/{reference}"
_LOOK: Final = "dapkit://sessions/{session}/"
_OF_MACHINE: Final = "dapkit://"


class ServiceError(Exception):
    """A request cannot be answered; `code` is as of JSON-RPC."""

    def __init__(self, message: str, code: int = INVALID_PARAMS) -> None:
        super().__init__(message)
        self.code = code


def tools(*, read_only: bool) -> list[Json]:
    """Return the definitions, in as few words as possible; a read-only server has only the one that looks."""
    looks = _tool(LOOKS, _LOOKS_DESCRIPTION, [*filter(_only_looks, ACTIONS)], only_looks=True)
    if read_only:
        return [looks]
    return [_tool(NAME, _DESCRIPTION, [name for name in ACTIONS if not _only_looks(name)], only_looks=False), looks]


def _only_looks(action: str) -> bool:
    return ACTIONS[action]["approval"] == "read"


def _tool(name: str, description: str, actions: list[str], *, only_looks: bool) -> Json:
    properties = {
        "action": {"enum": [*actions, HELP]},
        "parameters": {"type": "object"},
        "session": {"type": "string"},
    }
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": ["action"]},
        "annotations": {"readOnlyHint": only_looks, "openWorldHint": False},
    }


class DebugService:
    """The debug tool of one project. Each method returns the result of a request.

    Args:
        project: the folder whose sessions are meant; files are relative to it.
        read_only: refuse actions that do more than look.

    """

    def __init__(self, project: Path, *, read_only: bool = False) -> None:
        self._project = project
        self._read_only = read_only

    async def redacts(self) -> bool:
        """Whether secrets are removed from resources; they are if the settings cannot be read."""
        from dapkit.hub.calls import load_settings

        try:
            return (await load_settings(self._project)).redact_enabled
        except hub.CallRefused:
            return True

    # Tools

    async def list_tools(self) -> Json:
        """Return the tools; none where the setting `debug.enabled` is off. Raises: ServiceError."""
        from dapkit.hub.calls import load_settings

        try:
            settings = await load_settings(self._project)
        except hub.CallRefused as error:
            raise ServiceError(str(error), INTERNAL_ERROR) from error
        return {"tools": tools(read_only=self._read_only) if settings.debug_enabled else []}

    async def call_tool(
        self, tool: str, arguments: Mapping[str, object], *, with_details: bool, report: Report | None
    ) -> Json:
        """Do an action. The parameters of an action may stand beside its name, too. Raises: ServiceError.

        Clients show the model the structured content alone where there is one, and it is several times as long: it is
        there only if the call asks for it.
        """
        if tool not in (NAME, LOOKS):
            raise ServiceError(f"there is no tool {tool}, but {NAME} and {LOOKS}")
        answer = await self._answer(tool, dict(arguments), report)
        result: Json = {"content": [{"type": "text", "text": _text(answer)}], "isError": not answer["success"]}
        if with_details:
            result["structuredContent"] = answer
        return result

    async def _answer(self, tool: str, arguments: dict[str, object], report: Report | None) -> dict[str, object]:
        action, session = arguments.pop("action", None), arguments.pop("session", None)
        parameters = arguments.pop("parameters", {})
        if not isinstance(action, str) or not isinstance(session, str | None) or not isinstance(parameters, dict):
            text = "action is required, a string; parameters is an object and session a string where it is given"
            return _failure("", "invalid_arguments", text, f"A right call: {example_call('launch')}")
        arguments |= parameters
        if action == HELP:
            name = arguments.get("name")
            return {"action": HELP, "success": True, "text": action_help(name if isinstance(name, str) else None)}
        if action not in ACTIONS:
            return _failure(action, "invalid_arguments", unknown_action(action), "")
        if tool == LOOKS and not _only_looks(action):
            hint = f"The tool {NAME} does it."
            return _failure(action, "refused", f"{LOOKS} only looks, and {action} does more.", hint)
        if action in ("launch", "run", "compare_runs"):
            arguments.setdefault("cwd", str(self._project))
        return _with_right_call(await self._ask(action, self._absolute(arguments), session, report))

    def _absolute(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Make paths absolute from the project's folder."""
        return {
            name: str(self._project / value)
            if isinstance(value, str) and name in PARAMETERS and PARAMETERS[name]["type"] == "path"
            else value
            for name, value in arguments.items()
        }

    async def _ask(
        self, action: str, arguments: Mapping[str, object], session: str | None, report: Report | None = None
    ) -> dict[str, object]:
        """Ask the hub, and report progress to a client that wants it meanwhile. Cancelling it gives the call up."""
        reports, receiver = anyio.create_memory_object_stream[str](math.inf)
        async with background_tasks() as tasks:
            if report is not None:
                tasks.start_soon(_pass_on, report, receiver)
            try:
                return await async_client.call(
                    action,
                    arguments,
                    project=str(self._project),
                    session=session,
                    read_only=self._read_only,
                    on_progress=lambda message, percentage: reports.send_nowait(_progress(message, percentage)),
                )
            except hub.HubError as error:
                return _failure(action, error.code, error.message, error.hint)

    # Prompt

    def list_prompts(self) -> Json:
        """Return the prompt."""
        problem = {"name": "problem", "description": "The fault to find", "required": False}
        about = "Find a fault by looking at the running program"
        return {"prompts": [{"name": PROMPT, "description": about, "arguments": [problem]}]}

    def get_prompt(self, name: str, arguments: Mapping[str, str]) -> Json:
        """Return the page that teaches, and the fault to find. Raises: ServiceError."""
        if name != PROMPT:
            raise ServiceError(f"there is no prompt {name}, but {PROMPT}")
        problem = arguments.get("problem")
        text = f"{skill.text()}\nFind this fault with it: {problem}\n" if problem else skill.text()
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    # Resources

    async def list_resources(self) -> Json:
        """Return the resources of the machine, and the output of each session."""
        answer = await self._ask("sessions", {}, None)
        details = answer.get("details")
        sessions = details.get("sessions", []) if isinstance(details, dict) else []
        return {
            "resources": [
                {"uri": ACTIONS_URI, "name": "actions", "mimeType": "application/json"},
                *(
                    {"uri": f"{_OF_MACHINE}{name}", "name": name, **_described(look)}
                    for name, look in OF_MACHINE.items()
                ),
                *(
                    {
                        "uri": _OUTPUT.format(session=session["id"]),
                        "name": f"output of {session['id']}",
                        "mimeType": "text/plain",
                    }
                    for session in sessions
                ),
            ]
        }

    def list_templates(self) -> Json:
        """Return the resources that each session has."""
        source = "A source without a file, by its reference"
        return {
            "resourceTemplates": [
                {
                    "uriTemplate": _OUTPUT,
                    "name": "output",
                    "description": "The program's output",
                    "mimeType": "text/plain",
                },
                {"uriTemplate": _SOURCE, "name": "source", "description": source, "mimeType": "text/plain"},
                *(
                    {"uriTemplate": f"{_LOOK}{name}", "name": name, **_described(look)}
                    for name, look in OF_SESSION.items()
                ),
            ]
        }

    async def read_resource(self, uri: str) -> Json:
        """Return the text of a resource. Raises: ServiceError."""
        if uri == ACTIONS_URI:
            text = resources.files("dapkit.agent").joinpath("schemas.json").read_text(encoding="utf-8")
            return _content(uri, text, "application/json")
        match uri.removeprefix("dapkit://").split("/"):
            case [name] if name in OF_MACHINE:
                return await self._look(uri, OF_MACHINE[name], None)
            case ["sessions", session, name] if name in OF_SESSION:
                return await self._look(uri, OF_SESSION[name], session)
            case ["sessions", session, "output"]:
                answer = await self._ask("output", {}, session)
            case ["sessions", session, "source", reference] if reference.isdecimal():
                answer = await self._ask("source", {"source_reference": int(reference)}, session)
            case _:
                raise ServiceError(f"there is no resource {uri}")
        if not answer["success"]:
            raise ServiceError(_text(answer))
        return _content(uri, _text(answer), "text/plain")

    async def _look(self, uri: str, look: Look, session: str | None) -> Json:
        """Run a diagnostics command in a thread; if the call is given up, no caller waits for the thread."""
        from dapkit.diagnostics.errors import DiagnosticsError
        from dapkit.diagnostics.sessions import Where

        where = Where(str(self._project), session)
        try:
            text = await anyio.to_thread.run_sync(partial(look.text, where), abandon_on_cancel=True)
        except DiagnosticsError as error:
            raise ServiceError(str(error)) from error
        return _content(uri, text, look.mime_type)


async def _pass_on(report: Report, receiver: MemoryObjectReceiveStream[str]) -> None:
    """Send the hub's progress reports, and from time to time a sign that it still works."""
    begin = anyio.current_time()
    count = 0
    message = "waiting"
    while True:
        with anyio.move_on_after(limits.MCP_PROGRESS_SECONDS):
            message = await receiver.receive()
        count += 1
        await report(count, f"{message}, {anyio.current_time() - begin:.0f} s")


def _progress(message: str, percentage: float | None) -> str:
    return message if percentage is None else f"{message}: {percentage:.0f} %"


def _with_right_call(answer: dict[str, object]) -> dict[str, object]:
    """Add a right call of the action to an answer that its parameters were wrong."""
    error = answer.get("error")
    if not (isinstance(error, dict) and error["code"] == "invalid_arguments"):
        return answer
    return {**answer, "text": f"{answer['text']}\nA right call: {example_call(str(answer['action']))}"}


def _failure(action: str, code: str, message: str, hint: str) -> dict[str, object]:
    return {
        "action": action,
        "success": False,
        "text": f"{message}\n{hint}" if hint else message,
        "error": {"code": code, "message": message, "hint": hint},
    }


def _text(answer: Mapping[str, object]) -> str:
    """Return the text for a model; after an error, it ends with the hint."""
    return str(answer["text"])


def _described(look: Look) -> Json:
    return {"description": look.description, "mimeType": look.mime_type}


def _content(uri: str, text: str, kind: str) -> Json:
    return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}
