"""Limits of the catalog of adapters.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

VERSION_SECONDS = 20.0
"""How long an adapter's program may take to print its version; after it, one that has to counts as missing."""

CHECKUP_SECONDS = 20.0
"""Time within which an adapter that is checked must be reached and to answer `initialize`."""

VERSIONS_AT_ONCE = 4
"""Programs that are asked for their version at the same time."""

CHECKUPS_AT_ONCE = 2
"""Adapters that are checked at the same time."""

VERSIONS_KEPT = 256
"""Versions of programs that are remembered."""

MARKER_BYTES = 1024 * 1024
"""Bytes of a root marker that are searched for its required text."""

DEBUG_PORT_SECONDS = 5.0
"""Time for a process to open a port for a debugger once it was asked to."""
