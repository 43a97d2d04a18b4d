"""Limits of the MCP server.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

from dapkit.limits import MEGABYTE

MCP_PROGRESS_SECONDS = 5.0
"""How often a call that still works is reported to an agent that wants progress reports."""

MCP_EVENT_BYTES = 64 * MEGABYTE
"""Longest event, or body of a request, that is kept for diagnostics; later messages after a longer one are not kept."""

MCP_MESSAGE_BYTES = 64 * MEGABYTE
"""Longest message on standard streams; a longer one is refused."""
