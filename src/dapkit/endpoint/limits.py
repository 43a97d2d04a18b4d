"""Limits of a conversation.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

OUTPUT_EVENT_BYTES = 64 * 1024
"""Output is joined into events of at most this much text."""

FORGOTTEN_REQUESTS = 1000
"""Requests given up whose late response is still distinguished from a stray one."""

VIOLATIONS = 1000
"""Breaches of the protocol kept for the report; later ones are counted only."""
