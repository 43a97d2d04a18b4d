"""Which systems dapkit runs on: Linux.

Its packages can be imported elsewhere, so that the messages, the rules of the conversation and types are at hand. What
starts or serves something asks here first, and ends with this one error. What it is that other systems lack is in
docs/reference/platforms.md.
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
