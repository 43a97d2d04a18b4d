"""Requests of the adapter: a module of handlers for each topic, the table of them, and their common parts."""
