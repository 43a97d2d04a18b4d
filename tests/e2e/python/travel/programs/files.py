"""Files: written, read, seeked, asked about, renamed and removed."""

import os
import tempfile
import time

s_read = []
s_known = []


def use(folder: str, number: int) -> None:
    path = os.path.join(folder, f"file{number}")
    with open(path, "w+") as file:
        file.write(f"{time.time_ns()}\n" * 20)
        file.seek(5)
        s_read.append((file.read(12), file.tell(), file.fileno()))
    with open(path, "rb") as file:
        file.seek(-10, os.SEEK_END)
        s_read.append(file.read())
    found = os.stat(path)
    s_known.append((found.st_ino, found.st_mtime_ns, found.st_size, os.access(path, os.R_OK)))
    os.truncate(path, 7)
    os.utime(path, (number, number))
    os.chmod(path, 0o600)
    os.rename(path, path + ".moved")
    os.symlink(path + ".moved", path)
    s_known.append((os.readlink(path)[-8:], os.path.realpath(path)[-8:], os.lstat(path).st_ctime_ns))
    try:
        open(path + ".missing")
    except OSError as error:
        s_known.append(error.errno)
    os.unlink(path)
    os.unlink(path + ".moved")


end = time.monotonic() + 0.4
with tempfile.TemporaryDirectory() as folder:
    number = 0
    while time.monotonic() < end:
        use(folder, number)
        number += 1
s_count = number
pass
