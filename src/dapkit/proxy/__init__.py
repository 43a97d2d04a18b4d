"""A proxy between any client and any adapter: it relays, records and edits their messages."""

from dapkit.proxy.edits import Edit, Replacement, edited, members, unchanged
from dapkit.proxy.passage import pass_messages
from dapkit.proxy.server import Target, run, serve, serve_tcp, serve_unix

__all__ = [
    "Edit",
    "Replacement",
    "Target",
    "edited",
    "members",
    "pass_messages",
    "run",
    "serve",
    "serve_tcp",
    "serve_unix",
    "unchanged",
]
