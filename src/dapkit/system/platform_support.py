"""Which systems dapkit keeps running: Linux.

Its packages can be imported elsewhere, so that the messages, the rules of the conversation and types are at hand. Code
that starts or serves something checks the platform here first, and raises this one error. docs/reference/platforms.md
lists the features that other systems lack.
"""

import sys


def unsupported() -> str | None:
    """Return why nothing can be started or served on this system; None on Linux."""
    system = sys.platform
    if system == "linux":
        return None
    return f"dapkit runs on Linux, and this is {system}: use a Linux machine, a container or WSL"


def end_if_unsupported(status: int) -> None:
    """End a command with this status and the error, except on Linux."""
    reason = unsupported()
    if reason is not None:
        sys.stderr.write(f"error: {reason}\n")
        sys.exit(status)
