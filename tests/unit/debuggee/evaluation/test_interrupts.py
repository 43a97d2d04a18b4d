"""A signal wakes the main thread only while that is wanted; where it is SIGINT, as on Windows, Ctrl+C stays Ctrl+C."""

import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from dapkit.python.debuggee.evaluation import interrupts
from dapkit.python.debuggee.interpreter.errors import TimeIsUp

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGUSR1 stands for the SIGINT of Windows")


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set up a signal whose handler, where it is not ours, raises KeyboardInterrupt."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    monkeypatch.setattr(interrupts, "_SIGNAL", signal.SIGUSR1)
    monkeypatch.setattr(interrupts, "UNUSED_HANDLER", signal.default_int_handler)
    monkeypatch.setattr(interrupts, "wake_main_thread", lambda _ident: signal.raise_signal(signal.SIGUSR1))
    assert interrupts.prepare()
    yield
    interrupts.undo()
    assert signal.getsignal(signal.SIGUSR1) is signal.default_int_handler
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("prepared")
def test_wake_raises_in_the_main_thread() -> None:
    with pytest.raises(TimeIsUp):
        interrupts.wake(threading.get_ident())


@pytest.mark.usefixtures("prepared")
def test_wake_that_comes_late_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def send_late(_ident: int) -> None:
        interrupts._wanted = 0  # withdrawn, since the evaluation has ended
        signal.raise_signal(signal.SIGUSR1)

    monkeypatch.setattr(interrupts, "wake_main_thread", send_late)
    interrupts.wake(threading.get_ident())


@pytest.mark.usefixtures("prepared")
def test_signal_of_the_user_is_for_the_earlier_handler() -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGUSR1)
