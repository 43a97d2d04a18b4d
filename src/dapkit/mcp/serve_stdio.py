"""The server on the standard streams of this process; it is imported once the first message is answered."""

import signal
import sys

from dapkit.mcp.limits import MCP_MESSAGE_BYTES
from dapkit.mcp.opening import answer_opening
from dapkit.system.gc_freeze import frozen_imports


def serve_stdio(project: str, *, read_only: bool) -> None:
    """Serve a client on the standard streams of this process until it ends them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as our parent wants it
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a read of a line cannot be interrupted otherwise
    reads, writes = sys.stdin.buffer, sys.stdout.buffer
    first = answer_opening(reads, writes, MCP_MESSAGE_BYTES)
    with frozen_imports():
        from pathlib import Path

        import anyio

        from dapkit.mcp.debug_service import DebugService
        from dapkit.mcp.stdio import StdioServer
    service = DebugService(Path(project), read_only=read_only)
    anyio.run(StdioServer(service, reads, writes, first=first).run)
