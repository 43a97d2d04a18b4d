"""Jobs of several ranks, by MPI or by a launcher that sets torchrun's variables."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from dapkit.system.this_system import SYSTEM
from interpreters import interpreter
from job_helpers import Dapkit, StartJob

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def python(request: pytest.FixtureRequest) -> str:
    """An interpreter in which dapkit is not installed, or the one that runs the tests."""
    version = getattr(request, "param", None)
    return sys.executable if version is None else str(interpreter(version))


@pytest.fixture
def start_job(tmp_path: Path) -> Iterator[StartJob]:
    with ExitStack() as stack:

        def start(engine: str, *command: str, ranks: int = 8, restarts: int = 0) -> int:
            return stack.enter_context(_running(engine, command, tmp_path, ranks=ranks, restarts=restarts))

        yield start


@pytest.fixture
def run_dapkit(runtime: Path) -> Dapkit:
    project = runtime.with_name("project")

    def run(*words: str) -> tuple[int, str]:
        process = subprocess.run(
            [str(Path(sys.executable).with_name("dapkit")), *words],
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return process.returncode, process.stdout + process.stderr

    return run


@contextmanager
def _running(engine: str, command: tuple[str, ...], folder: Path, *, ranks: int, restarts: int) -> Iterator[int]:
    words = [sys.executable, str(PROGRAMS / "launch.py"), str(ranks), str(restarts), *command]
    if engine == "mpi":
        mpiexec = str(Path(sys.executable).with_name("mpiexec"))
        words = [mpiexec, "-n", str(ranks), *command]
    with _alone_with_mpi() if engine == "mpi" else nullcontext():
        launcher = subprocess.Popen(words, cwd=folder, start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            yield launcher.pid
        finally:
            for pid in (*SYSTEM.descendants(launcher.pid), launcher.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            launcher.wait()


@contextmanager
def _alone_with_mpi() -> Iterator[None]:
    """Run one MPI job at a time: of two that begin at once, MPICH may give both the same memory.

    MPICH leaves the memory of killed ranks behind.
    """
    memory = Path("/dev/shm")  # noqa: S108 - MPICH's place
    with Path(tempfile.gettempdir(), f"dapkit-test-mpi-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = set(memory.glob("mpich_shm_*"))
        try:
            yield
        finally:
            for file in set(memory.glob("mpich_shm_*")) - before:
                file.unlink(missing_ok=True)
