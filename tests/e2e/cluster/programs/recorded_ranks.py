"""A job whose rank 0 has a debug server, as `torch.distributed.debug` starts one; rank 2 does not come.

Usage: recorded_ranks.py RECORDS
"""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

FRONTEND = Path(__file__).parent / "torch/distributed/debug/_frontend.py"


def all_reduce() -> None:
    time.sleep(600)


def load() -> None:
    time.sleep(600)


rank = int(os.environ["RANK"])
server = socket.create_server(("127.0.0.1", 0))  # of the program: nothing may be sent to it
if rank == 0:
    subprocess.Popen([sys.executable, str(FRONTEND), sys.argv[1]])
load() if rank == 2 else all_reduce()
