"""The command `dapkit`: every action of the debug tool, and the commands around them.

A command lives for milliseconds: it takes its options, asks the hub, prints the answer. So the tables of actions
are read from generated code, everything else is imported by the command that needs it, and click where a line is more
than an action with its options.
"""
