"""Exceptions: which to stop at, whether one will be caught, and what is told of it."""
