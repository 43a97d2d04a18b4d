"""A job in which one rank, or two, keep the others waiting, in the way that is named.

Usage: culprits.py mpi|store CULPRIT
"""

import atexit
import ctypes
import os
import signal
import sys
import threading
import time

engine, culprit = sys.argv[1:]
if engine == "mpi":
    from ranks import Ranks as Job
else:
    from store import Store as Job
job = Job()
IS_CULPRIT = job.rank == 5


def deadlock() -> None:
    if job.rank == 2:
        job.receive(5, "a")  # deadlock of 2
        job.send(5, "b")
    elif job.rank == 5:
        job.receive(2, "b")  # deadlock of 5
        job.send(2, "a")


def missing() -> None:
    if IS_CULPRIT:
        threading.Event().wait(3600)  # missing
    job.barrier("gradients")


def straggler() -> None:
    if IS_CULPRIT:
        any(number for number in iter(int, 1))  # straggler


def teardown() -> None:
    if IS_CULPRIT:
        atexit.register(time.sleep, 3600)
        sys.exit()


def hide_end() -> None:
    """Keep MPICH's launcher from noticing the end of a rank, for which it would end all others."""
    if engine == "mpi":
        os.kill(os.getppid(), signal.SIGSTOP)


def died() -> None:
    if IS_CULPRIT:
        hide_end()
        raise ValueError("bad batch")  # died


def killed() -> None:
    if IS_CULPRIT:
        hide_end()
        os.kill(os.getpid(), signal.SIGKILL)


def suspended() -> None:
    if IS_CULPRIT:
        os.kill(os.getpid(), signal.SIGSTOP)  # suspended


def interpreter() -> None:
    if IS_CULPRIT:
        ctypes.PyDLL(None).sleep(3600)  # interpreter


def thread() -> None:
    if IS_CULPRIT:
        loader = threading.Thread(target=load, name="loader")
        loader.start()
        loader.join()


def load() -> None:
    ctypes.PyDLL(None).sleep(3600)  # thread


def disk() -> None:
    if IS_CULPRIT:
        fifo = f"{sys.argv[0]}.{os.getpid()}.fifo"
        os.mkfifo(fifo)
        reads = [(os.POSIX_SPAWN_OPEN, 0, fifo, os.O_RDONLY, 0)]
        os.posix_spawn("/bin/true", ["true"], {}, file_actions=reads)  # disk


def main() -> None:
    for step in range(3):
        job.barrier(f"step {step}")
    globals()[culprit]()
    job.barrier("end")


main()
