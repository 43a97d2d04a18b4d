"""A debug adapter for Python, in two halves: `adapter`, a process, and `debuggee`, inside the program."""
