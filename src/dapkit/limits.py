"""Limits that several layers share; limits of one layer are in its own `limits` module.

Sizes are in bytes unless a name says otherwise, times in seconds. Code inside
the debugged program keeps its own (`dapkit.python.debuggee.interpreter.limits`), since it
imports nothing from here.
"""

MEGABYTE = 1024 * 1024

MESSAGE_BYTES = 64 * 1024 * 1024
"""Largest message body that a reader accepts."""

HEADER_BYTES = 64 * 1024
"""Largest block of headers before a body."""

WRITE_CHUNK_BYTES = 64 * 1024
"""Frames handed to the stream at a time, so that a response waits for no more than this."""

READ_CHUNK_BYTES = 64 * 1024
"""Bytes asked of a stream at a time."""

REQUEST_SECONDS = 30.0
"""Deadline of a request unless its caller says otherwise."""

SEND_SECONDS = 30.0
"""A peer that takes nothing for this long counts as gone."""

CLOSE_SECONDS = 2.0
"""Time that a peer or a child process gets at each stage of closing."""

CLOSING_SECONDS = 10.0
"""Time that an adapter gets to disconnect, and again to release its resources."""

ORDERLY_END_SECONDS = 25.0
"""Time that an adapter's process gets to end all its sessions after the signal to end."""

STDERR_BYTES = 64 * 1024
"""Last bytes of a child's stderr that are kept for an error text."""

CONNECT_SECONDS = 10.0
"""Time within which a spawned adapter has to listen, or to dial back."""

CONNECT_RETRY_SECONDS = 0.05
"""Pause between two attempts to connect to an adapter that does not listen yet."""

TOKEN_SECONDS = 10.0
"""Time within which the ends of a connection have to prove that they know the token."""

TOKEN_MESSAGE_BYTES = 4096
"""Largest of the first messages of a connection, by which its ends prove that they know the token."""

UNADMITTED_CONNECTIONS = 64
"""Connections that may wait to be let in at once; one more takes the place of the oldest."""

BACKLOG_CONNECTIONS = 4096
"""Connections that the system holds until they are accepted; with few, silent ones would keep others out."""

START_ERROR_SECONDS = 0.5
"""Time in which the error of launch itself may still come after its configuration failed."""

OUTPUT_KEPT_CHARACTERS = 128 * 1024
"""Characters of output that a client keeps, of each category."""

LAST_OUTPUT_SECONDS = 0.5
"""Time for which output is still awaited after a program has ended, from children that hold its pipes."""

HUB_START_SECONDS = 20.0
"""Time within which a hub that was started has to listen, and one that listens has to greet."""

HUB_CALL_SECONDS = 360.0
"""Time after which a caller gives a call up; longer than any action may take."""

STOP_FRAMES = 6
"""Frames that are read at each stop: those that a report shows, and one that says whether there are more."""

OWN_FRAMES = 100
"""Frames that are read at a stop where the user's own code may lie deeper, such as at an exception."""

ACTION_SECONDS_LEAST = 5.0
"""Shortest timeout of an action; a shorter one that is asked for counts as this."""

ACTION_SECONDS_MOST = 300.0
"""Longest timeout of an action."""

CONFIGURATION_BYTES = 1024 * 1024
"""Largest file of settings, of definitions, of configurations or of variables that is read."""

HEADER_NAME_BYTES = 256
"""Longest name of a header."""

EXCERPT_BYTES = 60
"""Bytes that the error text of a broken header quotes."""

SOURCE_BYTES = 16 * 1024 * 1024
"""Largest file that is read as a source."""

PLACES_SHOWN = 5
"""Lines that the error text for an ambiguous breakpoint lists."""

RUN_STOPS = 20
"""Stops that `dapkit run` shows unless `--stops` says otherwise."""
PROBE_HITS = 20

TRACE_STEPS = 500

COMPARED_STOPS = 1000
"""Stops of each of two runs that are compared."""
RUN_OUTPUT_LINES = 10
"""Lines of the program's output that `dapkit run` shows unless `--output-lines` says otherwise."""

MOMENT_CHARACTERS = 100
"""Characters of a message that one line of a timeline shows."""

WIRE_RECORDS = 1_000
"""Messages of a wire that are kept, the latest; each is counted."""

WIRE_CHARACTERS = 512_000
"""Characters of all these messages."""

WIRE_FOLLOW_SECONDS = 5.0
"""How long one who follows a wire waits for a message before it is looked whether anybody still reads."""

LOG_LINES = 5_000
"""Lines of the hub's log that one reading takes in, of all days together; the last ones."""

LOG_WINDOW_LINES = 50
"""Lines of the log that are shown at first, and that are loaded at a time."""

LOG_DAY_BYTES = 8 * MEGABYTE
"""Size of the log of one day, about; the rest of the day is left out."""

PROFILE_SECONDS = 30.0
"""How long a work profile takes, if nothing else is asked for."""

PROFILE_SECONDS_MOST = 300.0
"""How long a profile may take."""

HEAP_ATTACH_SECONDS = 10.0
"""Default duration of memray's trace of a program's allocations."""
