"""A job of 16 ranks that hangs, by MPI: which rank the others wait for, and where it is.

`dapkit job where` gets the process id of `mpiexec` and no more: the job knows nothing of dapkit. Run it with
`make demo-cluster`.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

JOB = Path(__file__).with_name("cluster_job.py")
BIN = Path(sys.executable).parent
RANKS = 16
MEMORY = Path("/dev/shm")  # noqa: S108 - MPICH's place
SECONDS = 60.0
"""Within which the job has to come to where it hangs."""


def main() -> int:
    """Start the job, and look at it until a rank is late."""
    print(f"$ mpiexec -n {RANKS} python {JOB.name} &", flush=True)
    words = [BIN / "mpiexec", "-n", str(RANKS), sys.executable, JOB]
    before = set(MEMORY.glob("mpich_shm_*"))
    job = subprocess.Popen(words, start_new_session=True)
    try:
        print(f"$ dapkit job where {job.pid}", flush=True)
        end = time.monotonic() + SECONDS
        while True:
            answer = subprocess.run(
                [BIN / "dapkit", "job", "where", str(job.pid)], capture_output=True, text=True, check=False
            )
            if " is LATE" in answer.stdout or time.monotonic() > end:
                break
            time.sleep(0.2)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        for file in set(MEMORY.glob("mpich_shm_*")) - before:  # MPICH leaves the memory of ranks that were killed
            file.unlink(missing_ok=True)
    print(answer.stdout or answer.stderr, end="")
    if " is LATE" not in answer.stdout:
        return 1
    print("\nThat rank is still at its batch, and the 15 others wait for it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
