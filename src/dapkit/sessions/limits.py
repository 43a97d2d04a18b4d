"""Limits of debug sessions.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

STOP_CAPTURE_SECONDS = 5.0
"""Time in which the thread of a stop is read before the stop is published without its place."""

START_OUTPUT_CHARACTERS = 4000
"""Characters of an adapter's output that are reported with the error of a start, the last ones."""

LAST_OUTPUT_CHARACTERS = 4000
"""Characters at the end of the output in which a line with the exit code is looked for."""

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
