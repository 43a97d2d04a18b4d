"""The log of a day: where it is, how large it gets, and what becomes of it where it cannot be written."""

import errno
import logging
import os
import stat
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from dapkit import limits
from dapkit.hub import limits as hub_limits
from dapkit.hub.daily_log import DailyLog, file_name, logged_days
from dapkit.system.state_folder import LOGS, state_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the logs, which is not there yet."""
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "state" / "logs"


def record(text: str, *given: object, at: datetime | None = None) -> logging.LogRecord:
    made = logging.LogRecord("dapkit.hub", logging.INFO, __file__, 0, text, given, None)
    if at is not None:
        made.created = at.timestamp()
    return made


def ready() -> DailyLog:
    log = DailyLog()
    log.ready = True
    return log


def today(folder: Path) -> Path:
    return folder / file_name(date.today().isoformat())  # noqa: DTZ011 - as the hub names it


def test_record_is_a_line_with_its_time_and_its_process(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ready().handle(record("listens at %s", "x"))
    [line] = today(folder).read_text().splitlines()
    assert line.endswith(f" {os.getpid()} INFO dapkit.hub: listens at x")
    datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f").astimezone()
    assert stat.S_IMODE(today(folder).stat().st_mode) == 0o600
    assert capfd.readouterr().err == ""


def test_further_lines_are_indented_so_that_none_looks_like_a_record(folder: Path) -> None:
    ready().handle(record("a\n2026-11-24 05:03:12,417 1 INFO x: false\n\nb\ud800"))
    lines = today(folder).read_text().splitlines()
    assert lines[1:] == ["  2026-11-24 05:03:12,417 1 INFO x: false", "  ", "  b\\ud800"]


def test_traceback_belongs_to_its_record(folder: Path) -> None:
    made = record("it failed")
    try:
        int("by intention")
    except ValueError:
        made.exc_info = sys.exc_info()
    ready().handle(made)
    lines = today(folder).read_text().splitlines()
    assert lines[1] == "  Traceback (most recent call last):"
    assert lines[-1] == "  ValueError: invalid literal for int() with base 10: 'by intention'"


def test_each_day_has_a_file_of_its_own(folder: Path) -> None:
    log = ready()
    midnight = datetime(2026, 11, 25).astimezone()
    log.handle(record("late", at=midnight - timedelta(milliseconds=1)))
    log.handle(record("early", at=midnight))
    assert logged_days(folder) == ["2026-11-25", "2026-11-24"]
    assert (folder / "hub-2026-11-24.log").read_text().endswith(": late\n")


def test_days_that_are_over_thirty_days_old_are_removed_when_a_day_begins(folder: Path) -> None:
    state_folder(LOGS)
    now = datetime(2026, 11, 24, 12, tzinfo=UTC)
    kept, gone = (now - timedelta(days=30)).date(), (now - timedelta(days=31)).date()
    for day in (kept, gone):
        (folder / file_name(day.isoformat())).touch()
    (folder / "notes.txt").touch()
    ready().handle(record("begins", at=now))
    assert {path.name for path in folder.iterdir()} == {"hub-2026-11-24.log", file_name(kept.isoformat()), "notes.txt"}


def test_day_that_has_too_much_says_that_the_rest_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOG_DAY_BYTES", 2000)
    log = ready()
    for number in range(200):
        log.handle(record("number %d", number))
    lines = today(folder).read_text().splitlines()
    assert [line for line in lines if "the rest of this day is left out" in line] == lines[-1:]
    assert today(folder).stat().st_size < 2000 + 400


def test_record_that_is_too_long_is_cut(folder: Path) -> None:
    ready().handle(record("é" * hub_limits.LOG_RECORD_BYTES))
    first, second = today(folder).read_text(encoding="utf-8").splitlines()
    assert len(first.encode()) <= hub_limits.LOG_RECORD_BYTES
    assert first.endswith("é")
    assert second.endswith(" bytes left out)")


@pytest.mark.parametrize("obstacle", ["link", "fifo", "folder"])
def test_file_that_is_something_else_is_not_touched_and_stderr_has_the_log(
    folder: Path, tmp_path: Path, obstacle: str, capfd: pytest.CaptureFixture[str]
) -> None:
    state_folder(LOGS)
    target = tmp_path / "target"
    target.write_text("")
    match obstacle:
        case "link":
            today(folder).symlink_to(target)
        case "fifo":
            os.mkfifo(today(folder))
        case _:
            today(folder).mkdir()
    log = ready()
    log.handle(record("first"))
    log.handle(record("second"))
    errors = capfd.readouterr().err
    assert errors.count("the log is written to stderr") == 1
    assert "INFO dapkit.hub: first\n" in errors
    assert "INFO dapkit.hub: second\n" in errors
    assert target.read_text() == ""


def test_fifo_that_somebody_reads_is_not_written_to(folder: Path) -> None:
    state_folder(LOGS)
    os.mkfifo(today(folder))
    reader = os.open(today(folder), os.O_RDONLY | os.O_NONBLOCK)
    ready().handle(record("first"))
    assert os.read(reader, 10) == b""
    os.close(reader)


def test_folder_that_is_open_to_others_is_not_used(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder.parent.mkdir(mode=0o755)
    folder.parent.chmod(0o755)
    ready().handle(record("first"))
    assert "is open to others (mode 0755)" in capfd.readouterr().err
    assert not folder.exists()


def test_folder_that_somebody_has_removed_is_made_again(folder: Path) -> None:
    log = ready()
    log.handle(record("first"))
    today(folder).unlink()
    folder.rmdir()
    log.handle(record("second"))
    assert today(folder).read_text().endswith(": second\n")


def test_disk_that_is_full_leaves_the_log_on_stderr(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(_handle: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(os, "write", fail)
        ready().handle(record("first"))
    errors = capfd.readouterr().err
    assert "No space left on device" in errors
    assert "INFO dapkit.hub: first\n" in errors
    assert today(folder).read_text() == ""


def test_until_the_hub_is_ready_stderr_has_the_log_as_well(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = DailyLog()
    log.handle(record("first"))
    log.ready = True
    log.handle(record("second"))
    assert capfd.readouterr().err.endswith("INFO dapkit.hub: first\n")
    assert len(today(folder).read_text().splitlines()) == 2


WRITER = """
import logging
from dapkit.hub.daily_log import DailyLog
log = DailyLog()
for number in range(100):
    log.handle(logging.LogRecord("dapkit.hub", logging.INFO, "", 0, f"{number}-" * 100, None, None))
"""


def test_several_hubs_write_whole_records_to_one_file(folder: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER], stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = today(folder).read_text().splitlines()
    expected = sorted(f"{number}-" * 100 for number in range(100) for _ in writers)
    assert sorted(line.partition("dapkit.hub: ")[2] for line in lines) == expected
