"""What the threads of a running program do, read from outside: also of one that is stuck.

py-spy reads the stacks out of the program's memory, `waits` what their source says of locks, and Python 3.14 itself
the tasks of asyncio. The program runs none of it.
"""

from dapkit.python.dump.contents import Dump, dump_of
from dapkit.python.dump.report import as_json, as_lines
from dapkit.python.dump.stacks import NoPySpy

__all__ = ["Dump", "NoPySpy", "as_json", "as_lines", "dump_of"]
