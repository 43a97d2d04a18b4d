"""Which versions of Python are debugged: without anything else, since commands ask for it that have little time."""

OLDEST = (3, 12)
"""The first version with `sys.monitoring`."""
