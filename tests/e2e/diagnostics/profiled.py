"""Programs to profile, and sessions in which they run."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from dapkit.diagnostics.profiling.profile import Profile
from dapkit.diagnostics.profiling.work import WorkProfile, work
from dapkit.diagnostics.sessions import Where
from e2e.diagnostics.commands import dapkit, start_running

PATIENCE = 60.0
"""Seconds that a busy machine may take to let a program be seen."""

PYTHON = """
import threading, time

def spin():
    total = 0
    for number in range(100_000):
        total += number
    return total

def wait_for_news(bell):
    bell.wait()

def main():
    threading.Thread(target=wait_for_news, args=[threading.Event()], name="news", daemon=True).start()
    while True:
        spin()

main()
"""

SHOP = '''
"""A shop that counts its orders, while others wait for news and send mails."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ORDERS = [{"items": [{"price": number % 7, "count": 3}] * 20} for number in range(3000)]

def total_of(order):
    total = 0
    for item in order["items"]:
        total += discounted(item["price"]) * item["count"]
    return total

def discounted(price):
    return price - price // 10 if price > 3 else price

def report(orders):
    totals = sorted(total_of(order) for order in orders)
    return json.loads(json.dumps({"orders": orders, "totals": totals}))

def count_all():
    while True:
        report(ORDERS)
        time.sleep(0.01)

def wait_for_news(bell):
    bell.wait()

def main():
    threading.Thread(target=wait_for_news, args=[threading.Event()], name="news", daemon=True).start()
    with ThreadPoolExecutor(2, thread_name_prefix="mail") as pool:
        pool.submit(time.sleep, 10_000)
        count_all()

main()
'''

C = """
#include <pthread.h>
#include <unistd.h>

volatile long sink;

void spin(void) {
    for (int number = 0; number < 1000000; number++) sink += number;
}

void *wait_for_news(void *ignored) {
    for (;;) sleep(1000);
    return ignored;
}

int main(void) {
    pthread_t news;
    pthread_create(&news, 0, wait_for_news, 0);
    for (;;) spin();
}
"""

GO = """
package main

import (
\t"net"
\t"net/http"
\t_ "net/http/pprof"
)

var sink int

func spin() {
\tfor number := 0; number < 1000000; number++ {
\t\tsink += number
\t}
}

func main() {
\tlistener, _ := net.Listen("tcp", "127.0.0.1:0")
\tgo http.Serve(listener, nil)
\tfor {
\t\tspin()
\t}
}
"""

GO_WITHOUT_SERVER = """
package main

var sink int

func spin() {
\tfor number := 0; number < 1000000; number++ {
\t\tsink += number
\t}
}

func main() {
\tfor {
\t\tspin()
\t}
}
"""


def running(project: Path, program: str, text: str) -> Where:
    """Have a Python program run in a session, at whose end it is ended."""
    (project / program).write_text(text.lstrip())
    start_running(project, program)
    deadline = time.monotonic() + PATIENCE
    while '"news"' not in (threads := dapkit(project, "threads", "--json")):  # which is its last step before its work
        assert time.monotonic() < deadline, threads
    return Where.of(project)


def seen(where: Where, fact: Callable[[Profile], bool]) -> WorkProfile:
    """Profile a program for a second or two, again if the machine had no time for it, until something was seen."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = work(where, seconds=2)
        if fact(found.profile):
            return found
        assert time.monotonic() < deadline, found.as_text()


class LongWork:
    """A work profile that goes on until it is ended."""

    def __init__(self, where: Where) -> None:
        self.stop, self._begun = threading.Event(), threading.Event()
        self._where = where
        self._found: list[WorkProfile] = []
        self._thread = threading.Thread(target=self._record, daemon=True)
        self._thread.start()
        assert self._begun.wait(PATIENCE), "the profile did not begin"

    @property
    def alive(self) -> bool:
        """Whether it goes on."""
        return self._thread.is_alive()

    def end(self) -> WorkProfile:
        """End it with what it has."""
        self.stop.set()
        self._thread.join(PATIENCE)
        [found] = self._found
        return found

    def _record(self) -> None:
        self._found.append(work(self._where, seconds=300, on_progress=self._report, stop=self.stop))

    def _report(self, _text: str, percentage: float | None) -> None:
        if percentage is not None:
            self._begun.set()
