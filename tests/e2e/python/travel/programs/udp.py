"""Datagrams over loopback: sendto, recvfrom, recvfrom_into, sendmsg, recvmsg, time-outs."""

import socket
import time

s_received = []
s_errors = []
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
two = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(("127.0.0.1", 0))
two.bind(("127.0.0.1", 0))
one.settimeout(5)
two.settimeout(5)
begin = time.monotonic()
number = 0
while time.monotonic() < begin + 0.3:
    one.sendto(b"number %d at %r" % (number, time.time()), two.getsockname())
    data, sender = two.recvfrom(1000)
    two.sendmsg([b"first ", b"second ", data], [], 0, sender)
    parts = [bytearray(10), bytearray(100)]
    received = one.recvmsg_into(parts)
    s_received.append((sender, received, bytes(parts[1][:20])))
    two.sendto(bytes(100), sender)
    received = one.recvmsg(10)
    s_received.append((received, received[2] & socket.MSG_TRUNC))
    number += 1
    if number % 50 == 0:
        one.settimeout(0.002)
        try:
            one.recvfrom(10)
        except TimeoutError as error:
            s_errors.append((number, str(error)))
        one.settimeout(5)
one.close()
two.close()
s_last = s_received[-4:]
