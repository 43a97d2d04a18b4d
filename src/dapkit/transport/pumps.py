"""Threads between pipes, or files, and sockets: for event loops that can wait for sockets alone, as on Windows."""

import os
import socket
import threading

from dapkit import limits
from dapkit.transport.descriptors import DescriptorReader, DescriptorWriter


def reader_of(descriptor: int) -> DescriptorReader:
    """Return the bytes that come from a descriptor, which a thread reads, and closes at its end."""
    ours, theirs = socket.socketpair()
    threading.Thread(target=_read, args=[descriptor, theirs], name="reads a pipe", daemon=True).start()
    ours.setblocking(False)  # noqa: FBT003 - its only parameter
    return DescriptorReader(ours.fileno(), read_bytes=lambda _fd, most: ours.recv(most), close=ours.close)


def writer_of(descriptor: int) -> DescriptorWriter:
    """Return a way to a descriptor, which a thread writes to, and closes after the last byte."""
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=_write, args=[descriptor, theirs], name="writes to a pipe", daemon=True)
    thread.start()
    ours.setblocking(False)  # noqa: FBT003 - its only parameter

    def close() -> None:
        ours.close()
        thread.join(limits.CLOSE_SECONDS)  # the last bytes are on their way

    return DescriptorWriter(ours.fileno(), write=ours.send, close=close)


def _read(descriptor: int, sink: socket.socket) -> None:
    with sink:
        try:
            while data := os.read(descriptor, limits.READ_CHUNK_BYTES):
                sink.sendall(data)
        except OSError:  # a pipe whose other end has gone, or the reader was closed
            pass
        finally:
            os.close(descriptor)


def _write(descriptor: int, source: socket.socket) -> None:
    with source:
        try:
            while data := source.recv(limits.READ_CHUNK_BYTES):
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
        except OSError:  # the other end has gone
            pass
        finally:
            os.close(descriptor)
