"""Families, options and errors of sockets, by which the systems differ."""

import os
import socket
import sys

if sys.platform == "win32":
    UNIX = socket.AF_UNSPEC  # Python has no unix sockets there
    REUSE_OPTION = socket.SO_EXCLUSIVEADDRUSE  # SO_REUSEADDR would share it with any other process
else:
    UNIX = socket.AF_UNIX
    """The family of unix sockets."""
    REUSE_OPTION = socket.SO_REUSEADDR
    """The option of a listening socket by which its port can be used again at once."""


if sys.platform == "win32":

    def error_text(number: int) -> str:
        """Return the description of an error of a socket."""
        return socket.errorTab.get(number, f"error {number}").rstrip(".")

else:
    error_text = os.strerror
    """The description of an error of a socket."""
