"""A stand-in for kubectl: pods are namespaces of this machine, and their description is a file.

POD_FOLDER has `pods.json`, and for each pod a file `NAME.pid` with the process that has its namespaces.
"""

import os
import sys
from pathlib import Path

folder = Path(os.environ["POD_FOLDER"])
words = sys.argv[1:]
if words[:2] == ["get", "pods"]:
    if "broken=yes" in words:
        sys.exit("error: the server is not reachable")
    print((folder / "pods.json").read_text())
elif words[0] == "exec":
    begin = words.index("--")
    pod = words[begin - 1]
    pid = (folder / f"{pod}.pid").read_text()
    command = ["nsenter", "-t", pid, "--net", "--pid", "--mount", "--", *words[begin + 1 :]]
    os.execvp(command[0], command)  # noqa: S606 - as kubectl
else:
    sys.exit(f"error: unknown command {words}")
