"""Signals: timers and signals to itself, whose handlers interrupt loops and calls."""

import os
import signal
import time

s_handled = []
s_interrupted = []
counter = 0


def handle(number: int, frame: object) -> None:
    s_handled.append((number, counter, frame.f_lineno))


class Late(Exception):
    pass


def be_late(number: int, frame: object) -> None:
    s_handled.append((number, counter))
    raise Late


signal.signal(signal.SIGALRM, handle)
signal.signal(signal.SIGUSR1, handle)
signal.signal(signal.SIGUSR2, be_late)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
end = time.monotonic() + 0.3
while time.monotonic() < end:
    counter += 1
    for _ in range(50):
        counter += 1
    if counter % 510 == 0:
        os.kill(os.getpid(), signal.SIGUSR1)
    if counter % 1020 == 0:
        try:
            signal.raise_signal(signal.SIGUSR2)
            counter += 1000000
        except Late:
            s_interrupted.append(counter)
for _ in range(5):
    time.sleep(0.01)
    s_interrupted.append(counter)
sums = 0
for number in range(100000):
    sums += number % 7
s_interrupted.append(len(s_handled))
signal.setitimer(signal.ITIMER_REAL, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
s_pending = signal.sigpending()
s_waited = signal.sigwait([signal.SIGUSR1])
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
signal.alarm(1)
s_left = signal.alarm(0)
s_handler = signal.signal(signal.SIGALRM, signal.SIG_DFL) is handle
pass
