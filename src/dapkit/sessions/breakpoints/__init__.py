"""Breakpoints of a session: through restarts, by text, and emulated where an adapter lacks something."""
