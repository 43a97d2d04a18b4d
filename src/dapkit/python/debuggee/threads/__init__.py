"""Threads of the program and asyncio tasks: which there are, their numbers and names."""
