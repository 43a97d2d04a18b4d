"""Which systems dapkit keeps running: Linux, other POSIX systems, and Windows; and which features some lack.

Its packages can be imported elsewhere, so that the messages, the rules of the conversation and types are at hand. Code
that starts or serves something checks the platform here first, and raises this one error. docs/reference/platforms.md
lists the features that other systems lack.
"""

import sys

from dapkit.system.selection import LINUX, NAME, OTHER


def unsupported() -> str | None:
    """Return why nothing can be started or served on this system; None where it can."""
    if NAME != OTHER:
        return None
    return f"dapkit runs on Linux, macOS and Windows, and this is {sys.platform}: use one of these, a container or WSL"


def needs_linux(feature: str) -> str | None:
    """Return that a feature needs Linux, in a clause; None on Linux."""
    return None if NAME == LINUX else f"{feature} needs Linux"


def end_if_unsupported(status: int) -> None:
    """End a command with this status and an error, where nothing can be started."""
    reason = unsupported()
    if reason is not None:
        sys.stderr.write(f"error: {reason}\n")
        sys.exit(status)
