"""The debug tool for agents that speak the Model Context Protocol.

One tool, `debug`, over the same hub as the command `dapkit`, so that both see the same sessions. Here is decided how
actions look in that protocol; what they do is not. Needs the extra `dapkit[mcp]`.
"""
