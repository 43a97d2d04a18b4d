"""The end of a process group whose parent was killed.

A parent that gets SIGKILL cannot clean up. Its death closes the pipes to its
children, and an adapter ends at the end of its input, taking the program that
it debugs along. PR_SET_PDEATHSIG would hit the adapter in that very moment and
leave its program running (lldb-dap, delve); it knows nothing of the rest of the
group, and it fires as well when only the *thread* that spawned has ended.

So the guard is a process of its own: a shell that waits for the end of a pipe that only the parent holds. Then it gives
the group time to end by itself, asks it to end, and kills it, `limits.ORPHAN_SECONDS` apart. With it end the other
processes of its session: debuggers put programs into groups of their own, and end these only if they are not killed
themselves.

A child of a program may have left that session as well, and lost its parent.
It is known by a variable in its environment, which it has inherited.
"""

import contextlib
import os
import subprocess
from collections.abc import Mapping
from typing import Final

from dapkit.system.interface import ProcessJob
from dapkit.system.selection import LINUX, NAME
from dapkit.system.this_system import SYSTEM
from dapkit.transport import limits

MARK: Final = "_DAPKIT_GUARD"
"""The variable in the environment of all that is guarded."""

_SCRIPT = r"""
mark=$2
read -r group && read -r never  # without a group the parent was killed before it could name one
sleep "$1"; [ "$group" ] && kill -s TERM -- "-$group"
sleep "$1"; [ "$group" ] && kill -s KILL -- "-$group"
[ "$group" ] && for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    pid=${stat#/proc/}; pid=${pid%/stat}
    set -- ${line##*) }  # state, parent, group, session
    [ "$4" = "$group" ] && kill -s KILL "$pid"
done
for round in 1 2 3; do  # who is killed may have started another meanwhile
    for environ in $(grep -slF -- "$mark" /proc/[0-9]*/environ); do
        pid=${environ#/proc/}
        kill -s KILL "${pid%/environ}"
    done
done
"""


_SCRIPT_OF_POSIX: Final = r"""
mark=$2
read -r group && read -r never
sleep "$1"; [ "$group" ] && kill -s TERM -- "-$group"
sleep "$1"; [ "$group" ] && kill -s KILL -- "-$group"
[ "$(uname)" = Darwin ] && options=-AEww || options=axeww
for round in 1 2 3; do
    for pid in $(ps $options -o pid= -o command= | grep -F -- "$mark" | grep -v 'grep -F' | awk '{print $1}'); do
        [ "$pid" = $$ ] || kill -s KILL "$pid"
    done
done
"""
"""Without /proc: `ps` shows environments, by other options on macOS. The mark is all that says who belongs to it."""


class JobReaper:
    """The same on Windows: processes in a job, which ends with this process, or when it is dismissed."""

    def __init__(self, job: ProcessJob) -> None:
        self._job = job

    def mark(self, env: Mapping[str, str] | None) -> dict[str, str]:
        """Return an environment, None for ours."""
        return dict(os.environ if env is None else env)

    def watch(self, process: int) -> None:
        """Put a process into the job."""
        with contextlib.suppress(OSError):  # it has ended
            self._job.take(process)

    def dismiss(self, *, keep: bool = False) -> None:
        """End the processes that are left, unless they are to be kept."""
        if keep:
            self._job.release()
        self._job.close()


def new_reaper() -> "GroupReaper | JobReaper":
    """Make the one of this system."""
    job = SYSTEM.new_job()
    return GroupReaper() if job is None else JobReaper(job)


class GroupReaper:
    """Watches over one process group until it is dismissed.

    Start it before the group's leader. If the parent is killed between the leader's
    start and `watch`, the guard still finds a leader that has its mark.
    """

    def __init__(self) -> None:
        self._mark = os.urandom(16).hex()
        self._shell = subprocess.Popen(
            [
                "/bin/sh",
                "-c",
                _SCRIPT if NAME == LINUX else _SCRIPT_OF_POSIX,
                "guard",
                str(limits.ORPHAN_SECONDS),
                f"{MARK}={self._mark}",
            ],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C for the parent must not end the guard
        )

    @property
    def pid(self) -> int:
        """Process of the guard."""
        return self._shell.pid

    def mark(self, env: Mapping[str, str] | None) -> dict[str, str]:
        """Return an environment, None for ours, such that the guard knows who has it."""
        return {**(os.environ if env is None else env), MARK: self._mark}

    def watch(self, group: int) -> None:
        """Name the group that must end with this process."""
        if self._shell.stdin is not None:
            self._shell.stdin.write(b"%d\n" % group)

    def dismiss(self, *, keep: bool = False) -> None:  # noqa: ARG002 - as in JobReaper
        """End the watch, if it has not ended; the guard leaves the group alone from now on."""
        self._shell.kill()
        self._shell.communicate()
