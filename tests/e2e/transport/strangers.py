"""A program that runs as another user and says what becomes of its connection."""

import subprocess
import sys

NOBODY = 65534

_PROGRAM = """
import os, socket, sys
kind, place = sys.argv[1:]
os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
try:
    if kind == "unix":
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(place)
    else:
        stranger = socket.socket()
        stranger.connect(("127.0.0.1", int(place)))
    stranger.sendall(b"hello")
    print(stranger.recv(100) or "closed")
except OSError as error:
    print(type(error).__name__)
"""


def fate_of_another_user(kind: str, place: str) -> str:
    program = _PROGRAM.format(nobody=NOBODY)
    done = subprocess.run([sys.executable, "-c", program, kind, place], capture_output=True, text=True, check=True)
    return done.stdout.strip()
