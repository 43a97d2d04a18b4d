"""What of a machine a program sees though it does not ask for it."""

import os

_ZONES = "zoneinfo/"


def zone_of_machine() -> str:
    """Return the name of the time zone that holds where TZ is not set; empty if it is not known."""
    return os.path.realpath("/etc/localtime").partition(_ZONES)[2]
