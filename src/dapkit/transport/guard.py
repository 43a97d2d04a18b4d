"""The end of a process group whose parent was killed.

A parent that gets SIGKILL cannot clean up. Its death closes the pipes to its
children, and an adapter ends at the end of its input, taking the program that
it debugs along. PR_SET_PDEATHSIG would hit the adapter in that very moment and
leave its program running (lldb-dap, delve); it knows nothing of the rest of the
group, and it fires as well when only the *thread* that spawned has ended.

So the guard is a process of its own: a shell that waits for the end of a pipe
that nobody but the parent holds. Then it gives the group time to end by
itself, asks it to end, and kills it, `limits.ORPHAN_SECONDS` apart. With it
goes what else there is of its session: debuggers put programs into groups of
their own, and end these only if they are not killed themselves.
"""

import subprocess

from dapkit import limits

_SCRIPT = """
read -r group || exit 0
read -r never
sleep "$1"; kill -s TERM -- "-$group"
sleep "$1"; kill -s KILL -- "-$group"
for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    pid=${stat#/proc/}; pid=${pid%/stat}
    set -- ${line##*) }  # state, parent, group, session
    [ "$4" = "$group" ] && kill -s KILL "$pid"
done
"""


class Guard:
    """Watches over one process group until it is dismissed.

    Start it before the group's leader: then the leader is unguarded only from
    its birth to `watch`, and a parent killed in between has closed its input.
    """

    def __init__(self) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "guard", str(limits.ORPHAN_SECONDS)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C for the parent is none for the guard
        )

    @property
    def pid(self) -> int:
        """Process of the guard."""
        return self._shell.pid

    def watch(self, group: int) -> None:
        """Name the group that has to end with this process."""
        if self._shell.stdin is not None:
            self._shell.stdin.write(b"%d\n" % group)

    def dismiss(self) -> None:
        """End the watch, if it has not ended; the group is none of its business any more."""
        self._shell.kill()
        self._shell.communicate()
