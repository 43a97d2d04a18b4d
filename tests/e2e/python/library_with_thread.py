"""A library in C that begins a thread, and a program that calls it."""

import subprocess
from pathlib import Path

WORKER = """\
#include <pthread.h>
static int answer;
static void *work(void *argument) { answer = *(int *)argument * 2; return 0; }
int doubled(int number)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, work, &number) != 0) return -1;
    pthread_join(thread, 0);
    return answer;
}
"""

CALLER = """
    import ctypes
    library = ctypes.CDLL("./worker.so")
    before = 20
    before += 1
    answer = library.doubled(before)
    print(answer, flush=True)
"""


def make_library(folder: Path, compiler: Path) -> None:
    """Compile the library into a folder, as `worker.so`."""
    (folder / "worker.c").write_text(WORKER)
    command = [str(compiler), "-shared", "-fPIC", "-pthread", "-o", "worker.so", "worker.c"]
    subprocess.run(command, cwd=folder, check=True)
