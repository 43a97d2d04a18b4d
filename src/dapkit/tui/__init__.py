"""Screens that use the whole terminal: the menu of diagnostics, and its viewers."""
