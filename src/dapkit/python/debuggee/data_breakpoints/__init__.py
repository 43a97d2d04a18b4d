"""Breakpoints at data: from a client's request to the mechanisms that see reads and writes."""
