"""The handle by kqueue, with a queue that Linux plays: no real one was tried."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from dapkit.system.polled_handle import KqueueHandle


class Queue:
    """A queue of events: it can be read once the process has ended, as far as a pidfd tells that."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.closed = False
        self._descriptor = -1

    def fileno(self) -> int:
        if self._descriptor < 0:
            self._descriptor = os.eventfd(0)
        return self._descriptor

    def control(self, changes: list[Any], _most: int) -> list[Any]:
        if changes[0]["ident"] == 2**22 + 1:
            raise ProcessLookupError(changes[0]["ident"])
        self.events += changes
        return []

    def end(self) -> None:
        os.eventfd_write(self._descriptor, 1)

    def close(self) -> None:
        self.closed = True
        os.close(self._descriptor)


@pytest.fixture
def queues(monkeypatch: pytest.MonkeyPatch) -> list[Queue]:
    made: list[Queue] = []

    def queue() -> Queue:
        made.append(Queue())
        return made[-1]

    for name, value in {"KQ_FILTER_PROC": -5, "KQ_EV_ADD": 1, "KQ_NOTE_EXIT": 1 << 31}.items():
        monkeypatch.setattr(select, name, value, raising=False)
    monkeypatch.setattr(select, "kqueue", queue, raising=False)
    monkeypatch.setattr(select, "kevent", lambda ident, **rest: {"ident": ident, **rest}, raising=False)
    return made


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as process:
        yield process
        process.kill()


def test_the_end_of_the_process_is_the_one_event(queues: list[Queue], child: subprocess.Popen[bytes]) -> None:
    with KqueueHandle(child.pid) as process:
        [queue] = queues
        assert queue.events == [{"ident": child.pid, "filter": -5, "flags": 1, "fflags": 1 << 31}]
        assert not process.has_ended()
        queue.end()
        assert process.has_ended()
        with pytest.raises(ProcessLookupError):
            process.send(signal.SIGKILL)
    assert queue.closed
    assert child.poll() is None


def test_a_signal_reaches_a_process_that_lives(queues: list[Queue], child: subprocess.Popen[bytes]) -> None:
    with KqueueHandle(child.pid) as process:
        process.send(signal.SIGTERM)
        assert child.wait() == -signal.SIGTERM
    assert queues[0].closed


def test_a_process_that_is_not_there_leaves_no_queue(queues: list[Queue]) -> None:
    with pytest.raises(ProcessLookupError):
        KqueueHandle(2**22 + 1)
    assert queues[0].closed
