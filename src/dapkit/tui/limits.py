"""Limits of the terminal interface.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

TRANSCRIPT_LINES_SHOWN = 200
"""Lines of a transcript that the menu shows; all are in its file."""

HEAP_ROWS_ON_SCREEN = 10
"""The same in the menu, where the comparison with an earlier snapshot follows."""
