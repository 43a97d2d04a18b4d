"""Breakpoints at places of the code: locating them, counting hits, and their effects."""
