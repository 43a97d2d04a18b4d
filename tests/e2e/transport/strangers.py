"""A program that runs as another user and says what becomes of its connection."""

import subprocess
import sys

NOBODY = 65534

_PROGRAM = """
import os, socket, sys
os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
try:
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(sys.argv[1])
    stranger.sendall(b"hello")
    print(stranger.recv(100) or "closed")
except OSError as error:
    print(type(error).__name__)
"""


def fate_of_another_user(socket: str) -> str:
    program = _PROGRAM.format(nobody=NOBODY)
    done = subprocess.run([sys.executable, "-c", program, socket], capture_output=True, text=True, check=True)
    return done.stdout.strip()
