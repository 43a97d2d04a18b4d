"""The service behind the SDK's server, which speaks HTTP, and both handshakes of the protocol."""

from collections.abc import Awaitable
from pathlib import Path

import mcp
from mcp import types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from pydantic import BaseModel

from dapkit import __version__
from dapkit.agent import skill
from dapkit.mcp.debug_service import DETAILS, DebugService, Json, ServiceError
from dapkit.mcp.opening import TITLE

type Context = ServerRequestContext[object]


class DebugServer:
    """The debug tool of one project, for the SDK.

    Args:
        project: the folder whose sessions are meant; files are relative to it.
        read_only: refuse actions that do more than look.

    """

    def __init__(self, project: Path, *, read_only: bool = False) -> None:
        self.service = DebugService(project, read_only=read_only)
        self.protocol: Server[object] = Server(
            "dapkit",
            version=__version__,
            title=TITLE,
            instructions=skill.opening(),
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _list_tools(self, _context: Context, _page: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await _as(types.ListToolsResult, self.service.list_tools())

    async def _call_tool(self, context: Context, call: types.CallToolRequestParams) -> types.CallToolResult:
        async def report(count: int, message: str) -> None:
            await context.session.report_progress(count, message=message)

        with_details = (call.meta or {}).get(DETAILS) is True
        answer = self.service.call_tool(call.name, call.arguments or {}, with_details=with_details, report=report)
        return await _as(types.CallToolResult, answer)

    async def _list_prompts(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate(self.service.list_prompts())

    async def _get_prompt(self, _context: Context, prompt: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            return types.GetPromptResult.model_validate(self.service.get_prompt(prompt.name, prompt.arguments or {}))
        except ServiceError as error:
            raise mcp.MCPError(code=error.code, message=str(error)) from error

    async def _list_resources(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await _as(types.ListResourcesResult, self.service.list_resources())

    async def _list_templates(
        self, _context: Context, _page: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate(self.service.list_templates())

    async def _read_resource(
        self, _context: Context, parameters: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await _as(types.ReadResourceResult, self.service.read_resource(str(parameters.uri)))


async def _as[R: BaseModel](kind: type[R], answer: Awaitable[Json]) -> R:
    """Return an answer as the SDK has it. Raises: MCPError."""
    try:
        return kind.model_validate(await answer)
    except ServiceError as error:
        raise mcp.MCPError(code=error.code, message=str(error)) from error
