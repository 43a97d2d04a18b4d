"""Properties of a machine that a program sees without asking for them."""

import os

_ZONES = "zoneinfo/"


def zone_of_machine() -> str:
    """Return the name of the time zone that holds where TZ is not set; empty if it is not known."""
    return os.path.realpath("/etc/localtime").partition(_ZONES)[2]
