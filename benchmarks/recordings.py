"""What it costs to record a program, how large recordings are, and whether they are executed again to their end.

Each program runs alone and recorded in turn; a figure is the median of the ratios of these pairs, in processor time of
all processes of the command, the packing of the file included.
"""

import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

from dapkit.python.recording.file import describe
from sidebyside.bare_client import session
from sidebyside.goals import row
from sidebyside.package_tests import SUITES, unpacked

ROOT = Path(__file__).parent.parent
PROGRAMS = Path(__file__).with_name("programs")
ROUNDS = 5
PACKAGES = ("click==8.1.8", "more-itertools==10.5.0", "networkx==3.3")
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
ALONE = ("-c", os.devnull, "--rootdir=.")
"""The tests of a package have no configuration."""
SUITE_TIMES, SUITE_BYTES, OF_TESTS = 1.2, 20_000_000, 1_000
SERVER_TIMES, REQUEST_BYTES, REQUESTS = 1.5, 1_000, 10_000
CONNECTIONS = 20
KINDS = {"http": "http.server", "threads": "http.server, a thread for each request", "asyncio": "asyncio"}

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}

type Run = Callable[[list[str]], None]
"""Runs a command, and does what has to be done meanwhile."""


def compared(words: list[str], file: Path, run: Run, what: str, most: float) -> bool:
    """Run a program alone and recorded, in turn."""
    recorder = [sys.executable, "-m", "dapkit.cli", "record", "-q", "-o", str(file), "--"]
    run(words)  # leaves bytecode behind
    pairs = [(processor_time(run, words), processor_time(run, [*recorder, *words])) for _ in range(ROUNDS)]
    ratio = statistics.median(recorded / alone for alone, recorded in pairs)
    row(f"{what}: processor time alone", statistics.median(alone for alone, _ in pairs), "s")
    return row("  recorded, to that", ratio, "x", most)


def processor_time(run: Run, words: list[str]) -> float:
    """Return the seconds that a command and all that it starts have computed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def executed_again(file: Path) -> bool:
    """Execute a recording again, and say whether it has come to its end."""
    why, said = describe(file).why, ""
    begin = time.perf_counter()
    with session() as client:
        client.ask("initialize", adapterID="python", pathFormat="path")
        client.send("launch", replay=str(file))
        client.event("initialized")
        client.ask("configurationDone")
        while (message := client.read()).get("event") not in ("stopped", "terminated"):
            if message.get("event") == "output" and message["body"].get("category") not in ("stdout", "stderr"):
                said += message["body"]["output"]
    complete = not why and "diverged" not in said and message["event"] == "stopped"
    row("  executed again to its end, " + ("in" if complete else "NOT"), time.perf_counter() - begin, "s")
    if not complete:
        print(f"    {why or said}".rstrip())
    return complete


def suites(python: str) -> bool:
    """Record the tests of packages, and of our own."""
    met = True
    for package in PACKAGES:
        folder = unpacked(python, package)
        words = [python, *PYTEST, *ALONE, "-o", f"pythonpath={folder / 'src'} {folder}", *SUITES[package].split()]
        met &= suite(package, words, folder, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    return met & suite("dapkit, of the protocol", [python, *PYTEST, "tests/unit/protocol"], ROOT, {})


def suite(what: str, words: list[str], folder: Path, environment: dict[str, str]) -> bool:
    """Record tests."""

    def run(words: list[str]) -> None:
        given = ENVIRONMENT | environment
        subprocess.run(words, cwd=folder, env=given, check=True, stdout=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as kept:
        report, file = Path(kept, "report.xml"), Path(kept, "tests.dapkit")
        run([*words, f"--junit-xml={report}"])
        cases = ET.parse(report).iter("testcase")  # noqa: S314 - pytest has written it
        count = len({(case.get("classname"), case.get("name")) for case in cases})
        met = compared(words, file, run, f"{what} ({count:,} tests)", SUITE_TIMES)
        size = file.stat().st_size / count * OF_TESTS
        met &= row("  recording of 1,000 tests", size / 1e6, "MB", SUITE_BYTES / 1e6)
        return met & executed_again(file)


def servers(python: str) -> bool:
    """Record servers."""
    with tempfile.TemporaryDirectory() as folder:
        return all([server(python, kind, Path(folder)) for kind in KINDS])  # noqa: C419 - measure all


def server(python: str, kind: str, folder: Path) -> bool:
    """Record a server, whose clients are here."""
    ask = many_at_once if kind == "asyncio" else one_by_one

    def run(words: list[str]) -> None:
        with subprocess.Popen(words, cwd=PROGRAMS, env=ENVIRONMENT, stdout=subprocess.PIPE) as program:
            assert program.stdout is not None  # noqa: S101 - as asked for
            ask(int(program.stdout.readline()))
        if program.returncode:
            raise subprocess.CalledProcessError(program.returncode, words)

    file = folder / f"{kind}.dapkit"
    words = [python, "servers.py", kind, str(REQUESTS)]
    met = compared(words, file, run, f"{REQUESTS:,} requests to {KINDS[kind]}", SERVER_TIMES)
    payload = len(request(REQUESTS))
    size = file.stat().st_size / REQUESTS
    met &= row(f"  recording of a request of {payload} bytes", size, "B", REQUEST_BYTES + payload)
    return met & executed_again(file)


def request(number: int) -> bytes:
    """Return a request."""
    content = json.dumps({"name": f"name {number * 2654435761 % 1_000_003}", "numbers": [*range(number % 10, 20)]})
    return f"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: {len(content)}\r\n\r\n{content}".encode()


def one_by_one(port: int) -> None:
    """Send each request by a connection of its own."""
    for number in range(REQUESTS):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request(number))
            while connection.recv(1 << 16):
                pass


def many_at_once(port: int) -> None:
    """Send requests by many connections, which stay open."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
    for number in range(0, REQUESTS, CONNECTIONS):
        for place, connection in enumerate(connections):
            connection.sendall(request(number + place))
        for connection in connections:
            while not connection.recv(1 << 16).endswith(b"}"):
                pass
    for connection in connections:
        connection.close()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    cases: dict[str, Callable[[str], bool]] = {"suites": suites, "servers": servers}
    parser.add_argument("--case", action="append", choices=list(cases), help="only this")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the program (default: this one)")
    chosen, _ = parser.parse_known_args()
    met = [cases[name](chosen.python) for name in chosen.case or cases]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
