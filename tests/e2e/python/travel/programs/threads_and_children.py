"""Threads beside children: one waits for a pipe while the main thread starts processes and forks."""

import os
import subprocess
import sys
import threading

s_read = []
s_written = []
s_codes = []
end, other = os.pipe()


def reader() -> None:
    while data := os.read(end, 1):
        s_read.append(data)


thread = threading.Thread(target=reader)
thread.start()
for number in range(5):
    os.write(other, b"%d" % number)
    text = f"import time; print({number}, time.time_ns())"
    s_written.append(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout)
    child = os.fork()
    if not child:
        os._exit(number)
    s_codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.close(other)
thread.join()
pass
