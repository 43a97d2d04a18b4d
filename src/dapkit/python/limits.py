"""Limits of the Python adapter, of dumps and of recordings. The engine in the program keeps its own.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

OUTPUT_TAKEN_CHARACTERS = 256 * 1024
"""How much output of a program's engine is passed on before this is acknowledged: the engine waits for it."""

LINK_SECONDS = 20.0
"""Time within which a started program has to connect to its adapter."""

PASSWORD_SECONDS = 300.0
"""Time for the user to give `sudo` the password, in the terminal of a program that must run as root."""

INJECTION_SECONDS = 15.0
"""Time within which a running program must be reached that is attached to by its number."""

INJECTION_ATTEMPTS = 3
"""How often that is tried at least, where a machine is slow."""

SAFE_POINT_SECONDS = 1.0
"""How long a running program may take until its main thread does the requested work, before it is looked at again."""

UNSAFE_SECONDS = 0.05
"""How long to wait where a program cannot be reached at the moment, before the next attempt."""

DUMP_SECONDS = 20.0
"""Time within which the stacks of a program must be read from outside, and its tasks."""

DUMP_LINES = 14
"""Lines that a thread, or a task, has on a page of stacks, unless all are wanted."""

DUMP_SOURCE_BYTES = 4 * 1024 * 1024
"""Size of a source file up to which it is looked at for locks."""

REFUSAL_TICK_SECONDS = 0.05
"""How often to look whether a program has left word of why it does not come."""

NATIVE_DEBUGGER_SECONDS = 15.0
"""Time within which gdb or lldb must do one thing with a program that is attached to."""

NATIVE_DETACH_SECONDS = 5.0
"""Time that gdb or lldb has to let go of a program, and end."""

NATIVE_FRAMES = 40
"""Frames of native code, the newest, in which nothing may be continuing that a program cannot be reached in."""

INTRODUCTION_SECONDS = 10.0
"""Time within which a peer that connects to an adapter as the engine of its program has to introduce itself."""

CHILDREN_AT_ONCE = 8
"""How many children the client is asked to open sessions for at a time; the others wait at the door."""

RECORDED_SESSIONS = 10
"""For how many failed processes of a recording the client is asked to open sessions; all are listed at the console."""

CHILD_SECONDS = 60.0
"""Time within which the session of a child process must begin; then the child keeps running."""

INVITED_SECONDS = 30.0
"""Time within which a client of debugpy's must come to the first child; then it is not asked again."""

ARRIVAL_SECONDS = 5.0
"""How long a child process that a program has left when it ended may take to come to its debugger."""

ARRIVAL_POLL_SECONDS = 0.02
"""How often it is looked whether it has."""

MARK_SECONDS = 10.0
"""How long output of a program waits for a log message before it, and a message for the output before that."""

MARK_BYTES = 40
"""More than a mark in the output has."""

INTERRUPT_SECONDS = 1.0
"""How long a program may take to notice that it is to end."""

CUT_SECONDS = 0.25
"""How long after the end of the connection a program has to keep running until that is reported."""

SIGNAL_STOP_SECONDS = 0.5
"""How long a signal must keep a program stopped until that is reported, and requests are refused."""

PROGRESS_SECONDS = 1.0
"""A start that takes longer than this is shown as a progress."""

LARGE_PAGE = 10_000
"""Variables, or breakpoints, in one request from which on it is shown as a progress."""

PAST_PROCESSES = 1000
"""Copies of a program with time travel, and processes that show its past, at a time."""

PAST_SECONDS = 20.0
"""Time within which a copy of the program must begin a replay process."""

ENDING_SECONDS = 5.0
"""Time within which a copy of the program must say how a replay process has ended that it had begun."""

REPLAY_SECONDS = 600.0
"""Time within which a replay process has to reach the moment that it is to show."""

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
