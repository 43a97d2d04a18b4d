"""Debug sessions that are held for longer than one call.

The layer knows nothing of the process that holds them: `dapkit.hub` takes calls, this keeps the sessions,
and `dapkit.agent` brings the two together. Its modules are imported by name: `dapkit.sessions.registry`.
"""
