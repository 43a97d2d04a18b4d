"""The process and its surroundings: numbers, users, limits, the machine, the environment."""

import getpass
import grp
import os
import platform
import pwd
import resource
import socket
import time

s_found = []


def look(number: int) -> None:
    s_found.append((os.getpid(), os.getppid(), os.getuid(), os.getgid(), os.getpgrp(), os.getsid(0), os.getgroups()))
    s_found.append((os.cpu_count(), os.sched_getaffinity(0), os.getloadavg(), os.uname().release))
    s_found.append((resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrusage(resource.RUSAGE_SELF).ru_stime))
    s_found.append((socket.gethostname(), platform.node(), os.getpriority(os.PRIO_PROCESS, 0), os.nice(0)))
    s_found.append((os.umask(0o22), os.getresuid(), os.environ.get("PATH"), getpass.getuser()))
    user = pwd.getpwuid(os.getuid())
    s_found.append((user, pwd.getpwnam(user.pw_name), grp.getgrgid(os.getgid()), os.path.expanduser("~")))
    if number % 10 == 0:
        s_found.append((pwd.getpwall(), grp.getgrall(), os.getgrouplist(user.pw_name, user.pw_gid)))
    try:
        pwd.getpwnam("nobody of that name")
    except KeyError as error:
        s_found.append(str(error))
    os.environ[f"NUMBER{number % 5}"] = str(time.time_ns())


end = time.monotonic() + 0.4
number = 0
while time.monotonic() < end:
    look(number)
    number += 1
s_environment = sorted(os.environ.items())[:20]
pass
