"""The Debug Adapter Protocol for Python, whole."""

from dapkit.program_api.in_program import (
    breakpoint,
    configure,
    connect,
    debug_this_thread,
    get_cli_options,
    is_client_connected,
    listen,
    log_to,
    post_mortem,
    trace_this_thread,
    trigger_exception_handler,
    wait_for_client,
)
from dapkit.program_api.presenters import present
from dapkit.system import original_parent as _parentage  # noqa: F401 - for the moment of the import

__version__ = "0.1.0"
"""The version, which the build reads here; `importlib.metadata` takes longer to find it than a whole command."""

__all__ = [
    "breakpoint",
    "configure",
    "connect",
    "debug_this_thread",
    "get_cli_options",
    "is_client_connected",
    "listen",
    "log_to",
    "post_mortem",
    "present",
    "trace_this_thread",
    "trigger_exception_handler",
    "wait_for_client",
]
