"""A rank of MPI that computes nothing, in a loop that uses little of the processor."""

import time

from mpi4py import MPI

world = MPI.COMM_WORLD


def wait(request):
    while not request.Test():
        time.sleep(0.02)


def step(number):
    time.sleep(0.02)
    wait(world.Ibarrier())
    return number


for number in range(1_000_000):
    step(number)
