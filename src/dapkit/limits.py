"""Every limit that the layers keep, in one place.

Sizes are in bytes unless a name says otherwise, times in seconds. Code inside
the debugged program keeps its own (`dapkit.python.debuggee.limits`), since it
imports nothing from here.
"""

MESSAGE_BYTES = 64 * 1024 * 1024
"""Largest message body that a reader accepts."""

HEADER_BYTES = 64 * 1024
"""Largest block of headers before a body."""

OUTPUT_EVENT_BYTES = 64 * 1024
"""Output is joined into events of at most this much text."""

OUTPUT_BACKLOG_BYTES = 1024 * 1024
"""More output than this waiting to leave makes its sender wait."""

WRITE_CHUNK_BYTES = 64 * 1024
"""Frames handed to the stream at a time, so that a response waits for no more than this."""

READ_CHUNK_BYTES = 64 * 1024
"""Bytes asked of a stream at a time."""

FORGOTTEN_REQUESTS = 1000
"""Requests given up on whose late response is still told from a stray one."""

VIOLATIONS = 1000
"""Breaches of the protocol kept for the report; later ones are counted only."""

REQUEST_SECONDS = 30.0
"""Deadline of a request unless its caller says otherwise."""

SEND_SECONDS = 30.0
"""A peer that takes nothing from us for this long is gone."""

CLOSE_SECONDS = 2.0
"""Time that a peer or a child process gets at each stage of closing."""

CLOSING_SECONDS = 10.0
"""Time that an adapter gets to disconnect, and again to release what it holds."""

ORDERLY_END_SECONDS = 25.0
"""Time that an adapter's process gets to end all its sessions once it is told to."""

MEMORY_STREAM_BYTES = 64 * 1024
"""Bytes that wait in each direction of a stream in memory, as in a pipe."""

STDERR_BYTES = 64 * 1024
"""Last bytes of a child's stderr that are kept for an error text."""

ORPHAN_SECONDS = 0.75
"""Time that a child process gets at each stage of ending when its parent was killed."""

CONNECT_SECONDS = 10.0
"""Time within which a spawned adapter has to listen, or to dial back."""

CONNECT_RETRY_SECONDS = 0.05
"""Pause between two attempts to connect to an adapter that does not listen yet."""

TOKEN_SECONDS = 10.0
"""Time within which a connection has to show its token."""

TOKEN_MESSAGE_BYTES = 4096
"""Largest first message of a connection that has not shown its token yet."""

UNADMITTED_CONNECTIONS = 64
"""Connections that may wait to be let in at once; further ones are closed."""

INITIALIZED_SECONDS = 5.0
"""Time that an adapter gets to send `initialized` after its response to launch or attach."""

START_ERROR_SECONDS = 0.5
"""Time in which the error of launch itself may still come after its configuration failed."""

EVENTS_KEPT = 1000
"""Events of each kind that a client can look back on."""

OUTPUT_KEPT_CHARACTERS = 128 * 1024
"""Characters of output that a client keeps, of each category."""

LINK_SECONDS = 20.0
"""Time within which a started program has to connect to its adapter."""

LAST_OUTPUT_SECONDS = 0.5
"""Time for which output is still awaited after a program has ended, from children that hold its pipes."""

FAMILY_ROUNDS = 20
"""How often is looked for what a killed program's children have started meanwhile."""

INTERRUPT_SECONDS = 1.0
"""How long a program may take to hear that it is to end."""

PROGRESS_SECONDS = 1.0
"""A start that takes longer than this is shown as a progress."""

HUB_START_SECONDS = 20.0
"""Time within which a hub that was started has to listen, and one that listens has to greet."""

HUB_LINE_BYTES = 64 * 1024 * 1024
"""Longest message between a caller and the hub."""

HUB_CALLS = 64
"""Calls that one caller may have under way at once."""

HUB_LOG_BYTES = 1024 * 1024
"""A longer log of the hub is emptied when a hub is started."""

VERSION_SECONDS = 5.0
"""How long a program may take to tell its version."""

STOP_CAPTURE_SECONDS = 5.0
"""Time for which a stop is looked at before it is told without its place."""
