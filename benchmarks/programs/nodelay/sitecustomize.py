"""Sets TCP_NODELAY on every TCP connection: debugpy as it would be without its one known delay."""

import socket

_connect = socket.socket.connect


def connect(self, address):
    _connect(self, address)
    if self.family in (socket.AF_INET, socket.AF_INET6):
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


socket.socket.connect = connect
