"""The stacks of a running program's threads, read from outside: also of a stuck program.

An interpreter of 3.15 reads the stacks out of the memory of a program of its version, and py-spy reads the stacks of
earlier ones; `waits` finds the locks that their source names. An interpreter of the program's version reads the tasks
of asyncio: from 3.14 on by its standard library, before by `remote_memory`. The program runs none of it.
"""

from dapkit.python.stacks.contents import ProcessStacks, stacks_of_process
from dapkit.python.stacks.report import as_json, as_lines
from dapkit.python.stacks.threads import NoPySpy

__all__ = ["NoPySpy", "ProcessStacks", "as_json", "as_lines", "stacks_of_process"]
