"""Limits of the hub.

Sizes are in bytes unless a name says otherwise, times in seconds.
"""

HUB_LINE_BYTES = 64 * 1024 * 1024
"""Longest message between a caller and the hub."""

HUB_CALLS = 64
"""Calls that one caller may have under way at once."""

HUB_LOG_BYTES = 1024 * 1024
"""A longer log of the hub is emptied when a hub is started."""

HUB_LOG_SHOWN_BYTES = 2000
"""Bytes of its log that are shown when a hub could not be started, the last ones."""

CONFIGURATION_SECONDS = 5.0
"""Time within which the settings of a caller must be read."""

LOG_RECORD_BYTES = 64 * 1024
"""Size of one record of the log, with its traceback; the rest of a longer one is left out."""

LOG_DAYS = 30
"""How many days the log of a day is kept."""
