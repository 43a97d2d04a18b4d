"""The debugger on Windows beside debugpy, under Wine: starts, a function with a breakpoint, memory.

    python benchmarks/windows.py [ROUNDS]

Each round runs every case with both, one after the other. It prints the best of the rounds, and puts them into
docs/reference/figures.md. Programs measure themselves.
"""

import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools/windows"))
from pythons import FOLDER, command, environment, windows_path

from sidebyside.report import WINDOWS, write_part

ADAPTERS = {"ours": ["-m", "dapkit.python"], "debugpy": ["-m", "debugpy.adapter"]}
PROGRAM = """
import time

def work(count):
    total = 0
    for i in range(count):
        total += i
    return total

work(10)
begun = time.perf_counter()
work({count})
print("took", time.perf_counter() - begun, flush=True)
import psutil
print("memory", psutil.Process().memory_info().rss, flush=True)
"""
LINE, COUNT = 6, {"ours": 3_000_000, "debugpy": 30_000}
"""A line of the loop, and how often it runs: debugpy needs long for each."""
PATIENCE = 120.0
PAGE = Path(__file__).parents[1] / "docs/reference/figures.md"
_HEAD = """\
dapkit with its C extension and debugpy {debugpy} on CPython 3.13 for Windows under Wine 10, in pairs in one run on
{day}, the best of {rounds}, by `benchmarks/windows.py`. Nothing of this was measured on a real Windows. The ratios
are to the same loop without a debugger; the breakpoint is on a line of the loop.
"""


class Adapter:
    """An adapter that speaks on its standard streams."""

    def __init__(self, words: list[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([*command("3.13"), *words], stdin=pipe, stdout=pipe, env=environment())
        self._number = 0
        self._heard: list[dict[str, Any]] = []

    def send(self, name: str, **arguments: object) -> int:
        """Send a request; return its number."""
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": name, "arguments": arguments}
        body = json.dumps(message).encode()
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()
        return self._number

    def ask(self, name: str, **arguments: object) -> dict[str, Any]:
        """Send a request, and return the response."""
        number = self.send(name, **arguments)
        return self.hear(lambda message: message.get("request_seq") == number)

    def event(self, name: str) -> dict[str, Any]:
        """Return an event."""
        return self.hear(lambda message: message.get("event") == name)

    def output(self) -> str:
        """Return the program's output so far."""
        return "".join(each["body"]["output"] for each in self._heard if each.get("event") == "output")

    def hear(self, fits: Any) -> dict[str, Any]:  # noqa: ANN401 - a function of a message
        """Return the first message that fits, of those that have not been returned."""
        for message in self._heard:
            if not message.get("returned") and fits(message):
                message["returned"] = True
                return message
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            message = self._next()
            self._heard.append(message)
            if fits(message):
                message["returned"] = True
                return message
        raise TimeoutError(f"nothing came within {PATIENCE:g} s")

    def _next(self) -> dict[str, Any]:
        out = self._process.stdout
        assert out is not None  # noqa: S101 - it is a pipe
        size = 0
        while (line := out.readline()) != b"\r\n":
            if not line:
                raise EOFError("the adapter has ended")
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return dict(json.loads(out.read(size)))

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def session(kind: str, breakpoint_: dict[str, object] | None) -> dict[str, float]:
    """Run the program with a breakpoint; return seconds until it began, of its loop per pass, and its bytes."""
    file = FOLDER / "benchmark.py"
    file.write_text(PROGRAM.format(count=COUNT[kind]).lstrip(), encoding="utf-8")
    path = windows_path(file)
    begun = time.monotonic()
    adapter = Adapter(ADAPTERS[kind])
    try:
        adapter.ask("initialize", adapterID="benchmark", pathFormat="path")
        adapter.send("launch", program=path, console="internalConsole", stopOnEntry=breakpoint_ is None)
        adapter.event("initialized")
        breakpoints = [] if breakpoint_ is None else [{"line": LINE, **breakpoint_}]
        adapter.ask("setBreakpoints", source={"path": path}, breakpoints=breakpoints)
        adapter.ask("configurationDone")
        seconds = 0.0
        if breakpoint_ is None:
            stopped = adapter.event("stopped")
            seconds = time.monotonic() - begun
            adapter.ask("continue", threadId=stopped["body"]["threadId"])
        adapter.event("exited")
        text = adapter.output()
    finally:
        adapter.close()
    found = dict(re.findall(r"(took|memory) ([\d.e-]+)", text))
    return {
        "start": seconds,
        "pass": float(found["took"]) / COUNT[kind],
        "memory": float(found["memory"]),
    }


def alone() -> dict[str, float]:
    """Run the program without a debugger."""
    file = FOLDER / "benchmark.py"
    file.write_text(PROGRAM.format(count=COUNT["ours"]).lstrip(), encoding="utf-8")
    ran = subprocess.run(
        [*command("3.13"), windows_path(file)], env=environment(), capture_output=True, text=True, check=True
    )
    found = dict(re.findall(r"(took|memory) ([\d.e-]+)", ran.stdout))
    return {"pass": float(found["took"]) / COUNT["ours"], "memory": float(found["memory"])}


def main() -> None:
    """Measure, and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    best: dict[tuple[str, str], float] = {}
    plain = alone()

    def note(kind: str, case: str, value: float) -> None:
        best[kind, case] = min(value, best.get((kind, case), value))

    for _ in range(rounds):
        again = alone()
        plain = {name: min(value, plain[name]) for name, value in again.items()}
        for kind in ADAPTERS:
            stopped = session(kind, None)
            note(kind, "start to the first stop, s", stopped["start"])
            note(kind, "memory of the program, MB more than alone", (stopped["memory"] - plain["memory"]) / 1e6)
            note(kind, "time of a loop without a breakpoint in it, ratio", stopped["pass"])
            false = session(kind, {"condition": "i == -1"})
            note(kind, "the same with a false condition, ratio", false["pass"])
            hits = session(kind, {"hitCondition": "1000000000"})
            note(kind, "the same with a hit count that is not reached, ratio", hits["pass"])
    lines = ["| case | debugpy | ours |", "| --- | ---: | ---: |"]
    for case in dict.fromkeys(case for _, case in best):
        unit = plain["pass"] if case.endswith("ratio") else 1.0
        lines.append(f"| {case} | {best['debugpy', case] / unit:.2f} | {best['ours', case] / unit:.2f} |")
    table = "\n".join(lines)
    print(table)
    day = datetime.now(UTC).date().isoformat()
    write_part(PAGE, WINDOWS, f"{_HEAD.format(debugpy=version('debugpy'), day=day, rounds=rounds)}\n{table}\n")


if __name__ == "__main__":
    main()
