"""How a caller starts a hub, and learns whether it is ready.

The hub writes one line to its standard output: `ready` as soon as it listens. The
end of that output without it means that it has failed, and its log says why;
nothing has to be polled or guessed. Its standard input is the lock under which it is
started, so that it is held until then even if the starter is killed. Once ready
it exchanges both for the null device.
"""

import contextlib
import os
import subprocess
import threading
import time

from dapkit.hub import limits
from dapkit.hub.errors import HubUnavailable
from dapkit.hub.folder import LOG, VARIABLE
from dapkit.system.files import CLOSE_IN_CHILDREN, NO_LINK
from dapkit.system.signals import KILL
from dapkit.system.started_processes import APART, let_go
from dapkit.system.this_system import SYSTEM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

READY = b"ready\n"


def report_ready() -> None:
    """Report to the caller that started this hub, and release the descriptors it was started with."""
    with contextlib.suppress(BrokenPipeError):  # it was killed meanwhile; other callers will come
        os.write(1, READY)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def spawn_hub(command: "Sequence[str]", folder: str, *, lock: int, deadline: float) -> None:
    """Start a hub and wait until it listens.

    It inherits nothing but the environment and the folder, which it leaves by itself: it has a process session of
    its own, and writes to its log. It also detaches itself from this process (see `dapkit.hub.daemon`).

    Raises:
        HubUnavailable: it did not get ready.

    """
    log = os.path.join(folder, LOG)
    try:
        errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | CLOSE_IN_CHILDREN | NO_LINK, 0o600)
    except OSError as error:
        raise HubUnavailable(f"{log} cannot be opened: {error.strerror}") from error
    try:
        if os.fstat(errors).st_size > limits.HUB_LOG_BYTES:
            os.ftruncate(errors, 0)
        before = os.fstat(errors).st_size
        try:
            starting = subprocess.Popen(
                command,
                env={**os.environ, VARIABLE: folder},  # this one, whatever it would choose by itself
                stdin=lock,
                stdout=subprocess.PIPE,
                stderr=errors,
                **APART,
            )
        except OSError as error:
            raise HubUnavailable(f"the hub cannot be started: {command[0]}: {error.strerror}") from error
    finally:
        os.close(errors)
    output = _first_line(starting, deadline)
    if output is None:
        SYSTEM.signal_group(starting.pid, KILL)  # it may have a child by now, which is to be the hub
    let_go(starting)
    if output is None:
        raise HubUnavailable("the hub that was started is not ready in time", hint=f"Its log is {log}.")
    if output != READY:
        raise HubUnavailable(f"the hub could not be started:\n{_tail(log, before)}", hint=f"Its log is {log}.")


def _first_line(starting: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """Return the hub's output until its end or its first line; None if that takes too long."""
    output = b""

    def read() -> None:
        nonlocal output
        if starting.stdout is not None:
            output = starting.stdout.readline(len(READY))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(max(deadline - time.monotonic(), 0))
    return None if reader.is_alive() else output


def _tail(log: str, start: int) -> str:
    """Return the last lines that were written to the log since."""
    with open(log, "rb") as file:
        file.seek(max(start, os.fstat(file.fileno()).st_size - limits.HUB_LOG_SHOWN_BYTES))
        return file.read().decode(errors="replace").strip()
