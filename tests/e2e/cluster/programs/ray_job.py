"""Actors of Ray, one of which hangs if that is wanted. Usage: ray_job.py hang|steps"""

import sys
import time
from pathlib import Path

import ray


@ray.remote
class Trainer:
    def __init__(self, rank: int, kind: str) -> None:
        self.rank, self.kind = rank, kind

    def step(self, number: int) -> int:
        loss = number * self.rank
        if self.kind == "hang" and self.rank == 5:
            time.sleep(3600)  # hangs
        time.sleep(0.01)
        return loss  # done

    def run(self) -> None:
        for number in range(10_000_000):
            self.step(number)
            with Path(f"results-{self.rank}").open("a") as file:
                file.write(".")


@ray.remote
def total(*losses: int) -> int:
    return sum(losses)


def main() -> None:
    kind = sys.argv[1]
    ray.init(num_cpus=9, include_dashboard=True, dashboard_port=int(sys.argv[2]), log_to_driver=False)
    trainers = [Trainer.options(name=f"trainer-{rank}").remote(rank, kind) for rank in range(8)]
    if kind == "hang":
        ray.get(total.remote(*[trainer.step.remote(1) for trainer in trainers]))
    else:
        ray.get([trainer.run.remote() for trainer in trainers])


main()
