"""TCP over loopback in one thread: non-blocking sockets, select, ports that the system chooses."""

import select
import socket
import time

s_received = []
s_ports = []
s_states = []


def exchange(number):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    client = socket.socket()
    client.setblocking(False)
    s_states.append(client.connect_ex(listener.getsockname()))
    select.select([listener], [], [], 5)
    server, peer = listener.accept()
    s_ports.append((peer[1], server.getpeername() == client.getsockname()))
    server.setblocking(False)
    select.select([], [client], [], 5)
    s_states.append(client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for i in range(10):
        client.sendall(b"%d %d;" % (number, i))
        select.select([server], [], [], 5)
        server.send(server.recv(4096).upper())
        select.select([client], [], [], 5)
        s_received.append(bytes(client.recv(4096)))
    try:
        client.recv(10)
    except BlockingIOError as error:
        s_states.append(error.errno)
    large = bytes(3_000_000)
    s_states.append(client.send(large))
    buffer = bytearray(100_000)
    select.select([server], [], [], 5)
    s_states.append(server.recv_into(buffer))
    client.shutdown(socket.SHUT_WR)
    for each in (client, server, listener):
        each.close()


begin = time.monotonic()
number = 0
while time.monotonic() < begin + 0.3:
    exchange(number)
    number += 1
s_count = number
s_times = time.monotonic() - begin
