"""The log of the hub: a file for each day, `hub-2026-11-24.log`, in the folder for files that outlive a hub.

    2026-11-24 05:03:12,417 4711 ERROR dapkit.hub.caller: launch failed
      Traceback (most recent call last):

Further lines of a message, and its traceback, are indented, so that none can pass for a record of its own. A record is
one write at the end of the file, since more than one hub may write to it. The file is opened for each: whatever
becomes of it, the next record finds its place.

Records that cannot be written there go to stderr, as all records do until the hub is ready: that is `hub.log`, from
which the starter of a hub learns why it has failed (see `spawn`). Logging never breaks the hub.
"""

import contextlib
import errno
import logging
import os
import re
import stat
from datetime import date, timedelta
from pathlib import Path

from dapkit import limits as shared_limits
from dapkit.hub import limits
from dapkit.system.files import AT_ONCE, NO_LINK, open_private
from dapkit.system.state_folder import LOGS, NoStateFolder, state_folder

FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
INDENTATION = "  "
"""The beginning of the further lines of a record."""

_NAME = re.compile(r"hub-(\d{4}-\d\d-\d\d)\.log")


def file_name(day: str) -> str:
    """Return the name of the file of a day, such as 2026-11-24."""
    return f"hub-{day}.log"


def logged_days(folder: Path) -> list[str]:
    """Return the days that have a file in a folder, the newest first. Raises: OSError."""
    return sorted((match[1] for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))), reverse=True)


class DailyLog(logging.Handler):
    """Writes records to the file of their day.

    Attributes:
        ready: whether the hub is ready; until then records go to stderr, too.

    """

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(FORMAT))
        self.ready = False
        self._stderr = logging.StreamHandler()
        self._stderr.setFormatter(self.formatter)
        self._problem = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        try:
            self._append(record)
        except (OSError, NoStateFolder) as error:
            self._report(str(error))
            self._stderr.handle(record)
        except Exception:  # noqa: BLE001 - such as a message that does not fit its arguments
            self.handleError(record)
        else:
            self._problem = ""
            if not self.ready:
                self._stderr.handle(record)

    def _append(self, record: logging.LogRecord) -> None:
        """Write a record to the file of its day. Raises: OSError, NoStateFolder."""
        data = self._lines(record)
        day = date.fromtimestamp(record.created)  # noqa: DTZ012 - the day of the user, as in the record's time
        folder = Path(state_folder(LOGS))
        flags = os.O_WRONLY | os.O_APPEND | NO_LINK | AT_ONCE
        path = folder / file_name(day.isoformat())
        handle = open_private(path, flags)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file", str(path))
            if status.st_size >= shared_limits.LOG_DAY_BYTES:
                return
            if status.st_size + len(data) >= shared_limits.LOG_DAY_BYTES:
                data += self._lines(_rest_is_left_out(record))
            os.write(handle, data)
        finally:
            os.close(handle)
        if status.st_size == 0:  # a day begins
            _remove_before(folder, day - timedelta(days=limits.LOG_DAYS))

    def _lines(self, record: logging.LogRecord) -> bytes:
        data = self.format(record).replace("\n", f"\n{INDENTATION}").encode(errors="backslashreplace")
        if len(data) > limits.LOG_RECORD_BYTES:
            beginning = data[: limits.LOG_RECORD_BYTES].decode(errors="ignore").encode()  # no half of a character
            data = beginning + f"\n{INDENTATION}({len(data) - len(beginning)} bytes left out)".encode()
        return data + b"\n"

    def _report(self, problem: str) -> None:
        """Report why the log is not where it is looked for, once."""
        if problem != self._problem:
            self._problem = problem
            self._stderr.handle(_record(logging.WARNING, f"the log is written to stderr: {problem}"))


def _rest_is_left_out(last: logging.LogRecord) -> logging.LogRecord:
    record = _record(
        logging.WARNING, f"the rest of this day is left out: it has {shared_limits.LOG_DAY_BYTES} bytes of log"
    )
    record.created, record.msecs = last.created, last.msecs
    return record


def _record(level: int, text: str) -> logging.LogRecord:
    return logging.LogRecord(__name__, level, __file__, 0, text, None, None)


def _remove_before(folder: Path, first: date) -> None:
    """Remove the files of the days before one."""
    with contextlib.suppress(OSError):
        for day in logged_days(folder):
            if day < first.isoformat():
                (folder / file_name(day)).unlink()
