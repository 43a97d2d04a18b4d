"""Options of sockets by which the systems differ."""

import socket
import sys

if sys.platform == "win32":
    REUSE_OPTION = socket.SO_EXCLUSIVEADDRUSE  # SO_REUSEADDR would share it with any other process
else:
    REUSE_OPTION = socket.SO_REUSEADDR
    """The option of a listening socket by which its port can be used again at once."""
