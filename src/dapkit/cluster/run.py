"""`python -m dapkit.cluster.run -- PROGRAM`: run one process of a job, so that `dapkit job` finds it and can stop it.

A launcher (torchrun with --no-python, mpiexec, srun, an indexed job of Kubernetes) starts this in place of the program
on each rank. The process writes its registration into the folder of the job and becomes the program, as
`python -m dapkit` does: it keeps its number and its environment, and listens at a unix socket in a private folder of
its machine. No port is opened.
"""

import os
import socket
import sys
import time
from pathlib import Path

from dapkit.cluster import registrations
from dapkit.cluster.launcher_variables import rank_in
from dapkit.program_api.command_line import CliOptions
from dapkit.system.this_system import SYSTEM

USAGE = "usage: python -m dapkit.cluster.run [--job FOLDER] -- FILE | -m MODULE | -c CODE [ARGUMENT]...\n"

HELP = f"""{USAGE}
Run one process of a job under a launcher, so that dapkit job finds it.

  mpiexec -n 64 python -m dapkit.cluster.run -- train.py
  torchrun --nproc-per-node 8 --no-python python -m dapkit.cluster.run -- train.py

  --job FOLDER    folder that all machines of the job see; by default DAPKIT_JOB, or {registrations.DEFAULT_FOLDER}
                  in the working folder
  -h, --help      print this

Exit codes: the program's own; 2: invalid arguments; 1: the folder cannot be used.
"""
_KINDS = {"-m": "module", "-c": "code"}
_RUN_VARIABLES = ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "PMI_JOBID")


class _WrongWords(ValueError):  # noqa: N818 - as elsewhere
    """The words are not such a command line."""


def main() -> None:
    """Register this process, and become the program."""
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        sys.stdout.write(HELP)
        return
    try:
        folder, options = _read(words)
    except _WrongWords as error:
        sys.stderr.write(f"{USAGE}error: {error}\n")
        sys.exit(2)
    from dapkit.__main__ import become_program
    from dapkit.system.platform_support import end_if_unsupported

    end_if_unsupported(1)
    try:
        path = _socket_path()
        options.mode, options.address = "listen", path
        end_file = registrations.write(folder, _registration(words, path))
        become_program(options, module="dapkit.cluster.run", end_file=str(end_file))
    except (OSError, ValueError) as error:
        sys.exit(f"dapkit.cluster.run: {error}")


def _read(words: list[str]) -> tuple[Path, CliOptions]:
    """Read the words. Raises: _WrongWords."""
    folder = os.environ.get("DAPKIT_JOB") or registrations.DEFAULT_FOLDER
    if words[:1] == ["--job"]:
        if len(words) < 2 or not words[1]:
            raise _WrongWords("--job: missing FOLDER")
        folder, words = words[1], words[2:]
    if words[:1] == ["--"]:
        words = words[1:]
    options = CliOptions()
    if words[:1] and words[0] in _KINDS:
        if len(words) < 2:
            raise _WrongWords(f"{words[0]}: missing {_KINDS[words[0]].upper()}")
        options.target_kind = "module" if words[0] == "-m" else "code"
        words = words[1:]
    elif words and not words[0].startswith("-"):
        options.target_kind = "file"
    else:
        raise _WrongWords(f"unrecognized switch {words[0]}" if words else "missing the program")
    options.target, options.arguments = words[0], words[1:]
    return Path(folder).absolute(), options


def _socket_path() -> str:
    from dapkit.program_api.addresses import private_folder

    folder = Path(private_folder())
    for dead in folder.glob("member-*"):  # of members that were killed
        number = dead.name.removeprefix("member-")
        if number.isdecimal() and not SYSTEM.exists(int(number)):
            dead.unlink(missing_ok=True)
    return str(folder / f"member-{os.getpid()}")


def _registration(words: list[str], path: str) -> registrations.Registration:
    rank = rank_in(os.environ)
    return {
        "rank": -1 if rank is None else rank.rank,
        "size": 0 if rank is None else rank.size,
        "restarts": 0 if rank is None else rank.restarts,
        "run": next((os.environ[name] for name in _RUN_VARIABLES if os.environ.get(name)), f"pid {os.getppid()}"),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": time.time(),
        "command": " ".join(words)[:1000],
        "socket": path,
    }


if __name__ == "__main__":
    main()
