"""The buffers of standard streams in C, which Python knows nothing of."""

import sys


def flush_c_streams() -> None:
    """Write the data that waits in them."""
    import ctypes

    if sys.platform == "win32":
        ctypes.CDLL("ucrtbase").fflush(None)
    else:
        ctypes.CDLL(None).fflush(None)
