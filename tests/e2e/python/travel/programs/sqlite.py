"""Databases of SQLite, in memory and in a file."""

import os
import sqlite3
import tempfile
import time

s_rows = []

with tempfile.TemporaryDirectory() as folder:
    memory = sqlite3.connect(":memory:")
    memory.execute("create table numbers (number integer, text text)")
    end = time.monotonic() + 0.4
    number = 0
    while time.monotonic() < end:
        memory.execute("insert into numbers values (?, ?)", (number, str(time.time_ns())))
        s_rows.append(memory.execute("select count(*), max(text), random() from numbers").fetchone())
        if number % 20 == 0:
            with sqlite3.connect(os.path.join(folder, "data.db")) as file:
                file.execute("create table if not exists times (time text)")
                file.execute("insert into times values (datetime('now'))")
                if number == 20:
                    file.execute("pragma journal_mode = wal")
            s_rows.append(file.execute("select count(*), max(time) from times").fetchall())
            file.close()
        number += 1
    memory.close()
pass
