"""Limits of a client.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

INITIALIZED_SECONDS = 5.0
"""Time that an adapter gets to send `initialized` after its response to launch or attach."""

EVENTS_KEPT = 1000
"""Events of each kind that a client can look back on."""

CHILD_START_SECONDS = 180.0
"""Time within which the adapter of a child has to answer launch or attach: there may be many of them at once."""
