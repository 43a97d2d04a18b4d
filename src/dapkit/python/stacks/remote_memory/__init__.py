"""Reads the asyncio tasks of a process of Python 3.12 or 3.13 out of its memory.

The process is not stopped, and runs nothing. An interpreter of the same file as the process's runs this package, as one
of its own (`dapkit` is not imported), so that both lay their objects out alike: `layout` measures the layout on objects
of its own, and `check` compares the reading of its own tasks with asyncio's description of them. Only if all of it is
equal is the other process read.
"""
