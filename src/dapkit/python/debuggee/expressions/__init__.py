"""Expressions of the client: evaluated, completed, hovered over, and given new values."""
