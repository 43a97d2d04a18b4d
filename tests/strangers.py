"""Programs of others at the ports of this machine."""

import contextlib
import socket
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def strangers_port() -> Iterator[int]:
    """Listen at a port, and end each connection at once."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):  # it listens no more
                while True:
                    connection, _ = listening.accept()
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
