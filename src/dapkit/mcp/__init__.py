"""The debug tool for agents that speak the Model Context Protocol.

One tool, `debug`, over the same hub as the command `dapkit`, so that both see the same sessions. This package decides
the form of actions in that protocol, not their work. Needs the extra `dapkit[mcp]`.
"""
