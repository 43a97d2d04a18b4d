"""A pair of Unix sockets, over which descriptors are passed and credentials asked for."""

import os
import socket
import time

s_numbers = []
s_read = []
s_peer = []
left, right = socket.socketpair()
begin = time.monotonic()
number = 0
while time.monotonic() < begin + 0.3:
    reader, writer = os.pipe()
    socket.send_fds(left, [b"take %d" % number], [writer])
    message, descriptors, flags, address = socket.recv_fds(right, 100, 4)
    os.write(descriptors[0], b"hello %d" % number)
    s_numbers.append((reader, writer, descriptors, flags, address))
    s_read.append((message, os.read(reader, 100)))
    s_peer.append(right.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    for descriptor in (reader, writer, *descriptors):
        os.close(descriptor)
    number += 1
left.close()
s_end = right.recv(10)
right.close()
s_last = s_read[-5:]
