"""Exceptions: which to stop at, whether one will be caught, and the report about it."""
