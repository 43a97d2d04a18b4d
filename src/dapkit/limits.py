"""Every limit that the layers keep, in one place.

Sizes are in bytes unless a name says otherwise, times in seconds. Code inside
the debugged program keeps its own (`dapkit.python.debuggee.limits`), since it
imports nothing from here.
"""

MEGABYTE = 1024 * 1024

MESSAGE_BYTES = 64 * 1024 * 1024
"""Largest message body that a reader accepts."""

HEADER_BYTES = 64 * 1024
"""Largest block of headers before a body."""

OUTPUT_EVENT_BYTES = 64 * 1024
"""Output is joined into events of at most this much text."""

OUTPUT_BACKLOG_BYTES = 1024 * 1024
"""More output than this waiting to leave makes its sender wait."""

OUTPUT_TAKEN_CHARACTERS = 256 * 1024
"""How much output of a program's engine is passed on before this is acknowledged: the engine waits for it."""

WRITE_CHUNK_BYTES = 64 * 1024
"""Frames handed to the stream at a time, so that a response waits for no more than this."""

READ_CHUNK_BYTES = 64 * 1024
"""Bytes asked of a stream at a time."""

FORGOTTEN_REQUESTS = 1000
"""Requests given up whose late response is still distinguished from a stray one."""

VIOLATIONS = 1000
"""Breaches of the protocol kept for the report; later ones are counted only."""

REQUEST_SECONDS = 30.0
"""Deadline of a request unless its caller says otherwise."""

SEND_SECONDS = 30.0
"""A peer that takes nothing for this long counts as gone."""

CLOSE_SECONDS = 2.0
"""Time that a peer or a child process gets at each stage of closing."""

CLOSING_SECONDS = 10.0
"""Time that an adapter gets to disconnect, and again to release what it holds."""

ORDERLY_END_SECONDS = 25.0
"""Time that an adapter's process gets to end all its sessions after the signal to end."""

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
"""Time within which the ends of a connection have to prove that they know the token."""

TOKEN_MESSAGE_BYTES = 4096
"""Largest of the first messages of a connection, by which its ends prove that they know the token."""

UNADMITTED_CONNECTIONS = 64
"""Connections that may wait to be let in at once; one more takes the place of the oldest."""

REFUSALS_LOGGED = 100
"""Refused connections that a listener logs."""

BACKLOG_CONNECTIONS = 4096
"""Connections that the system holds until they are accepted; with few, silent ones would keep others out."""

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

PASSWORD_SECONDS = 300.0
"""Time within which somebody has to tell `sudo` their password, in the terminal of a program that is to run as root."""

INJECTION_SECONDS = 15.0
"""Time within which a running program has to be reached that is attached to by its number."""

INJECTION_ATTEMPTS = 3
"""How often that is tried at least, where a machine is slow."""

SAFE_POINT_SECONDS = 1.0
"""How long a running program may take until its main thread does what it was asked to, before it is looked at again."""

UNSAFE_SECONDS = 0.05
"""How long to wait where a program cannot be reached at the moment, before the next attempt."""

DUMP_SECONDS = 20.0
"""Time within which the stacks of a program have to be read from outside, and its tasks."""

DUMP_LINES = 14
"""Lines that a thread, or a task, has on a page of stacks, unless all are wanted."""

DUMP_SOURCE_BYTES = 4 * 1024 * 1024
"""Size of a source file up to which it is looked at for locks."""

REFUSAL_TICK_SECONDS = 0.05
"""How often to look whether a program has left word of why it does not come."""

NATIVE_DEBUGGER_SECONDS = 15.0
"""Time within which gdb or lldb has to do one thing with a program that is attached to."""

NATIVE_DETACH_SECONDS = 5.0
"""Time that gdb or lldb has to let go of a program, and end."""

NATIVE_FRAMES = 40
"""Frames of native code, the newest, in which nothing may be going on that a program cannot be reached in."""

INTRODUCTION_SECONDS = 10.0
"""Time within which a peer that connects to an adapter as the engine of its program has to introduce itself."""

CHILD_START_SECONDS = 180.0
"""Time within which the adapter of a child has to answer launch or attach: there may be many of them at once."""

CHILDREN_AT_ONCE = 8
"""How many children the client is asked to open sessions for at a time; the others wait at the door."""

CHILD_SECONDS = 60.0
"""Time within which the session of a child process has to begin; then the child runs on."""

UNPROVEN_CONNECTIONS = 256
"""How many connections of clients are held that show their token only in `attach`."""

INVITED_SECONDS = 30.0
"""Time within which a client of debugpy's has to come to the first child; then it is not asked again."""

ARRIVAL_SECONDS = 5.0
"""How long a child process that a program has left when it ended may take to come to its debugger."""

ARRIVAL_POLL_SECONDS = 0.02
"""How often it is looked whether it has."""

MARK_SECONDS = 10.0
"""How long output of a program waits for a log message before it, and a message for the output before that."""

MARK_BYTES = 40
"""More than a mark in the output has."""

LAST_OUTPUT_SECONDS = 0.5
"""Time for which output is still awaited after a program has ended, from children that hold its pipes."""

INTERRUPT_SECONDS = 1.0
"""How long a program may take to notice that it is to end."""

CUT_SECONDS = 0.25
"""How long after the end of the connection a program has to run on until that is reported."""

SIGNAL_STOP_SECONDS = 0.5
"""How long a signal has to keep a program stopped until that is reported, and requests are refused."""

PROGRESS_SECONDS = 1.0
"""A start that takes longer than this is shown as a progress."""

HUB_START_SECONDS = 20.0
"""Time within which a hub that was started has to listen, and one that listens has to greet."""

HUB_CALL_SECONDS = 360.0
"""Time after which a caller gives a call up; longer than any action may take."""

HUB_LINE_BYTES = 64 * 1024 * 1024
"""Longest message between a caller and the hub."""

HUB_CALLS = 64
"""Calls that one caller may have under way at once."""

HUB_LOG_BYTES = 1024 * 1024
"""A longer log of the hub is emptied when a hub is started."""

HUB_LOG_SHOWN_BYTES = 2000
"""Bytes of its log that are shown when a hub could not be started, the last ones."""

VERSION_SECONDS = 20.0
"""How long an adapter's program may take to print its version; after it, one that has to counts as missing."""

CHECKUP_SECONDS = 20.0
"""Time within which an adapter that is checked has to be reached and to answer `initialize`."""

STOP_CAPTURE_SECONDS = 5.0
"""Time in which the thread of a stop is read before the stop is published without its place."""

STOP_FRAMES = 6
"""Frames that are read at each stop: those that a report shows, and one that says whether there are more."""

OWN_FRAMES = 100
"""Frames that are read at a stop where the user's own code may lie deeper, such as at an exception."""

START_OUTPUT_CHARACTERS = 4000
"""Characters of an adapter's output that are reported with the error of a start, the last ones."""

LATE_EXIT_CODE_SECONDS = 0.2
"""Time in which `exited` may still come after `terminated`."""

ENDED_SESSIONS_KEPT = 20
"""Sessions of a project that have ended and can still be read."""

REFERENCES_KEPT = 100_000
"""Numbers of frames, values and locations that a session remembers; older ones are reported as unknown."""

EVENT_STATE_KEPT = 10_000
"""Modules, and sources, that a session keeps as events report them; later ones push out the oldest."""

PAUSE_AGAIN_SECONDS = 2.0
"""Time for which a pause is asked for again and again, if the adapter refuses it though the program runs."""

PAUSE_TICK_SECONDS = 0.05
"""How often."""

PAUSE_LOST_SECONDS = 5.0
"""Time after which a pause is asked for once more that has stopped nothing: gdb 16 loses one now and then."""

CALL_STOP_SECONDS = 2.0
"""Time for an adapter to report that the program stands again, after an expression for which it was resumed."""

ACTION_SECONDS_LEAST = 5.0
"""Shortest timeout of an action; a shorter one that is asked for counts as this."""

ACTION_SECONDS_MOST = 300.0
"""Longest timeout of an action."""

ACTION_SECONDS_MORE = 20.0
"""What an action may take beyond its timeout, to start an adapter, to read a stop and to answer."""

ATTACHED_STOP_SECONDS = 1.0
"""How long an attach waits for a stop: some adapters stop the program by it, others let it run."""

REPORT_SECONDS = 3.0
"""Time for the requests of a stop's report; what has not come then is left out."""

REPORT_SOURCE_LINES = 3
"""Lines of source before and after the current one that a report shows."""

REPORT_SOURCE_CHARACTERS = 160
"""Characters of one of these lines."""

REPORT_FRAMES = STOP_FRAMES - 1
"""Frames that a report shows."""

REPORT_LOCALS = 20
"""Variables that a report shows."""

REPORT_VALUE_CHARACTERS = 100
"""Characters of the value of one of these variables."""

CONTENTS_SECONDS = 2.0
"""Time in which the members of a report's variables are read."""

CONTENTS_REQUESTS = 40
"""Requests that this may take."""

CONTENTS_MEMBERS = 12
"""Members of one value that are read."""

CONTENTS_CHARACTERS = 240
"""Characters of the members of one variable that a report shows."""

CONTENTS_VALUE_CHARACTERS = 60
"""Characters of the value of one member."""

REPORT_OUTPUT_CHARACTERS = 800
"""Characters of output that a report shows, the last ones."""

VALUE_CHARACTERS = 500
"""Characters of the value of a variable in a list."""

VARIABLES_SHOWN = 100
"""Variables that one answer shows."""

VARIABLES_MOST = 1000
"""Variables that can be asked for at once."""

VARIABLES_SEARCHED = 10_000
"""Members of one value that are searched for a name."""

FRAMES_SHOWN = 20
"""Frames that one answer shows, if nothing else is asked for."""

FRAMES_MOST = 1000
"""Frames that can be asked for at once, of one thread or of all."""

THREADS_SHOWN = 200
"""Threads that one answer shows."""

NAME_CHARACTERS = 200
"""Characters of the name of a frame or a thread."""

EXCEPTION_CHARACTERS = 2000
"""Characters of each text about an exception."""

CUSTOM_BODY_BYTES = 65536
"""Size of the answer to a request of the caller's own, as JSON; a longer one is cut, and is a text then."""

MODULES_SHOWN = 100
"""Modules or sources that one answer shows, if nothing else is asked for."""

MODULES_MOST = 1000
"""Modules that can be asked for at once."""

COMPLETIONS_SHOWN = 50
"""Completions that one answer shows."""

SOURCE_LINES_SHOWN = 40
"""Lines of source that one answer shows, if nothing else is asked for."""

SOURCE_LINES_MOST = 1000
"""Lines of source that can be asked for at once."""

MEMORY_BYTES_READ = 65536
"""Bytes of memory that can be asked for at once."""

INSTRUCTIONS_SHOWN = 1000
"""Instructions that can be asked for at once."""

MCP_PROGRESS_SECONDS = 5.0
"""How often a call that still works is reported to an agent that wants progress reports."""

VERSIONS_AT_ONCE = 4
"""Programs that are asked for their version at the same time."""

CHECKUPS_AT_ONCE = 2
"""Adapters that are checked at the same time."""

VERSIONS_KEPT = 256
"""Versions of programs that are remembered."""

CONFIGURATION_BYTES = 1024 * 1024
"""Largest file of settings, of definitions, of configurations or of variables that is read."""

CONFIGURATION_SECONDS = 5.0
"""Time within which the settings of a caller have to be read."""

MARKER_BYTES = 1024 * 1024
"""Bytes of a root marker that are searched for what it has to contain."""

HEADER_NAME_BYTES = 256
"""Longest name of a header."""

EXCERPT_BYTES = 60
"""Bytes that the error text of a broken header quotes."""

SOURCE_BYTES = 16 * 1024 * 1024
"""Largest file that is read as a source."""

SECRET_CHARACTERS = 6
"""Shortest value that counts as a secret; shorter ones, such as `1` or `true`, would be found everywhere."""

SECRET_MOST = 4096
"""Longest value that is remembered as a secret."""

SECRETS_FOUND = 200
"""Values of a session that are remembered as secrets because of the names of what had them."""

SECRET_PART_CHARACTERS = 4
"""Shortest beginning of a secret that is recognised where a value was cut."""

SECRET_SHAPE_CHARACTERS = 48
"""What of a text that was cut may be the beginning of a token, too short for its shape to be recognised."""

LARGE_PAGE = 10_000
"""Variables, or breakpoints, in one request from which on it is shown as a progress."""

PROJECT_FILES = 50_000
"""Files and folders of a project among which one is looked for by its name."""

EXECUTABLE_BYTES = 256 * 1024 * 1024
"""A larger executable is not searched for the names of its sources."""

PLACES_SHOWN = 5
"""Lines that the error text for an ambiguous breakpoint lists."""

RUN_STOPS = 20
"""Stops that `dapkit run` shows unless `--stops` says otherwise."""

HAPPENINGS_AT_ONCE = 32
"""Happenings handed out in a row, so that many cost less than a turn of the event loop for each."""

MOMENT_CHARACTERS = 100
"""Characters of a message that one line of a timeline shows."""

PAST_PROCESSES = 1000
"""Copies of a program with time travel, and processes that show its past, at a time."""

PAST_SECONDS = 20.0
"""Time within which a copy of the program has to begin a process of the past."""

ENDING_SECONDS = 5.0
"""Time within which a copy of the program has to say how a process of the past has ended that it had begun."""

REPLAY_SECONDS = 600.0
"""Time within which a process of the past has to reach the moment that it is to show."""

DISTANT_LINES = 20_000
"""Lines between a copy of a program and a moment: where those are looked at one by one, another copy is made nearer."""

CHECKPOINTS = 60
"""Copies of a program that are kept."""

LEAST_CHECKPOINTS = 3
"""Copies that are kept even if they have too much memory: the first, the last, and one between."""

MEMORY_LOOK_SECONDS = 0.5
"""Pause after it was looked how much memory copies have, which takes a millisecond for each."""

INSTRUCTION_STEPS = 5_000
"""Instructions of a line that are executed again, one by one, to go back by one."""

TIMELINE_STOPS = 1_000
"""Stops of a program that its timeline tells of: the latest."""

TIMELINE_STOPS_SHOWN = 50
"""Of these, in the answer of an action."""

WIRE_RECORDS = 1_000
"""Messages of a wire that are kept, the latest; each is counted."""

WIRE_CHARACTERS = 512_000
"""Characters of all these messages."""

WIRE_RECORD_CHARACTERS = 64_000
"""Characters of one of them; a longer one is cut, and ends with a marker."""

WIRE_ANSWER_CHARACTERS = 32_000
"""Characters of the messages in one answer, unless the first one has more; the hub is busy with them meanwhile."""

WIRE_FOLLOW_SECONDS = 5.0
"""How long one who follows a wire waits for a message before it is looked whether anybody still reads."""

WIRE_LINE_CHARACTERS = 160
"""Characters of a message that the line about it shows."""

MCP_EVENT_BYTES = 64 * MEGABYTE
"""Longest event, or body of a request, that is kept for diagnostics; what comes after a longer one is not."""

SESSION_RECORD_ENTRIES = 1_000
"""Actions that a session keeps for its transcript: the first one, and the latest."""

SESSION_RECORD_BYTES = 2 * MEGABYTE
"""Size of their answers, as JSON."""

SESSION_RECORD_ENTRY_BYTES = 64 * 1024
"""Size of one of these; of a longer one the text is kept, and not the details."""

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

TRANSCRIPT_LINES_SHOWN = 200
"""Lines of a transcript that the menu shows; all are in its file."""

OPENING_SECONDS = 3.0
"""How long is waited for the program of the desktop that opens a file: whether it fails at once."""

LOG_LINES = 5_000
"""Lines of the hub's log that one reading takes in, of all days together; the last ones."""

LOG_BYTES = 2 * MEGABYTE
"""Size of these lines."""

LOG_WINDOW_LINES = 50
"""Lines of the log that are shown at first, and that are loaded at a time."""

LOG_LINE_CHARACTERS = 4_000
"""Characters of one line of the log that are shown."""

LOG_RECORD_BYTES = 64 * 1024
"""Size of one record of the log, with its traceback; the rest of a longer one is left out."""

LOG_DAY_BYTES = 8 * MEGABYTE
"""Size of the log of one day, about; the rest of the day is left out."""

LOG_DAYS = 30
"""How many days the log of a day is kept."""

LOG_FOLLOW_SECONDS = 0.25
"""How often it is looked for new lines of a log that is followed."""

PROFILE_SECONDS = 30.0
"""How long a work profile takes, if nothing else is asked for."""

PROFILE_SECONDS_MOST = 300.0
"""How long a profile may take."""

PERF_RATE = 99
"""Samples in a second of each processor; not 100, since what the program does by a clock often has that rhythm."""

PY_SPY_RATE = 50
"""Samples in a second of each thread, which are taken three times; their distances differ at random."""

PROFILE_STACKS = 20_000
"""Different stacks of a profile; what else is seen counts as other stacks."""

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
"""Share of all samples that a call has to have to be shown there."""

PROFILE_NAME_CHARACTERS = 300
"""Characters of the name of a function, or of a note."""

PROFILE_ERROR_CHARACTERS = 500
"""Characters of what a tool wrote that an error shows."""

PROFILE_FOLDED_CHARACTERS = 16 * MEGABYTE
"""Size of a profile as folded stacks."""

PROFILE_LINE_BYTES = 64 * 1024
"""Longest line of a tool that is read as one."""

PROFILE_BYTES = 64 * MEGABYTE
"""Size of what a tool writes, and of a profile of Go, unpacked."""

PROFILE_TOOL_BYTES = 1024 * MEGABYTE
"""Memory that a tool may have."""

PROFILE_START_SECONDS = 20.0
"""Time for a tool to begin, or for a connection to a program that profiles itself."""

PROFILE_FINISH_SECONDS = 60.0
"""Time for a tool to write what it has seen."""

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
"""Time within which a program has to answer with a snapshot of its heap; it stands still for less."""

HEAP_ATTACH_SECONDS = 10.0
"""How long memray looks at what a program allocates, unless it is said."""

HEAP_ROWS_SHOWN = 20
"""Rows of each table of a snapshot in its text."""

HEAP_SOURCE_CHARACTERS = 60
"""Characters of a line of source beside its place."""

HEAP_FILE_BYTES = 16 * MEGABYTE
"""Largest file that is read as a snapshot of a heap."""

HEAP_FILES = 100
"""Snapshots that are kept of a session, the latest."""

HEAP_ROWS_ON_SCREEN = 10
"""The same in the menu, where the comparison with an earlier snapshot follows."""

HEAP_LINES = 1_000
"""Lines that memray names, those that hold most."""

HEAP_BEGIN_SECONDS = 30.0
"""Time within which memray has to begin in a program that it was brought into."""

HEAP_END_SECONDS = 60.0
"""Time within which it has to write what is held, and to be taken back."""
