"""Maps of files with large holes: more than is copied or noted."""

import mmap
import os
import tempfile

GIGABYTE = 1 << 30
s_read = []

with tempfile.TemporaryFile() as file:
    os.ftruncate(file.fileno(), 5 * GIGABYTE)
    os.pwrite(file.fileno(), b"near the end", 4 * GIGABYTE + 70000)
    os.pwrite(file.fileno(), b"begin", 0)
    file.seek(17)
    with mmap.mmap(file.fileno(), 0) as mapped:
        s_read.append((len(mapped), mapped[:8], mapped[4 * GIGABYTE + 70000 : 4 * GIGABYTE + 70013]))
        for number in range(300000):
            number += 1
        mapped[GIGABYTE : GIGABYTE + 5] = b"third"
        s_read.append((mapped[GIGABYTE - 1 : GIGABYTE + 6], number))
    s_read.append(file.tell())
pass
