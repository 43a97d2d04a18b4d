"""A job whose ranks compute, and whose heartbeat must not stop."""

import os
import threading
import time
from pathlib import Path

rank = int(os.environ["RANK"])
password = f"hunter{rank}2swordfish"
beats: list[float] = []


def beat() -> None:
    while True:
        beats.append(time.monotonic())
        time.sleep(0.02)


def step(number: int) -> float:
    loss = number * rank
    time.sleep(0.02)  # computed
    return loss  # done


steps = Path(f"steps-{rank}").open("wb", buffering=0)  # noqa: SIM115 - to the end
threading.Thread(target=beat, name="heartbeat", daemon=True).start()
for number in range(1_000_000):
    step(number)
    steps.write(b".")
