"""Limits of the agent's actions and their answers.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

from dapkit.limits import MEGABYTE, STOP_FRAMES

ACTION_SECONDS_MORE = 20.0
"""Time that an action may take beyond its timeout, to start an adapter, to read a stop and to answer."""

ATTACHED_STOP_SECONDS = 1.0
"""How long an attach waits for a stop: some adapters stop the program by it, others let it run."""

REPORT_SECONDS = 3.0
"""Time for the requests of a stop's report; parts that are missing then are left out."""

REPORT_SOURCE_LINES = 2
"""Lines of source before and after the current one that a report shows."""

REPORT_SOURCE_CHARACTERS = 160
"""Characters of one of these lines."""

REPORT_FRAMES = STOP_FRAMES - 1
"""Frames that a report shows."""

REPORT_LOCALS = 20
"""Variables that a report shows, if they fit."""

REPORT_LOCALS_CHARACTERS = 500
"""Characters of all of them; those that changed are shown first."""

REPORT_LOCALS_LEAST = 3
"""Variables that a report shows in any case."""

REPORT_NAMES = 20
"""Names of further variables."""

REPORT_VALUE_CHARACTERS = 100
"""Characters of the value of one of these variables."""

CONTENTS_SECONDS = 2.0
"""Time in which the members of a report's variables are read."""

CONTENTS_REQUESTS = 40
"""Requests that this may take."""

PLAUSIBLE_ITEMS = 1_000_000_000
"""Items of a container: one that claims more is not initialized yet. lldb-dap 23 never answers a request for them."""

CONTENTS_MEMBERS = 12
"""Members of one value that are read."""

CONTENTS_CHARACTERS = 160
"""Characters of the members of one variable that a report shows."""

CONTENTS_VALUE_CHARACTERS = 60
"""Characters of the value of one member."""

REPORT_OUTPUT_CHARACTERS = 800
"""Characters of output that a report shows, the last ones."""

VALUE_CHARACTERS = 500
"""Characters of the value of a variable in a list."""

WHOLE_VALUE_CHARACTERS = 1000
"""Characters of the value of an expression that is shown whole."""

CUT_VALUE_CHARACTERS = 200
"""Characters of a longer one, where it is one value of several."""

STEPS_MOST = 1000
"""Steps that can be asked for at once."""

RUN_LINE_CHARACTERS = 100
"""Of the values at a stop of `run` where the one before was: if they are no more, they stand on one line."""

RUN_NAMES = 8
"""Names of threads with the same stack that a run shows."""

RUN_FRAMES = 5
"""Frames of a thread that a run shows when its time is over."""

ALIGNED_COLUMN_CHARACTERS = 24
"""A column of a table that is wider is not filled up with spaces."""

PROBE_HITS_MOST = 1000
"""Hits that can be asked for at once."""

PROBE_LOOK_SECONDS = 0.05
"""How often the hits of a program that does not stop at them are counted."""

ASSIGNMENT_LINES = 100
"""Lines above the place of a fault in which assignments are looked for."""

TRACE_STEPS_MOST = 10_000
"""Lines of a call that can be followed."""

TRACE_DEPTH_MOST = 3
"""Levels of calls below it."""

TRACE_BYTES = 4000
"""Size of a trace as text: of a longer one more rounds of loops are left out, then the ends of values, then lines."""

TRACE_CALLERS = 3
"""Frames above a call by which it is recognised."""

STACKS_FRAMES = 40
"""Frames of each thread that are read to show where all stand."""

STACKS_NAMES = 3
"""Threads that are named of a group that is too large to name all."""

STACKS_LINES = 6
"""Frames of them that are shown."""

LINES_OF_MEMBERS = 3
"""Lines above a place that names no member of a variable, in which one is looked for."""

LINE_MEMBERS = 4
"""Members of variables, such as `order.limit`, that are read because a line names them."""

AUTOPSY_FRAMES = 4
"""Frames of the user's own code that an autopsy shows."""

AUTOPSY_VARIABLES = 8
"""Variables of each."""

AUTOPSY_CHARACTERS = 120
"""Characters of the value of each."""

AUTOPSY_OUTER_CHARACTERS = 60
"""The same in the frames around the innermost."""

AUTOPSY_ORIGINS = 2
"""Values that it is asked for where they come from."""

AUTOPSY_LAST_LINES = 5
"""Lines before the end that it shows."""

AUTOPSY_OUTPUT_LINES = 5
"""Last lines of the output."""

STOPS_KEPT = 100
"""Stops of a session whose variables are kept, to be compared."""

STOP_VARIABLES_KEPT = 200
"""Variables of each of them."""

PROBES_KEPT = 20
"""Probes with a tag that a session keeps."""

DIFFERENCES_SHOWN = 10
"""Differences between two runs that an answer shows."""

RUN_PAUSE_SECONDS = 3.0
"""Time to pause a program whose time is over, to see where it stands."""

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

THREAD_NUMBERS = 8
"""Threads of a group that are named by their numbers."""

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

SECRET_SHAPE_CHARACTERS = 48
"""The end of a cut text that may be the beginning of a token, too short for its shape to be recognised."""

PROJECT_FILES = 50_000
"""Files and folders of a project among which one is looked for by its name."""

EXECUTABLE_BYTES = 256 * 1024 * 1024
"""A larger executable is not searched for the names of its sources."""

TIMELINE_STOPS_SHOWN = 50
"""Of these, in the answer of an action."""

WHY_REST_SECONDS = 2.0
"""So long before its timeout `why` ends the search and says how far it has come; half of a timeout that is shorter."""

WIRE_ANSWER_CHARACTERS = 32_000
"""Characters of the messages in one answer, unless the first one has more; the hub is busy with them meanwhile."""

SESSION_RECORD_ENTRIES = 1_000
"""Actions that a session keeps for its transcript: the first one, and the latest."""

SESSION_RECORD_BYTES = 2 * MEGABYTE
"""Size of their answers, as JSON."""

SESSION_RECORD_ENTRY_BYTES = 64 * 1024
"""Size of one of these; of a longer one the text is kept, and not the details."""

JOB_LOOK_SECONDS = 5.0
"""Time for one look at a job, which the last of several rounds must have."""

JOB_FINDINGS = 12
"""Findings about members of a job that an answer shows."""

JOB_GROUPS = 8
"""Groups of members that an answer shows besides."""

JOB_FRAMES = 6
"""Frames of own code that a group of members has in an answer."""

JOB_STOPS_SECONDS = 0.5
"""How long to wait, once as many members of a job have stopped as was wanted, for others that stop at the same time."""

JOB_ANSWERS = 8
"""Different answers to an expression that are shown of a group of members."""

JOB_VALUE = 120
"""Characters of a value in the answer about a job."""

JOB_FOCUS_ATTEMPTS = 10
"""How often it is tried to open a session with a member that the job has just left."""

JOB_FOCUS_PAUSE = 0.2
"""Seconds between these attempts."""
