"""Limits of diagnostics: logs, profiles, heaps, reports.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

from dapkit.limits import MEGABYTE

WIRE_LINE_CHARACTERS = 160
"""Characters of a message that the line about it shows."""

CLIPBOARD_SECONDS = 5.0
"""Time that the program of the clipboard gets to take a text."""

SYSTEM_FILE_BYTES = 256 * 1024
"""Read of a file in which the system describes itself."""

SYSTEM_VALUE_CHARACTERS = 400
"""Shown of the value of a variable of the environment."""

REPORT_BYTES = 64 * MEGABYTE
"""Size of all files of a report, before they are packed."""

REPORT_FILE_BYTES = 32 * MEGABYTE
"""Size of one file of the session's folder that is put into a report."""

REPORT_LOG_LINES = 1_000
"""Lines of the log in a report, the last ones."""

REPORT_CHILDREN = 10
"""Child sessions in a report, the latest."""

TRANSCRIPT_BYTES = 8 * MEGABYTE
"""Size of a transcript, as Markdown and as a page; of more actions than fit the first and the latest are shown."""

OPENING_SECONDS = 3.0
"""How long is waited for the program of the desktop that opens a file: whether it fails at once."""

LOG_BYTES = 2 * MEGABYTE
"""Size of these lines."""

LOG_LINE_CHARACTERS = 4_000
"""Characters of one line of the log that are shown."""

LOG_FOLLOW_SECONDS = 0.25
"""How often it is looked for new lines of a log that is followed."""

PERF_RATE = 99
"""Samples in a second of each processor; not 100, since periodic work of the program often has that rhythm."""

PY_SPY_RATE = 50
"""Samples in a second of each thread, which are taken three times; their distances differ at random."""

PROFILE_STACKS = 20_000
"""Different stacks of a profile; all further ones count as other stacks."""

PROFILE_FRAMES = 128
"""Calls of one stack that are kept: the outermost, and the innermost."""

PROFILE_NODES = 200_000
"""Calls of a profile as a tree."""

PROFILE_FUNCTIONS = 15
"""Functions that a profile shows as text."""

PROFILE_FUNCTIONS_MOST = 500
"""Functions of a profile as JSON."""

PROFILE_TREE_LINES = 60
"""Lines of the calls of a profile as text."""

PROFILE_TREE_SHARE = 0.01
"""Share of all samples that a call must have to be shown there."""

PROFILE_NAME_CHARACTERS = 300
"""Characters of the name of a function, or of a note."""

PROFILE_ERROR_CHARACTERS = 500
"""Characters of a tool's output that an error shows."""

PROFILE_FOLDED_CHARACTERS = 16 * MEGABYTE
"""Size of a profile as folded stacks."""

PROFILE_LINE_BYTES = 64 * 1024
"""Longest line of a tool that is read as one."""

PROFILE_BYTES = 64 * MEGABYTE
"""Size of a tool's output, and of a profile of Go, unpacked."""

PROFILE_TOOL_BYTES = 1024 * MEGABYTE
"""Memory that a tool may have."""

PROFILE_START_SECONDS = 20.0
"""Time for a tool to begin, or for a connection to a program that profiles itself."""

PROFILE_READY_SECONDS = 2.0
"""Time for a tool to begin where the system does not tell which signals a process handles."""

PROFILE_FINISH_SECONDS = 60.0
"""Time for a tool to write its data."""

PROFILE_LOOK_SECONDS = 0.1
"""How often it is looked whether a profile is to end early."""

PPROF_PROBE_SECONDS = 1.0
"""Time for a listener of a Go program to answer whether it serves profiles."""

PPROF_PROBE_BYTES = 64 * 1024
"""Read of this answer."""

PPROF_PORTS = 16
"""Listeners of a program that are asked."""

FLAME_GRAPH_BOXES = 5_000
"""Boxes of a flame graph, the widest ones."""

FLAME_GRAPH_LEAST_WIDTH = 0.7
"""Width of the narrowest one; 1,180 stand for all samples."""

HEAP_ANSWER_SECONDS = 60.0
"""Time within which a program has to answer with a snapshot of its heap; it is stopped for less."""

HEAP_ROWS_SHOWN = 20
"""Rows of each table of a snapshot in its text."""

HEAP_SOURCE_CHARACTERS = 60
"""Characters of a line of source beside its place."""

HEAP_SOURCE_BYTES = 4 * MEGABYTE
"""Size of a source of which such a line is shown."""

HEAP_SOURCES_KEPT = 64
"""Such sources that are kept."""

HEAP_FILE_BYTES = 16 * MEGABYTE
"""Largest file that is read as a snapshot of a heap."""

HEAP_FILES = 100
"""Snapshots that are kept of a session, the latest."""

HEAP_LINES = 1_000
"""Lines that memray names, those that hold most."""

HEAP_BEGIN_SECONDS = 30.0
"""Time within which memray must begin in a program that it was brought into."""

HEAP_END_SECONDS = 60.0
"""Time for it to write the list of allocations and to be removed."""
