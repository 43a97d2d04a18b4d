"""The Debug Adapter Protocol for Python, whole."""

from dapkit import parentage as _parentage  # noqa: F401 - for the moment of the import
from dapkit.in_program import breakpoint, connect, is_client_connected, listen, wait_for_client

__version__ = "0.1.0"
"""The version, which the build reads here; `importlib.metadata` takes longer to find it than a whole command."""

__all__ = ["breakpoint", "connect", "is_client_connected", "listen", "wait_for_client"]
