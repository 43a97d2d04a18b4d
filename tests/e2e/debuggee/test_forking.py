"""Forks that an expression makes, while the program is stopped."""

import contextlib
import os
import signal

import pytest

from e2e.debuggee.conftest import Start

pytestmark = pytest.mark.each_python


@pytest.mark.row("evaluate")
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("context", ["watch", "repl"])
def test_fork_in_an_expression_leaves_the_child_running_and_the_parent_stopped(
    start: Start, context: str, *, together: bool
) -> None:
    peer = start(
        """
        import os
        x = 1
        os.write(1, f"{os.getpid()} ".encode())
        """
    )
    peer.configure(lines=[2], stopAllThreads=together)
    peer.stopped("breakpoint")
    child = int(peer.value("os.fork()", context))
    try:
        assert peer.process.stdout is not None
        assert os.read(peer.process.stdout.fileno(), 100) == f"{child} ".encode()
        assert peer.value("'x' in globals()") == "False"
        peer.go()
        assert peer.finish()[:2] == (0, f"{peer.process.pid} ")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
