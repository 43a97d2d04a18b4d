"""The Debug Adapter Protocol for Python, whole."""

from dapkit import parentage as _parentage  # noqa: F401 - for the moment of the import
from dapkit.in_program import breakpoint, connect, is_client_connected, listen, wait_for_client

__all__ = ["breakpoint", "connect", "is_client_connected", "listen", "wait_for_client"]
