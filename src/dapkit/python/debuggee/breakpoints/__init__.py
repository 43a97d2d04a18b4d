"""Breakpoints at places of the code: how they are found there, when they are hit, what they do then."""
