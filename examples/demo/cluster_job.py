"""The ranks of a small training job, one of which has a batch that never comes."""

import threading
import time

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
batch_is_there = threading.Event()


def load(step: int) -> None:
    """Wait for the batch of a step."""
    if step == 3 and WORLD.rank == 11:
        batch_is_there.wait()


def exchange() -> None:
    """Wait for all ranks, without using a processor all the time."""
    request = WORLD.Ibarrier()
    while not request.Test():
        time.sleep(0.02)


def train() -> None:
    """Do ten steps."""
    for step in range(10):
        load(step)
        exchange()


train()
