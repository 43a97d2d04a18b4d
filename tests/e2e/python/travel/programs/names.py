"""Names of hosts, services, protocols and interfaces, and where objects lie that are made in between."""

import socket
import time

s_names = []
s_places = []


def ask():
    s_names.append(socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM))
    s_names.append(socket.getaddrinfo("127.0.0.1", "http", flags=socket.AI_CANONNAME))
    s_names.append(socket.gethostname())
    s_names.append(socket.gethostbyname("localhost"))
    s_names.append(socket.gethostbyname_ex("localhost"))
    s_names.append(socket.getnameinfo(("127.0.0.1", 443), 0))
    s_names.append(socket.getnameinfo(("127.0.0.1", 443), socket.NI_NUMERICHOST | socket.NI_NUMERICSERV))
    s_names.append((socket.if_nameindex(), socket.if_indextoname(1), socket.if_nametoindex("lo")))
    for function, arguments in (
        (socket.getservbyname, ("https", "tcp")),
        (socket.getservbyport, (22,)),
        (socket.getprotobyname, ("udp",)),
        (socket.gethostbyaddr, ("127.0.0.1",)),
        (socket.getaddrinfo, ("no address", 1, 0, 0, 0, socket.AI_NUMERICHOST)),
        (socket.getservbyname, ("no such service",)),
        (socket.if_indextoname, (9999,)),
    ):
        try:
            s_names.append(function(*arguments))
        except OSError as error:
            s_names.append(str(error))


begin = time.monotonic()
number = 0
kept = []
while number < 3 or time.monotonic() < begin + 0.3:
    ask()
    kept.append([bytes(size) for size in (100, 600, 700, 1500, 3000, 5000)])  # the large ones by malloc
    s_places.append([id(each) for each in kept[-1]])
    number += 1
s_last = s_names[-3:]
s_first = s_places[-2:]
