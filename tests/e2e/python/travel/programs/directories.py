"""Directories and temporary files: made, listed, walked, removed; the working directory."""

import glob
import os
import pathlib
import shutil
import tempfile
import time

s_listed = []
s_walked = []
s_temporary = []


def use(root: str, number: int) -> None:
    folder = os.path.join(root, str(number))
    os.makedirs(os.path.join(folder, "deep", "deeper"))
    for name in "abcdef":
        pathlib.Path(folder, name).write_text(name * number)
    s_listed.append(os.listdir(folder))
    with os.scandir(folder) as entries:
        s_listed.append([(entry.name, entry.is_dir(), entry.inode(), entry.stat().st_size) for entry in entries])
    s_walked.extend(found[len(root) :] for found in glob.iglob(folder + "/**", recursive=True))
    opened = os.open(folder, os.O_RDONLY)
    s_listed.append(os.listdir(opened))
    os.close(opened)
    here = os.getcwd()
    os.chdir(folder)
    s_walked.append((os.getcwd()[-5:], os.path.exists("a"), os.path.abspath("b")[-4:]))
    os.chdir(here)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"text")
        s_temporary.append(file.name)
    with tempfile.SpooledTemporaryFile(max_size=3) as file:
        file.write(b"text")
        file.seek(0)
        s_temporary.append(file.read())
    shutil.copytree(folder, folder + "copy")
    s_temporary.append(shutil.disk_usage(root).free)
    shutil.rmtree(folder)


end = time.monotonic() + 0.4
with tempfile.TemporaryDirectory() as root:
    number = 0
    while time.monotonic() < end:
        use(root, number)
        number += 1
pass
