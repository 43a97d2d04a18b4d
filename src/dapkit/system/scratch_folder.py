"""Folders for temporary files that do not stay behind for good if their process is killed."""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dapkit.system.files import lock, open_to_lock, user
from dapkit.system.selection import IS_WINDOWS

_YOUNG_SECONDS = 60.0
"""A folder that is younger may not be locked yet."""


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Make a folder for as long as the block lasts. Folders of processes that were killed are removed before.

    It is locked meanwhile; a folder of ours with the same prefix that is not locked has no process any more.

    Raises:
        OSError: it cannot be made.

    """
    _remove_abandoned(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    opened = open_to_lock(os.fspath(folder))
    try:
        lock(opened)
        yield folder
    finally:
        if IS_WINDOWS:  # which removes no file that is open
            os.close(opened)
        shutil.rmtree(folder, ignore_errors=True)
        if not IS_WINDOWS:
            os.close(opened)


def _remove_abandoned(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            status = folder.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == user()
            if not is_ours or time.time() - status.st_ctime < _YOUNG_SECONDS:
                continue
            opened = open_to_lock(os.fspath(folder))
            try:
                is_free = lock(opened, waits=False)
                if is_free and not IS_WINDOWS:
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(opened)
            if is_free and IS_WINDOWS:
                shutil.rmtree(folder, ignore_errors=True)
