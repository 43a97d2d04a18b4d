"""Limits of streams and connections.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

OUTPUT_BACKLOG_BYTES = 1024 * 1024
"""More output than this waiting to leave makes its sender wait."""

MEMORY_STREAM_BYTES = 64 * 1024
"""Bytes that wait in each direction of a stream in memory, as in a pipe."""

ORPHAN_SECONDS = 0.75
"""Time that a child process gets at each stage of ending when its parent was killed."""

REFUSALS_LOGGED = 100
"""Refused connections that a listener logs."""

HAPPENINGS_AT_ONCE = 32
"""Happenings handed out in a row, so that many cost less than a turn of the event loop for each."""

WIRE_RECORD_CHARACTERS = 64_000
"""Characters of one of them; a longer one is cut, and ends with a marker."""
