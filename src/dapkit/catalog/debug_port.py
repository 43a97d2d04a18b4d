"""The port of a debugger that a running process opens when a signal asks it to, as Node does for SIGUSR1."""

import os
import signal
import time

from dapkit.catalog import limits
from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.errors import CatalogError
from dapkit.catalog.processes import listening_ports, look_at_process


def debug_port(pid: int, definition: AdapterDefinition) -> int:
    """Return the port at which a process listens for a debugger; send it the signal if it does not listen yet.

    The port is one that this very process has opened: another one may have the usual port.

    Raises:
        CatalogError: the process runs another interpreter, which the signal might end, or it opens no port.
        NoProgram: there is no such process.

    """
    process = look_at_process(pid, {})
    if process.runs not in definition.interpreters:
        raise CatalogError(f"{process}, and {definition.name} attaches to processes of {definition.interpreters[0]}")
    before = listening_ports(pid)
    if definition.debug_port in before:
        return definition.debug_port
    name = definition.attach_signal
    try:
        os.kill(pid, signal.Signals[name])
    except OSError as error:
        raise CatalogError(f"{name} could not be sent to process {pid}: {error.strerror}") from error
    end = time.monotonic() + limits.DEBUG_PORT_SECONDS
    while time.monotonic() < end:
        if opened := listening_ports(pid) - before:
            return min(opened)
        time.sleep(limits.DEBUG_PORT_SECONDS / 100)
    raise CatalogError(
        f"process {pid} opened no port for a debugger within {limits.DEBUG_PORT_SECONDS:g} s of {name}:"
        f" another process may have port {definition.debug_port}; if it listens already, attach to its port"
    )
