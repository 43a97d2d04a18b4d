"""The debug tool for agents that speak the Model Context Protocol.

Two tools, `debug` and `debug_look`, over the same hub as the command `dapkit`, so that all see the same sessions. This
package decides the form of actions in that protocol, not their work. HTTP needs the extra `dapkit[mcp]`.
"""
