"""The server: its tools, its resources and its prompt, and how a call goes to the hub and back.

The definitions of the tools are the text that a model reads before it uses them: an action is described on demand.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import mcp
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp import types
from mcp.server import Server
from mcp.server.context import ServerRequestContext

from dapkit import __version__, hub
from dapkit.agent import skill
from dapkit.agent.action_help import action_help, example_call, unknown_action
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.logs import logs
from dapkit.diagnostics.session_files import session_files
from dapkit.diagnostics.sessions import Where
from dapkit.diagnostics.system import system
from dapkit.diagnostics.transcript import as_markdown, transcript_of
from dapkit.diagnostics.wire import wire
from dapkit.diagnostics.wire_sources import SessionSource
from dapkit.hub import async_client
from dapkit.hub.calls import load_settings
from dapkit.mcp import limits
from dapkit.transport import background_tasks

NAME: Final = "debug"
PROMPT: Final = "debug"
LOOKS: Final = "debug_look"
"""The tool whose actions only look, which a client may allow without asking."""
HELP: Final = "help"
"""An action of both tools: the parameters of an action."""

_DESCRIPTION: Final = (
    "Debug programs in any language: launch with breakpoints reports source, locals, stack and output of the stop; "
    'then evaluate, step_over, continue; terminate at the end. {"action": "help", "parameters": {"name": ACTION}} '
    "describes an action."
)
_LOOKS_DESCRIPTION: Final = f"Look at the program that {NAME} has stopped. Nothing runs or changes."


def tools(*, read_only: bool) -> list[types.Tool]:
    """Return the definitions, in as few words as possible; a read-only server has only the one that looks."""
    looks = _tool(LOOKS, _LOOKS_DESCRIPTION, [*filter(_only_looks, ACTIONS)], only_looks=True)
    if read_only:
        return [looks]
    return [_tool(NAME, _DESCRIPTION, [name for name in ACTIONS if not _only_looks(name)], only_looks=False), looks]


def _only_looks(action: str) -> bool:
    return ACTIONS[action]["approval"] == "read"


def _tool(name: str, description: str, actions: list[str], *, only_looks: bool) -> types.Tool:
    properties: dict[str, object] = {
        "action": {"enum": [*actions, HELP]},
        "parameters": {"type": "object"},
        "session": {"type": "string"},
    }
    return types.Tool(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": properties, "required": ["action"]},
        annotations=types.ToolAnnotations(read_only_hint=only_looks, open_world_hint=False),
    )


# Diagnostics as resources: the commands that only read.
#
# The others write files, ask the user, or look at the program for a long time: they are commands.


@dataclass(frozen=True, slots=True)
class Look:
    """A resource.

    Attributes:
        description: its purpose, for the client.
        text: makes it, and blocks meanwhile; raises DiagnosticsError.

    """

    description: str
    text: Callable[[Where], str]
    mime_type: str = "text/plain"


OF_MACHINE: Mapping[str, Look] = {
    "system": Look("This machine, versions and environment", lambda where: system(where).as_text()),
    "logs": Look("The end of today's log of the hub", lambda where: logs(where).as_text()),
}
"""By the word after `dapkit://`."""

OF_SESSION: Mapping[str, Look] = {
    "transcript": Look(
        "The session as a page: actions, stops, values, output",
        lambda where: as_markdown(transcript_of(where)),
        "text/markdown",
    ),
    "wire": Look("The latest messages of the session", lambda where: wire(SessionSource(where)).as_text()),
    "artifacts": Look("Files about the session", lambda where: session_files(where).as_text()),
}
"""By the word after `dapkit://sessions/NAME/`."""


type Context = ServerRequestContext[object]

ACTIONS_URI = "dapkit://actions"
"""The reference of all actions: their parameters, and the schemas of their results."""

DETAILS = "dapkit/details"
"""Key in `_meta` of a call that wants the answer as structured content, too."""

_OUTPUT = "dapkit://sessions/{session}/output"
_SOURCE = "dapkit://sessions/{session}/source/{reference}"
_LOOK = "dapkit://sessions/{session}/"
_OF_MACHINE = "dapkit://"


class DebugServer:
    """The debug tool of one project.

    Args:
        project: the folder whose sessions are meant; files are relative to it.
        read_only: refuse actions that do more than look.

    """

    def __init__(self, project: Path, *, read_only: bool = False) -> None:
        self._project = project
        self._read_only = read_only
        self.protocol: Server[object] = Server(
            "dapkit",
            version=__version__,
            title="dapkit debugger",
            instructions=skill.opening(),
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def redacts(self) -> bool:
        """Whether secrets are removed from resources; they are if the settings cannot be read."""
        try:
            return (await load_settings(self._project)).redact_enabled
        except hub.CallRefused:
            return True

    # Tools

    async def _list_tools(self, _context: Context, _page: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        try:
            settings = await load_settings(self._project)
        except hub.CallRefused as error:
            raise mcp.MCPError(code=types.INTERNAL_ERROR, message=str(error)) from error
        return types.ListToolsResult(tools=tools(read_only=self._read_only) if settings.debug_enabled else [])

    async def _call_tool(self, context: Context, call: types.CallToolRequestParams) -> types.CallToolResult:
        if call.name not in (NAME, LOOKS):
            raise mcp.MCPError(
                code=types.INVALID_PARAMS, message=f"there is no tool {call.name}, but {NAME} and {LOOKS}"
            )
        return _result(call, await self._answer(call.name, dict(call.arguments or {}), context))

    async def _answer(self, tool: str, arguments: dict[str, object], context: Context) -> dict[str, object]:
        """Answer a call of a tool. The parameters of an action may stand beside its name, too."""
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
        if action == "launch":
            arguments.setdefault("cwd", str(self._project))
        return _with_right_call(await self._ask(action, self._absolute(arguments), session, context))

    def _absolute(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Make paths absolute from the project's folder."""
        return {
            name: str(self._project / value)
            if isinstance(value, str) and name in PARAMETERS and PARAMETERS[name]["type"] == "path"
            else value
            for name, value in arguments.items()
        }

    async def _ask(
        self, action: str, arguments: Mapping[str, object], session: str | None, context: Context | None = None
    ) -> dict[str, object]:
        """Ask the hub, and report progress to a client that wants it meanwhile. Cancelling it gives the call up."""
        reports, receiver = anyio.create_memory_object_stream[str](math.inf)
        async with background_tasks() as tasks:
            if context is not None:
                tasks.start_soon(_report, context, receiver)
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

    async def _list_prompts(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        problem = types.PromptArgument(name="problem", description="The fault to find", required=False)
        about = "Find a fault by looking at the running program"
        return types.ListPromptsResult(prompts=[types.Prompt(name=PROMPT, description=about, arguments=[problem])])

    async def _get_prompt(self, _context: Context, prompt: types.GetPromptRequestParams) -> types.GetPromptResult:
        if prompt.name != PROMPT:
            raise mcp.MCPError(code=types.INVALID_PARAMS, message=f"there is no prompt {prompt.name}, but {PROMPT}")
        problem = (prompt.arguments or {}).get("problem")
        text = f"{skill.text()}\nFind this fault with it: {problem}\n" if problem else skill.text()
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    # Resources

    async def _list_resources(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        answer = await self._ask("sessions", {}, None)
        details = answer.get("details")
        sessions = details.get("sessions", []) if isinstance(details, dict) else []
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=ACTIONS_URI, name="actions", mime_type="application/json"),
                *(
                    types.Resource(
                        uri=f"{_OF_MACHINE}{name}", name=name, description=look.description, mime_type=look.mime_type
                    )
                    for name, look in OF_MACHINE.items()
                ),
                *(
                    types.Resource(
                        uri=_OUTPUT.format(session=session["id"]),
                        name=f"output of {session['id']}",
                        mime_type="text/plain",
                    )
                    for session in sessions
                ),
            ]
        )

    async def _list_templates(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=_OUTPUT, name="output", description="The program's output", mime_type="text/plain"
                ),
                types.ResourceTemplate(
                    uri_template=_SOURCE,
                    name="source",
                    description="A source without a file, by its reference",
                    mime_type="text/plain",
                ),
                *(
                    types.ResourceTemplate(
                        uri_template=f"{_LOOK}{name}",
                        name=name,
                        description=look.description,
                        mime_type=look.mime_type,
                    )
                    for name, look in OF_SESSION.items()
                ),
            ]
        )

    async def _read_resource(
        self, _context: Context, parameters: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(parameters.uri)
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
                raise mcp.MCPError(code=types.INVALID_PARAMS, message=f"there is no resource {uri}")
        if not answer["success"]:
            raise mcp.MCPError(code=types.INVALID_PARAMS, message=_text(answer))
        return _content(uri, _text(answer), "text/plain")

    async def _look(self, uri: str, look: Look, session: str | None) -> types.ReadResourceResult:
        """Run a diagnostics command in a thread; if the call is given up, no caller waits for the thread."""
        where = Where(str(self._project), session)
        try:
            text = await anyio.to_thread.run_sync(partial(look.text, where), abandon_on_cancel=True)
        except DiagnosticsError as error:
            raise mcp.MCPError(code=types.INVALID_PARAMS, message=str(error)) from error
        return _content(uri, text, look.mime_type)


async def _report(context: Context, receiver: MemoryObjectReceiveStream[str]) -> None:
    """Send the hub's progress reports, and from time to time a sign that it still works."""
    begin = anyio.current_time()
    count = 0
    message = "waiting"
    while True:
        with anyio.move_on_after(limits.MCP_PROGRESS_SECONDS):
            message = await receiver.receive()
        count += 1
        await context.session.report_progress(count, message=f"{message}, {anyio.current_time() - begin:.0f} s")


def _progress(message: str, percentage: float | None) -> str:
    return message if percentage is None else f"{message}: {percentage:.0f} %"


def _result(call: types.CallToolRequestParams, answer: Mapping[str, object]) -> types.CallToolResult:
    """Make the result of a call: a text, and the whole answer if the call asks for that.

    Clients show the model the structured content alone where there is one, and it is several times as long.
    """
    return types.CallToolResult(
        content=[types.TextContent(text=_text(answer))],
        structured_content=dict(answer) if (call.meta or {}).get(DETAILS) is True else None,
        is_error=not answer["success"],
    )


def _with_right_call(answer: dict[str, object]) -> dict[str, object]:
    """Add a right call of the action to an answer that its parameters were wrong."""
    action, error = answer["action"], answer.get("error")
    if not (isinstance(error, dict) and error["code"] == "invalid_arguments"):
        return answer
    return {**answer, "text": f"{answer['text']}\nA right call: {example_call(str(action))}"}


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


def _content(uri: str, text: str, kind: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])
