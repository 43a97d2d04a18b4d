"""Exceptions: which to stop at, whether one will be caught, and what is reported about it."""
