"""The plugin for pytest: `pytest --dapkit-record=failed` keeps a recording of each process in which a test has failed.

    pytest ----------> dapkit record, which runs pytest again, recorded
    pytest -n NUMBER, the workers of pytest-xdist ---> each is started by dapkit record

A recorded process has a folder for messages to its recorder, in an environment variable: names of failed tests, without
which the recording is dropped.
"""

import os
import shlex
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_FOLDER = "DAPKIT_RECORDING"
_FILE = "DAPKIT_RECORDING_FILE"
_FAILED = "failed"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("dapkit", "recordings of failed tests")
    group.addoption(
        "--dapkit-record",
        choices=["failed", "all"],
        help="Record the run with dapkit; keep it if a test fails, or always. Each process has a file of its own.",
    )
    group.addoption(
        "--dapkit-recordings", default=".", metavar="FOLDER", help="Where recordings go; the current folder if missing."
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Record the run from its very beginning, before any test module is captured or imported."""
    options = early_config.known_args_namespace
    wants = getattr(options, "dapkit_record", None)
    has_workers = bool(getattr(options, "numprocesses", None) or getattr(options, "tx", None))
    file, folder = os.environ.pop(_FILE, None), os.environ.pop(_FOLDER, None)  # are not for children of this process
    if folder is not None:
        early_config.pluginmanager.register(_Recorded(Path(folder)))
    if file is not None:
        early_config.stash[_OWN] = file
    elif wants and folder is None and not has_workers:
        _start_again(options)
    yield


def _start_again(options: Any) -> None:  # noqa: ANN401 - of argparse
    if Path(sys.argv[0]).name not in ("pytest", "py.test", "__main__.py"):
        raise pytest.UsageError("--dapkit-record needs pytest as the program: pytest.main() cannot be recorded")
    file = _file(options, f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
    words = _record(file, options.dapkit_record) + sys.orig_argv[1:]
    sys.stdout.flush()
    sys.stderr.flush()
    os.environ[_FILE] = str(file)
    os.execv(sys.executable, words)  # noqa: S606 - as the words say


def _file(options: Any, name: str) -> Path:  # noqa: ANN401 - of argparse
    folder = Path(options.dapkit_recordings).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"pytest-{name}.dapkit"


def _record(file: Path, wants: str) -> list[str]:
    """Return the command line that records a program of our interpreter."""
    keep = ("--keep", "asked") if wants == "failed" else ()
    return [sys.executable, "-m", "dapkit.cli", "record", "-q", *keep, "-o", str(file), "--", sys.executable]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """Record each worker."""
    if config.option.dapkit_record is None:
        return
    began = time.strftime("%Y%m%d-%H%M%S")
    for spec in specs:
        if spec.popen and not spec.python:
            file = _file(config.option, f"{began}-{os.getpid()}-{spec.id}")
            config.stash.setdefault(_FILES, {})[spec.id] = file
            spec.python = shlex.join(_record(file, config.option.dapkit_record))


_OWN: pytest.StashKey[str] = pytest.StashKey()
_FILES: pytest.StashKey[dict[str, Path]] = pytest.StashKey()


class _Recorded:
    """A process that is recorded."""

    def __init__(self, folder: Path) -> None:
        self._asking = folder / _FAILED

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report that the recording is to be kept."""
        if report.failed:
            with self._asking.open("a") as names:
                names.write(f"{report.nodeid}\n")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401 - not public
    """Print for each test that failed the command that opens its recording."""
    if config.option.dapkit_record is None:
        return
    lines = []
    for kind in ("failed", "error"):
        for report in terminalreporter.stats.get(kind, []):
            worker = getattr(getattr(report, "node", None), "gateway", None)
            file = config.stash.get(_OWN, None) if worker is None else config.stash.get(_FILES, {}).get(worker.id)
            if file is not None:
                lines.append(f"dapkit launch {_breakpoint(report, config)}{shlex.quote(str(file))}  # {report.nodeid}")
    if lines:
        terminalreporter.section("recordings")
        for line in lines:
            terminalreporter.write_line(line)


def _breakpoint(report: pytest.TestReport, config: pytest.Config) -> str:
    """Return the option that stops where the test failed."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return ""
    path = Path(crash.path)
    file_name = path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path
    return f"-b {shlex.quote(str(file_name))}:{crash.lineno} "
