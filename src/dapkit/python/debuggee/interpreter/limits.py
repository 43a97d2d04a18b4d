"""Every limit of the engine, in one place. Tests read them from here.

Times are seconds, lengths are characters unless a name says otherwise.
"""

from typing import Final

# Deadlines of work that runs in a stopped thread.
VALUE_SECONDS: Final = 0.25
"""One call of the program's own `__repr__`, `__str__` or property."""
PAGE_SECONDS: Final = 0.6
"""All such calls of one `variables` request; later values are shown without them."""
GRACE_SECONDS: Final = 0.15
"""From the interruption of code that is over its time to the answer without it."""
WATCH_SECONDS: Final = 3.0
"""`evaluate` in the contexts watch, hover, variables and clipboard."""
REPL_SECONDS: Final = 30.0
"""`evaluate` in the context repl."""
PAUSE_SECONDS: Final = 0.03
"""How long `pause` waits for its thread to park before it reports it as inside native code."""
SETTLE_SECONDS: Final = 0.2
"""How long after a stop a thread that has not parked may still be on its way, and is waited for."""
SETTLE_TICK_SECONDS: Final = 0.004
"""How often that is looked at."""
REST_SECONDS: Final = 2.0
"""How long a fork waits for the system to take away the link's thread."""
INTERRUPT_SECONDS: Final = 1.0
"""How long the main thread has to notice an interrupt, before it counts as inside native code."""
INTERRUPT_LOOKS: Final = 4
"""How often within that time it is looked at whether it has."""
STATUS_BYTES: Final = 8_192
"""More than the system says of a thread in `/proc/self/task/N/status`."""
PARK_SECONDS: Final = 0.06
"""How long after a stop the stack of a thread that has not parked is waited for; then it is in native code."""
MISSED_EVENTS: Final = 1_000
"""Events near the recursion limit that are noted until they are reported, without the C extension."""
STOP_CALLS: Final = 60
"""Calls that have to fit on the stack where a thread stops, without the C extension."""
LINK_CALLS: Final = 500
"""Calls that the link's thread may nest beyond the recursion limit, with the C extension."""
DESCRIPTOR_SECONDS: Final = 0.5
"""How often the link looks whether the program has closed its descriptors."""
TICK_SECONDS: Final = 0.05
"""How often the link looks after running work."""
GUI_SECONDS: Final = 0.04
"""How often a stopped thread serves windows of the program, with `guiEventLoop`."""
SLICE_SECONDS: Final = 0.05
"""How long the link's thread does one thing before it looks whether there are other requests."""
TOOL_SECONDS: Final = 0.9
"""How often is looked whether the program has taken our tool of sys.monitoring."""
BRANCH_SECONDS: Final = 20.0
"""How long a replay process waits for the open files of the live program, whose place it takes."""
RELOAD_SECONDS: Final = 1.0
"""How often `autoReload` looks for saved files, unless the client says otherwise."""
REMARK_SECONDS: Final = 0.01
"""A log message that comes sooner than this after others were sent waits for more of them."""

REMARK_TURN_SECONDS: Final = 0.002
"""How long the link's thread leaves log messages to the threads that add them, which send them once they are many."""

# Sizes of displayed values.
VALUE_CHARS: Final = 1_000
"""A value in `variables` or in a watch."""
REPL_CHARS: Final = 20_000
"""A value in the console."""
CLIPBOARD_CHARS: Final = 4_000_000
"""A value for the clipboard: the whole of it, but for the absurd."""
CHANGE_CHARS: Final = 200
"""The old and the new value of watched data, each."""
MESSAGE_CHARS: Final = 10_000
"""A log message, an error text, the text of an exception."""
LINE_ITEMS: Final = 300
"""Items of a container in one line of text, but for the clipboard."""
PART_CHARS: Final = 60
"""A part of a value in a text that a presenter makes."""
TEXT_COLUMNS: Final = 12
"""Columns in such a text."""
TABLE_ROWS: Final = 10
"""Rows of a table that are shown as one."""
PREVIEW_DEPTH: Final = 3
"""Containers within containers in one line of text."""
RESULT_DEPTH: Final = 6
"""The same in the value of an expression."""
COUNTED_ITEMS: Final = 2**31 - 1
"""The largest number that the protocol counts items by: those beyond are reached by expressions only."""
UNPAGED_ITEMS: Final = 500
"""Items shown when a client asks for all of a container; the rest hangs below one more row."""
KEY_CHARS: Final = 80
"""The key of a dict, as a name."""
PROPOSALS: Final = 2_000
"""Completions in one answer."""
MEMORY_BYTES: Final = 16 * 1024 * 1024
"""Bytes in one answer to `readMemory`."""
CALLBACKS_AT_ONCE: Final = 1_000
"""Breakpoints of a source whose conditions are compiled when they are set; of more, each when it is first reached."""
PIECE_LINES: Final = 2_000
"""Lines of a text that are compiled together to look at them, if a statement ends with the last one."""
TEXT_BYTES: Final = 2_000_000
"""Source texts that are kept, as they are needed again at the next stop; in memory they take three times as much."""
KEPT_ITEMS: Final = 100
"""Of a list or dict of plain data that is remembered as an argument."""
KEPT_REGIONS: Final = 8
"""Objects that are kept alive because a client reads their memory."""
KEPT_BYTES: Final = 1024 * 1024
"""The largest of them."""
INT_BITS: Final = 8_192
"""Integers up to this size are written in decimal; that costs quadratic time."""
AWAIT_DEPTH: Final = 100
"""Coroutines in the chain of one task, and tasks in the chain of those that wait for each other."""
EXEC_DEPTH: Final = 4
"""Frames around code that was executed from a text, in which the text is looked for."""
EXEC_CHARS: Final = 1_000_000
"""Texts longer than this are not taken to be it."""
TASKS_LISTED: Final = 100
"""Suspended asyncio tasks that `threads` lists."""
PARAMETER_CHARS: Final = 60
"""A value in the name of a frame."""
ARRAY_ITEMS: Final = 5_000_000
"""Items of an array of numpy among which the smallest and the largest one are looked for."""
EXCEPTION_DEPTH: Final = 8
"""Links of an exception chain, and members of a group, in `exceptionInfo`."""
TRACEBACK_PLACES: Final = 100
"""Frames that are written of one exception, those that follow each other at one place counted once."""
TRACEBACK_CHARS: Final = 40_000
"""A traceback with causes, contexts and groups; of a longer one the middle is left out."""
SOURCE_LINE_CHARS: Final = 200
"""A line of a source in a traceback."""

HEAP_SECONDS: Final = 10.0
"""How long the program may stand still for a snapshot of its heap; a million objects take about one second."""
HEAP_OBJECTS: Final = 20_000_000
"""Objects that are counted for it."""
HEAP_ROWS: Final = 1_000
"""Types, holders and lines that it names, each; those with most bytes."""
HEAP_TRACE_BYTES: Final = 512 * 1024 * 1024
"""Memory that the traces of `tracemalloc` may take to be read, which takes as much again."""

KNOWN_ARGUMENTS: Final = 100
"""Frames whose arguments are kept for `restartFrame`."""
NOTED_CALLS: Final = 10_000
"""Calls whose arguments are kept for `restartFrame` between two stops: at some microseconds each."""

CELL_CALLERS: Final = 4
"""Frames of a library around a text that it runs, such as a statement of a cell, among which one may run the next."""
STEPPED_CALLS: Final = 50
"""Calls of a stepped line that are looked at, for their results."""
STEPPED_RETURNS: Final = 50
"""Other calls of the same functions that may return meanwhile; then no more is noted in this step."""

INSTRUCTIONS: Final = 100_000
"""Instructions in one answer of `disassemble`."""
DISASSEMBLED_CODES: Final = 8
"""Code objects whose instructions are kept: an editor reads one page after the other."""
STOPS_REMEMBERED: Final = 1_000
"""Stops of which it is known which numbers of frames and values were theirs."""
SPANS: Final = 2_000
"""Places of instructions that are not looked up again: a deep recursion has few."""
STOPPED_EXCEPTIONS: Final = 8
"""Exceptions of a thread that the program was stopped for, and that may still be on their way."""
KNOWN_RAISES: Final = 16_384
"""Types of exceptions at instructions whose outcome is known."""
RAISES_WATCHED_EVERYWHERE: Final = 5_000
"""Events of RAISE that are let pass before it is watched by code object, which takes a look at all code that runs."""
READ_CODES: Final = 4_096
"""Code objects whose handlers of exceptions are kept."""
WRAPPERS: Final = 16
"""Decorators that are looked through for the function behind them."""
COMPILED_AGAIN: Final = 16
"""Compilations of one template whose code has its breakpoints, the latest."""
COMPILED_TEXTS: Final = 200
"""Templates without a file whose texts are kept, the latest that were compiled."""
NEARBY_TEXTS: Final = 50
"""Strings of the frames around some code that are compared with it."""
DEFINITION_BYTES: Final = 4 * 1024 * 1024
"""As much of a file is read to find a class in it."""
CLASS_INSTRUCTIONS: Final = 8
"""Instructions from the end of the body of a class to where it has its name, with some decorators."""

COMPARED_ITEMS: Final = 1_000
"""Items of tuples that are compared to see whether a write has changed a value."""
COMPARED_CHARS: Final = 1024 * 1024
"""The longest text that is."""

REMARKS: Final = 256
"""Log messages that may wait; the thread that adds one more sends them all."""
REMARKED_CHARS: Final = 1024 * 1024
"""When more than this has not yet been passed to the client, a thread that writes more waits."""
ROOM_SECONDS: Final = 0.01
"""How often is looked whether it has been."""
REMARKS_APART: Final = 8
"""No more log messages than these that wait together are sent as an event each, whose place an editor links to."""
REMARK_CHARS: Final = 16_384
"""Log messages are joined into events of about this much text."""

TOKEN_SECONDS: Final = 10.0
"""Within which the ends of a connection have to prove that they know the token."""
TOKEN_MESSAGE_BYTES: Final = 4_096
"""Bytes that a connection may send before it is let in."""
PENDING_CONNECTIONS: Final = 16
"""Connections that may wait to be let in; one more takes the place of the oldest."""
BACKLOG_CONNECTIONS: Final = 4_096
"""Connections that the system holds until they are accepted; with few, silent ones would keep others out."""
LISTENER_MILLISECONDS: Final = 1_000
"""How often the slow ones among them are looked for."""

FRAME_BYTES: Final = 64 * 1024 * 1024
"""The body of one message from the adapter."""
HEADER_BYTES: Final = 64 * 1024
"""The header of one message from the adapter."""

LINK_LOST_EXIT_CODE: Final = 129
"""Exit code of a launched program whose debugger went away: as after SIGHUP."""

LAST_DATA_SECONDS: Final = 2.0
"""How long the end of a program waits until a debugger at a port has read the last messages."""

LEAVE_SECONDS: Final = 2.0
"""How long a client that comes waits for the thread of one that leaves."""

LEAVE_TICK_SECONDS: Final = 0.01
"""How often it looks for that."""

LOCK_FRAMES = 50
"""Calls of a thread whose variables are searched for locks."""

LOCK_VARIABLES = 200
"""Variables of a call, or attributes of one of their values, that are looked at."""

LOCK_PLACES = 20
"""Calls that are named for a lock."""

TRACED_VARIABLES = 40
"""Variables of a frame that a trace of a call reads at each line."""

TRACED_FIELDS = 12
"""Fields of one object."""

TRACED_CHARS = 300
"""A value, or its fields."""
