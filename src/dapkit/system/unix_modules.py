"""Modules of the standard library that Windows lacks: there, modules that use them can be imported, and no more."""

import sys

if sys.platform != "win32":
    import fcntl
    import termios
else:
    fcntl = termios = None

__all__ = ["fcntl", "termios"]
