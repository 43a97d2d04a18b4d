"""Breakpoints at data: from what a client points at to the mechanisms that see it read and written."""
