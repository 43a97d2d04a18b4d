"""Entry `performance`: a CPU profile, then a work profile, and both in a report of the session."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from dapkit import limits
from dapkit.diagnostics.artifacts import session_folder, timestamp
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling.profile import Profile
from dapkit.diagnostics.profiling.profile_recording import record_profile, running_program
from dapkit.diagnostics.profiling.recording_window import Window
from dapkit.diagnostics.programs import Program
from dapkit.diagnostics.report import Report, write_report
from dapkit.diagnostics.sessions import OnProgress, Where

_README: Final = """# Profiles

`cpu` has only the time that the program spent on a processor. `work` shows where all its threads spent their time,
including waiting, if the tool can see it; `work.txt` says whether it could.

* `.txt`: the functions with the most samples, and the calls that led there
* `.svg`: a flame graph: boxes as wide as they have samples, callers above their callees; any browser shows it
* `.folded`: each stack with its samples, as flamegraph.pl, inferno and speedscope read them
* `.json`: everything, for scripts
"""


@dataclass(frozen=True, slots=True)
class PerformanceReport:
    """Two profiles in a report.

    Attributes:
        work: None if the program had ended by then.
        missing: why there is no work profile; empty if there is.

    """

    cpu: Profile
    work: Profile | None
    report: Report
    missing: str = ""

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {
            **self.report.as_json(),
            "cpu": self.cpu.as_json(),
            "work": None if self.work is None else self.work.as_json(),
            "missing": self.missing,
        }

    def as_text(self) -> str:
        """Return where the report is, and the functions with the most samples of both profiles."""
        size = f"{len(self.report.files)} files, {self.report.size / 1024:.0f} KiB; profiles are in profiles/"
        parts = [f"Report: {self.report.path}\n{size}"]
        parts += [_short(profile) for profile in (self.cpu, self.work) if profile is not None]
        if self.missing:
            parts.append(f"There is no work profile: {self.missing}")
        if self.report.left_out:
            parts.append("\n".join(["Left out of the report:", *(f"  {line}" for line in self.report.left_out)]))
        return "\n\n".join(parts)


def performance(
    where: Where,
    *,
    until: threading.Event,
    seconds: float = limits.PROFILE_SECONDS_MOST,
    work_seconds: float = limits.PROFILE_SECONDS,
    on_progress: OnProgress | None = None,
    stop: threading.Event | None = None,
) -> PerformanceReport:
    """Record both profiles, and write them into a report.

    Args:
        where: whose program.
        until: ends the CPU profile; it is set afterwards in any case.
        seconds: how long that may take, up to `limits.PROFILE_SECONDS_MOST`.
        work_seconds: how long the work profile takes.
        on_progress: called with how far it is.
        stop: ends the work profile early, and keeps its data.

    Raises:
        DiagnosticsError: the program does not run, its tool is not installed or fails, or nothing can be written.

    """
    stop = stop or threading.Event()
    program = running_program(where)
    first = Window(min(seconds, limits.PROFILE_SECONDS_MOST), "CPU profile", on_progress, until, open_ended=True)
    cpu = record_profile(where, program, "cpu", first)
    until.set()  # the event that ends a part now belongs to the next part
    second = Window(work_seconds, "Work profile", on_progress, stop)
    work, missing = _work(where, program, second)
    files = {"profiles/README.md": _README.encode()} | dict(_files("cpu", cpu))
    if work is not None:
        files |= dict(_files("work", work))
    folder = session_folder(program.project, program.snapshot.id, program.created)
    output = folder / f"performance-{timestamp()}.tar.gz"
    report = write_report(where, output=output, extra=files, on_progress=on_progress)
    return PerformanceReport(cpu, work, report, missing)


def _work(where: Where, program: Program, window: Window) -> tuple[Profile | None, str]:
    """Record the work profile; without it there is still the other one."""
    if window.stop.is_set():
        return None, "it was ended before it began."
    try:
        running_program(where)
        return record_profile(where, program, "work", window), ""
    except DiagnosticsError as error:
        return None, str(error.args[0])


def _files(name: str, profile: Profile) -> Iterator[tuple[str, bytes]]:
    """Return the files of a profile, those that matter most first."""
    contents: Mapping[str, str] = {
        "txt": profile.as_text() + "\n",
        "svg": profile.svg(),
        "json": json.dumps(profile.as_json(), ensure_ascii=False) + "\n",
        "folded": profile.folded(),
    }
    for ending, text in contents.items():
        yield f"profiles/{name}.{ending}", text.encode(errors="backslashreplace")


def _short(profile: Profile) -> str:
    if not profile.samples:
        return profile.as_text()
    return "\n".join([profile.title, *profile.facts, "", *profile.summary()])
