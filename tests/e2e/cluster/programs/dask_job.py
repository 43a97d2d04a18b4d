"""A Dask cluster of some workers and its tasks; the scheduler's address is printed first.

Usage: dask_job.py WORKERS WORKER_TTL hang|part|native
"""

import sys

import dask
from dask_tasks import keep_gil, parts, slow, total
from distributed import Client, LocalCluster


def main() -> None:
    workers, ttl, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    dask.config.set({"distributed.scheduler.worker-ttl": ttl, "distributed.admin.tick.limit": "1h"})
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        print(cluster.scheduler_address.removeprefix("tcp://"), flush=True)
        if kind == "hang":
            waiting = client.submit(slow, 1, key="slow-1")
            client.submit(total, waiting, key="total").result()
        if kind == "native":
            client.submit(total, client.submit(keep_gil, 1, key="native-1"), key="total").result()
        addresses = list(client.scheduler_info(n_workers=-1)["workers"])
        client.gather([client.submit(parts, place, workers=[each]) for place, each in enumerate(addresses)])


if __name__ == "__main__":
    main()
