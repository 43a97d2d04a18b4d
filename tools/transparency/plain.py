"""Run a program without a debugger, as a shell would start it."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from transparency.outcomes import Run, read_records
from transparency.subjects import Subject

ENVIRONMENT = {
    **{
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV", "DAPKIT", "VIRTUAL"))
    },
    "PYTHONHASHSEED": "0",
    "TERM": "dumb",
}
LIMIT_SECONDS = 240.0


async def run(subject: Subject, folder: Path, names: Sequence[str] | None = None, *, seconds: float = 0) -> Run:
    """Run tests, all of them unless some are named; `folder` is new, and for this run alone."""
    return await anyio.to_thread.run_sync(_run, subject, folder, names, seconds)


def _run(subject: Subject, folder: Path, names: Sequence[str] | None, seconds: float) -> Run:
    outcomes, named, place = files_of_run(subject, folder, names)
    command = [subject.python, str(subject.program), *subject.command(outcomes, named, seconds)]
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=place,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
    )
    hung = False
    try:
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        hung = True
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    records = read_records(outcomes)
    return Run(
        records.outcomes,
        hung=hung,
        begun=records.begun,
        done=records.done,
        exit_code=process.returncode,
        seconds=time.monotonic() - begun,
        remarks=() if records.done else (output.decode(errors="replace")[-2000:],),
    )


def files_of_run(subject: Subject, folder: Path, names: Sequence[str] | None) -> tuple[Path, Path | None, Path]:
    """Return where a run writes its outcomes, reads which tests to run, and runs."""
    named = None
    if names is not None:
        named = folder / "names.txt"
        named.write_text("\n".join(names), encoding="utf-8")
    place = subject.folder
    if place is None:
        place = folder / "place"
        place.mkdir()
    return folder / "outcomes.jsonl", named, place
